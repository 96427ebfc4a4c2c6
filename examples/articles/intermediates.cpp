// Steps with names and without: a value is gone after its last use either way, so both take the
// same memory. What a call takes is known before it runs.
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main() {
  auto named = td::function([](td::Tensor x) {
    const td::Tensor y = td::square(x);
    const td::Tensor z = y * 2.f;
    const td::Tensor w = z + 1.f;
    return w;
  });
  auto nested = td::function([](td::Tensor x) { return td::square(x) * 2.f + 1.f; });
  const td::Tensor x = td::random::normal({1000, 1000});
  const auto peak_of = [&](auto& function) {
    function(x);
    const int64_t before = td::memory::stats().live;
    td::memory::reset_peak();
    function(x);
    return td::memory::stats().peak - before;
  };
  std::cout << "planned " << named.plan(x).peak << " and " << nested.plan(x).peak << " bytes\n";
  const int64_t with_names = peak_of(named), without = peak_of(nested);
  std::cout << "taken   " << with_names << " and " << without << " bytes\n";
  return with_names == without ? 0 : 1;
}
