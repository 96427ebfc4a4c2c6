// Uses the installed headers and library alone: makes tensors, computes, prints, asks for memory.
#include <tidemark/tidemark.h>

#include <cstdlib>
#include <iostream>

int main() {
  namespace tm = tidemark;  // not at file scope: <ctime> has a struct of this name there
  const tm::Tensor x = tm::Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const tm::Tensor y = tm::square(x) + 1.f;
  std::cout << y << "\n" << tm::memory::report() << "\n";
  const bool right = y.data<float>()[3] == 17.f && tm::memory::stats().live_buffers >= 2;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
