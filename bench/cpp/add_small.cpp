// One eager call from C++: a + b of two floats each.

#include <tidemark/tidemark.h>

#include "benchmark.h"

namespace bench {

namespace td = tidemark;

Figures add_small(const Options& options) {
  const td::Tensor a = td::Tensor::of({1.f, 2.f});
  const td::Tensor b = td::Tensor::of({3.f, 4.f});
  return {{"add_ns", best_ns(options.quick ? 10 : 200, 10000, [&] { keep(td::add(a, b)); })}};
}

}  // namespace bench
