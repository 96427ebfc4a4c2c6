// Matrix products beside oneDNN called directly, taking turns in one process.

#include <tidemark/tidemark.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "benchmark.h"
#include "onednn_reference.h"

namespace bench {

namespace td = tidemark;
namespace {

struct Product {
  const char* name;
  int m, n, k;
  int calls;  // a loop; enough for the clock, few enough for the patience
};

constexpr Product kProducts[] = {
    {"64", 64, 64, 64, 500},
    {"128", 128, 128, 128, 100},
    {"256", 256, 256, 256, 20},
    {"512", 512, 512, 512, 3},
    {"1024", 1024, 1024, 1024, 1},
    {"2048", 2048, 2048, 2048, 1},
    {"1x1024x1024", 1, 1024, 1024, 50},
};

/// The threads of either side spin for a while after their work and would disturb the other.
void let_threads_rest() { std::this_thread::sleep_for(std::chrono::milliseconds(8)); }

template <class Call>
void note_turn(Figures& figures, const std::string& name, int calls, Call&& call) {
  let_threads_rest();
  call();
  note_best(figures, name, best_ns(3, calls, call));
}

/// The direct product of the same elements must agree, or the comparison means nothing.
void check_agrees(const td::Tensor& product, const DirectMatmul& direct, const Product& p) {
  const td::Tensor c = td::cast(product, td::DType::float32);
  for (const auto& [row, column] : {std::pair{0, 0}, {p.m / 2, p.n / 3}, {p.m - 1, p.n - 1}}) {
    const float ours = c.data<float>()[int64_t(row) * p.n + column];
    const float theirs = direct.result(row, column);
    if (!(std::abs(ours - theirs) <= 0.02f * (1.f + std::abs(theirs)))) {
      throw std::runtime_error(std::string("matmul ") + p.name + " differs from oneDNN's");
    }
  }
}

void measure(Figures& figures, const Product& p, Precision precision, int turns) {
  const bool is_float = precision == Precision::f32;
  const std::string name = std::string(is_float ? "f32_" : "bf16_") + p.name;
  DirectMatmul direct(precision, p.m, p.n, p.k);
  const auto factor = [&](int64_t rows, int64_t columns) {
    const td::Tensor t = td::Tensor::uninitialized(td::DType::float32, {rows, columns});
    for (int64_t i = 0; i < rows * columns; ++i) {
      t.mutable_data<float>()[i] = DirectMatmul::element(size_t(i));
    }
    return is_float ? t : td::cast(t, td::DType::bfloat16);
  };
  const td::Tensor a = factor(p.m, p.k);
  const td::Tensor b = factor(p.k, p.n);
  direct.run();
  check_agrees(td::matmul(a, b), direct, p);
  for (int turn = 0; turn < turns; ++turn) {
    note_turn(figures, name + "_library_ns", p.calls, [&] { direct.run(); });
    note_turn(figures, name + "_ns", p.calls, [&] { keep(td::matmul(a, b)); });
    if (direct.has_gemm()) {
      note_turn(figures, name + "_library_ns", p.calls, [&] { direct.run_gemm(); });
      note_turn(figures, name + "_ns", p.calls, [&] { keep(td::matmul(a, b)); });
    }
  }
}

}  // namespace

Figures matmul(const Options& options) {
  Figures figures;
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    for (const Product& product : kProducts) {
      const int turns = options.quick ? 1 : product.m >= 2048 ? 2 : product.m >= 512 ? 6 : 12;
      measure(figures, product, precision, turns);
    }
  }
  return figures;
}

}  // namespace bench
