// Ops over 16 M floats beside a copy and a read of the same memory, taking turns.

#include <tidemark/tidemark.h>

#include <stdexcept>

#include "benchmark.h"
#include "memory_reference.h"

namespace bench {

namespace td = tidemark;

Figures streaming_ops(const Options& options) {
  constexpr int64_t kSide = 4000;
  constexpr size_t kCount = kSide * kSide;
  const td::Tensor a = td::ones({kSide, kSide});
  const td::Tensor b = td::ones({kSide, kSide});
  // The copy's target is warm, as the memory that an op's result gets again is.
  const td::Tensor target = td::add(a, b);
  const float* from = a.data<float>();
  float* to = target.mutable_data<float>();
  ThreadPair threads;
  Figures figures;
  const auto note = [&](const char* name, auto&& call) {
    call();
    note_best(figures, name, best_ns(2, 1, call));
  };
  for (int turn = 0; turn < (options.quick ? 3 : 15); ++turn) {
    note("copy_ns", [&] { copy_plain(threads, to, from, kCount); });
    note("add_ns", [&] { keep(td::add(a, b)); });
    note("copy_ns", [&] { copy_streaming(threads, to, from, kCount); });
    note("multiply_ns", [&] { keep(td::multiply(a, b)); });
    note("relu_ns", [&] { keep(td::relu(a)); });
    note("read_ns", [&] { keep(read_all(threads, from, kCount)); });
    note("sum_ns", [&] { keep(td::sum(a)); });
    note("max_ns", [&] { keep(td::max(a)); });
  }
  if (to[kCount - 1] != from[kCount - 1]) throw std::runtime_error("the copy copied nothing");
  return figures;
}

}  // namespace bench
