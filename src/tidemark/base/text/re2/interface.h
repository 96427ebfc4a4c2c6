/* Where libtidemark and libtidemark_re2 meet: plain C, so that neither links the other. */
#pragma once

#include <stddef.h>

struct TidemarkRegex; /* a compiled pattern */

struct TidemarkSpan {
  const char* begin; /* null: the group took no part in the match */
  size_t size;
};

struct TidemarkRe2Table {
  /* Null when the pattern is malformed; then `error` holds the reason, cut to fit. */
  struct TidemarkRegex* (*compile)(const char* pattern, size_t size, size_t memory, char* error,
                                   size_t error_size);
  void (*destroy)(struct TidemarkRegex*);
  int (*groups)(const struct TidemarkRegex*);
  int (*full_match)(const struct TidemarkRegex*, const char* text, size_t size);
  /* The leftmost match at or after `from`; spans[0] is all of it. */
  int (*match)(const struct TidemarkRegex*, const char* text, size_t size, size_t from,
               struct TidemarkSpan* spans, int span_count);
};
