// Ten threads call one model: it is traced once, and its memory does not grow with the calls.
#include <tidemark/nn.h>
#include <tidemark/tidemark.h>

#include <atomic>
#include <iostream>
#include <thread>

namespace td = tidemark;

int main() {
  const td::nn::Dense dense(10);
  auto predict = td::function([&](td::Tensor x) { return dense(x + td::random::normal({1, 5})); });
  const auto work = [&](int rounds) {
    std::atomic<int> right = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 10; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < rounds; ++k) right += predict(td::zeros({1, 5})).dim(1) == 10;
      });
    }
    threads.clear();
    return right.load();
  };
  work(10);
  const int64_t before = td::memory::stats().live;
  const int right = work(200);
  const int64_t grown = td::memory::stats().live - before;
  std::cout << right << " predictions, " << predict.traces().size() << " trace(s), " << grown
            << " bytes more than before\n";
  return right == 2000 && predict.traces().size() == 1 && grown <= 0 ? 0 : 1;
}
