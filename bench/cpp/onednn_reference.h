// oneDNN called directly, with its own threads: what matmul is compared with.
//
//   DirectMatmul direct(Precision::f32, m, n, k);
//   direct.run();                       // c = a b, on memory and a primitive made once
#pragma once

#include <cstddef>
#include <memory>

namespace bench {

enum class Precision { f32, bf16 };

class DirectMatmul {
 public:
  DirectMatmul(Precision precision, int m, int n, int k);
  ~DirectMatmul();
  /// The matmul primitive, made once and run again and again.
  void run();
  /// The library's gemm function; float only.
  void run_gemm();
  bool has_gemm() const;
  /// The i-th element of both factors: small powers of two, exact in either precision.
  static float element(size_t i) { return i % 3 == 0 ? 0.5f : i % 3 == 1 ? 0.25f : -0.125f; }
  /// An element of the last product, as a float.
  float result(int row, int column) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
