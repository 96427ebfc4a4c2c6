// A first program: make tensors, compute, print them, and ask where the memory is.
#include <tidemark/tidemark.h>

#include <iostream>

int main() {
  namespace tm = tidemark;
  tm::memory::set_limit(tm::MiB(64));
  const tm::Tensor x = tm::Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const tm::Tensor y = tm::tanh(tm::matmul(x, x) * 0.1f + 1.f);
  std::cout << y << "\n\n" << tm::memory::report();
}
