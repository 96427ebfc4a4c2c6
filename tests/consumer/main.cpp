// Uses the installed headers and library alone: makes tensors, computes, prints, asks for memory.
#include <tidemark/tidemark.h>

#include <cstdlib>
#include <iostream>

namespace td = tidemark;

int main() {
  const td::Tensor x = td::Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const td::Tensor y = td::square(x) + 1.f;
  std::cout << y << "\n" << td::memory::report() << "\n";
  const bool right = y.data<float>()[3] == 17.f && td::memory::stats().live_buffers >= 2;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
