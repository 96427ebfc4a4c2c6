// TIDEMARK_API marks what the shared library shows to its users; everything else stays hidden.
//   TIDEMARK_API int answer();                         // in a header of a library of one's own
#pragma once
#define TIDEMARK_API __attribute__((visibility("default")))
