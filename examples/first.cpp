// A first program: make tensors, compute, print them, and ask where the memory is.
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main() {
  td::memory::set_limit(td::MiB(64));
  const td::Tensor x = td::Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const td::Tensor y = td::tanh(td::matmul(x, x) * 0.1f + 1.f);
  std::cout << y << "\n\n" << td::memory::report();
}
