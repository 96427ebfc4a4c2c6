// What the traces of the process take, for the memory report. Who keeps them decides which one
// goes.
#pragma once

#include <tidemark/export.h>

#include <cstdint>

namespace tidemark::trace {

/// Traces and bytes that came, or went (negative).
TIDEMARK_API void note_traces(int64_t count, int64_t bytes);
TIDEMARK_API void note_eviction();
/// Bytes that all traces together may take: TIDEMARK_TRACE_CACHE.
TIDEMARK_API int64_t trace_cache_limit();

}  // namespace tidemark::trace
