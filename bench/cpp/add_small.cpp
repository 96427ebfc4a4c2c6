// One eager call from C++: a + b of two floats each.

#include <tidemark/tidemark.h>

#include "benchmark.h"

namespace bench {

namespace tm = tidemark;

Figures add_small(const Options& options) {
  const tm::Tensor a = tm::Tensor::of({1.f, 2.f});
  const tm::Tensor b = tm::Tensor::of({3.f, 4.f});
  return {{"add_ns", best_ns(options.quick ? 10 : 200, 10000, [&] { keep(tm::add(a, b)); })}};
}

}  // namespace bench
