// TIDEMARK_API marks what the shared library shows to its users; everything else stays hidden.
#pragma once

#define TIDEMARK_API __attribute__((visibility("default")))
