// Shuffling along dimension 0: a permutation by Fisher and Yates from the draw's 64-bit integers,
// then the rows are copied.

#include <cstring>
#include <numeric>

#include "tidemark/base/serial_for.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/isa/random_loops.h"
#include "tidemark/kernels/cpu/random/random_stream.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kChunk = 1024;  // random integers made at a time, a multiple of a group
constexpr int64_t kGrainBytes = 256 << 10;

size_t shuffle_workspace(const OpCall& call, std::span<const Shape>) {
  const Tensor& value = call.inputs[0];
  return value.rank() == 0 ? 0 : static_cast<size_t>(value.dim(0)) * sizeof(int64_t);
}

void permute(const RandomStream& stream, int64_t n, int64_t* order) {
  serial_for(n,
             [order](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
  const RandomFill fill =
      random_loops().fill[static_cast<int>(RandomLoop::integers)][static_cast<int>(DType::uint64)];
  RandomDraw draw{};
  draw.stream = stream;
  alignas(64) uint64_t bits[kChunk];
  for (int64_t i = 0; i < n; ++i) {
    if (i % kChunk == 0) {
      draw.stream.counter_low = stream.counter_low + static_cast<uint64_t>(i / 2);
      fill(draw, 0, kChunk, bits);
      check_interrupt();
    }
    // An index among those not placed yet: bits * left / 2^64.
    __extension__ using Product = unsigned __int128;
    const Product scaled = static_cast<Product>(bits[i % kChunk]) * static_cast<uint64_t>(n - i);
    std::swap(order[i], order[i + static_cast<int64_t>(scaled >> 64)]);
  }
}

void run_shuffle(KernelContext& k) {
  const Tensor& value = k.input(0);
  if (value.num_elements() == 0) return;
  const char* from = k.in<char>(0);
  char* to = k.out<char>(0);
  const int64_t n = value.rank() == 0 ? 1 : value.dim(0);
  const uint64_t blocks = static_cast<uint64_t>((n + kChunk - 1) / kChunk * kChunk / 2);
  const RandomStream stream = stream_of(k, seed_input(k), blocks);
  if (n == 1) {
    copy_bytes(to, from, static_cast<int64_t>(value.nbytes()));
    return;
  }
  int64_t* order = k.workspace<int64_t>();
  permute(stream, n, order);
  const int64_t row = static_cast<int64_t>(value.nbytes()) / n;
  parallel_for(n, std::max<int64_t>(1, kGrainBytes / row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(to + i * row, from + order[i] * row, static_cast<size_t>(row));
    }
  });
}

TIDEMARK_KERNEL_OF(cpu, random_shuffle, kPlain, run_shuffle, shuffle_workspace);
TIDEMARK_KERNEL_OF(cpu, stateless_random_shuffle, kPlain, run_shuffle, shuffle_workspace);

}  // namespace

}  // namespace tidemark::cpu
