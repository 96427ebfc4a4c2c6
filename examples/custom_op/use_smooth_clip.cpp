// Uses the op of smooth_clip.cpp: use_smooth_clip path/to/libsmooth_clip.so
#include <tidemark/tidemark.h>

#include <cstdlib>
#include <iostream>

namespace td = tidemark;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: use_smooth_clip LIBRARY\n";
    return EXIT_FAILURE;
  }
  for (const std::string& name : td::load_op_library(argv[1]))
    std::cout << "new op: " << name << "\n";
  const td::Tensor x = td::Tensor::of({-100.f, 0.f, 0.5f, 100.f});
  const td::Tensor y = td::call("smooth_clip", {x}, {{"limit", 2.0}});
  std::cout << y << "\n" << td::memory::report();
  return y.data<float>()[3] == 2.f && y.data<float>()[1] == 0.f ? EXIT_SUCCESS : EXIT_FAILURE;
}
