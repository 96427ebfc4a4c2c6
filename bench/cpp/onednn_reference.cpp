#include "onednn_reference.h"

#include <omp.h>

#include <bit>
#include <cstdint>
#include <dnnl.hpp>
#include <stdexcept>
#include <unordered_map>

#include "benchmark.h"

namespace bench {
namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t to_bf16(float value) { return uint16_t(std::bit_cast<uint32_t>(value) >> 16); }

void fill(dnnl::memory& memory, Precision precision, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (precision == Precision::f32) {
      static_cast<float*>(memory.get_data_handle())[i] = DirectMatmul::element(i);
    } else {
      static_cast<uint16_t*>(memory.get_data_handle())[i] = to_bf16(DirectMatmul::element(i));
    }
  }
}

}  // namespace

struct DirectMatmul::State {
  Precision precision;
  int m, n, k;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::memory a, b, c;
  dnnl::matmul primitive;
  std::unordered_map<int, dnnl::memory> arguments;

  State(Precision precision, int m, int n, int k) : precision(precision), m(m), n(n), k(k) {
    const Type type = precision == Precision::f32 ? Type::f32 : Type::bf16;
    const dnnl::memory::desc a_desc({m, k}, type, Tag::ab);
    const dnnl::memory::desc b_desc({k, n}, type, Tag::ab);
    const dnnl::memory::desc c_desc({m, n}, type, Tag::ab);
    a = dnnl::memory(a_desc, engine);
    b = dnnl::memory(b_desc, engine);
    c = dnnl::memory(c_desc, engine);
    fill(a, precision, size_t(m) * k);
    fill(b, precision, size_t(k) * n);
    const dnnl::matmul::desc description(a_desc, b_desc, c_desc);
    primitive = dnnl::matmul(dnnl::matmul::primitive_desc(description, engine));
    arguments = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  }
};

DirectMatmul::DirectMatmul(Precision precision, int m, int n, int k) {
  omp_set_num_threads(kThreads);
  state_ = std::make_unique<State>(precision, m, n, k);
}

DirectMatmul::~DirectMatmul() = default;

void DirectMatmul::run() {
  state_->primitive.execute(state_->stream, state_->arguments);
  state_->stream.wait();
}

bool DirectMatmul::has_gemm() const { return state_->precision == Precision::f32; }

void DirectMatmul::run_gemm() {
  const State& s = *state_;
  const auto data = [](const dnnl::memory& memory) {
    return static_cast<float*>(memory.get_data_handle());
  };
  const auto status =
      dnnl_sgemm('N', 'N', s.m, s.n, s.k, 1.f, data(s.a), s.k, data(s.b), s.n, 0.f, data(s.c), s.n);
  if (status != dnnl_success) throw std::runtime_error("dnnl_sgemm failed");
}

float DirectMatmul::result(int row, int column) const {
  const size_t index = size_t(row) * state_->n + column;
  const void* data = state_->c.get_data_handle();
  return state_->precision == Precision::f32 ? static_cast<const float*>(data)[index]
                                             : from_bf16(static_cast<const uint16_t*>(data)[index]);
}

}  // namespace bench
