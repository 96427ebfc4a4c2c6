// Large tensors made inside of a function are constants of its graph: they live as long as that.
// Given as arguments they go with the call, and the plan says so before.
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

constexpr int64_t kSize = 10'000'000;

int main() {
  auto with_arguments = td::function([](td::Tensor a, td::Tensor b) { return a + b; });
  std::cout << with_arguments.plan(td::ones({kSize}), td::ones({kSize}));
  const auto round = [&] {
    // A function of its own in each round: its constants go with it.
    const td::Tensor held = td::ones({kSize});
    auto with_constants = td::function([&] { return held + 2.f; });
    const td::Tensor sum = with_constants();
    return with_arguments(td::ones({kSize}), td::full({kSize}, 2.f)).data<float>()[kSize - 1] +
           sum.data<float>()[0];
  };
  float last = round();
  const int64_t before = td::memory::stats().live;
  for (int i = 0; i < 10; ++i) last = round();
  std::cout << "last " << last << ", live memory grew by " << td::memory::stats().live - before
            << " bytes in 10 rounds\n";
  return last == 6.f && td::memory::stats().live == before ? 0 : 1;
}
