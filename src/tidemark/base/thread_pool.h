// The one thread pool: our kernels and the libraries' work run on it.
//
//   parallel_for(n, 4096, [&](int64_t begin, int64_t end) { ... });
//
// Work is cut into pieces of `grain` items whatever the number of threads, so results that depend
// on where pieces end do not depend on how many threads there are.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <type_traits>

namespace tidemark {

/// Threads that work on one parallel_for, the caller included. The first call reads
/// TIDEMARK_NUM_THREADS and throws InvalidArgumentError when that is no number.
TIDEMARK_API int num_threads();
/// 0: as many as the process may use. Returns the old value. Threads start when first needed.
TIDEMARK_API int set_num_threads(int threads);

namespace detail {
using PieceFn = void (*)(void* context, int64_t piece);
TIDEMARK_API void run_pieces(int64_t pieces, PieceFn fn, void* context, bool brief);
}  // namespace detail

/// Work of a few microseconds, for which waking a sleeping thread does not pay: only threads that
/// are awake help, unless such work comes in quick succession.
enum class Work { normal, brief };

/// Calls fn(begin, end) for pieces that cover [0, n), each `grain` long but the last. Runs inline
/// when there is one piece, one thread, or when already inside a parallel_for. An exception of
/// fn is rethrown here after all pieces have ended.
template <class Fn>
void parallel_for(int64_t n, int64_t grain, Fn&& fn, Work work = Work::normal) {
  if (n <= 0) return;
  if (n <= grain) {
    fn(int64_t{0}, n);
    return;
  }
  struct Context {
    std::remove_reference_t<Fn>* fn;
    int64_t n, grain;
  } context{&fn, n, grain};
  detail::run_pieces((n + grain - 1) / grain,
                     [](void* raw, int64_t piece) {
                       auto& c = *static_cast<Context*>(raw);
                       const int64_t begin = piece * c.grain;
                       const int64_t end = begin + c.grain < c.n ? begin + c.grain : c.n;
                       (*c.fn)(begin, end);
                     },
                     &context, work == Work::brief);
}

}  // namespace tidemark
