// Kernels of the random ops.

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/random_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/kernels/cpu/random/random_stream.h"
#include "tidemark/kernels/random_bounds.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(RandomTable, random_table);

const RandomTable& random_loops() {
  static const RandomTable* const table = &TIDEMARK_FOR_LEVEL(random_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 32 << 10;
/// Results larger than this do not stay in the caches anyway.
constexpr size_t kPastCachesBytes = 16 << 20;

void fill(KernelContext& k, RandomLoop loop, RandomDraw draw) {
  const Tensor& out = k.output(0);
  const RandomFill fill =
      random_loops().fill[static_cast<int>(loop)][static_cast<int>(out.dtype())];
  if (!fill) k.fail("cannot make ", name_of(out.dtype()), "; choose another dtype");
  const int64_t n = out.num_elements(), group = random_group(out.dtype());
  const uint64_t blocks = static_cast<uint64_t>((n + group - 1) / group * kBlocksPerGroup);
  draw.stream = stream_of(k, seed_input(k), blocks);
  draw.past_caches =
      out.nbytes() > kPastCachesBytes && reinterpret_cast<uintptr_t>(out.raw_data()) % 64 == 0;
  void* data = out.mutable_raw_data();
  parallel_for(n, kGrainElements,
               [&](int64_t begin, int64_t end) { fill(draw, begin, end, data); });
}

template <RandomLoop L>
void run_normal(KernelContext& k) {
  RandomDraw draw{};
  draw.first = k.attr("mean").as_real();
  draw.second = k.attr("stddev").as_real();
  fill(k, L, draw);
}

void run_uniform(KernelContext& k) {
  const double low = k.attr("minval").as_real(), high = k.attr("maxval").as_real();
  RandomDraw draw{};
  draw.first = low;
  draw.second = high - low;
  draw.highest = highest_of(low, high, k.output(0).dtype());
  fill(k, RandomLoop::uniform, draw);
}

void run_full_int(KernelContext& k) { fill(k, RandomLoop::integers, {}); }

void run_uniform_int(KernelContext& k) {
  const IntegerBounds bounds(k, seed_input(k) >= 0 ? 2 : 1);
  RandomDraw draw{};
  draw.low = bounds.low;
  draw.width = bounds.width;
  fill(k, RandomLoop::integers, draw);
}

void run_stream(KernelContext& k) {
  const auto blocks = static_cast<uint64_t>(k.attr("blocks").as_int());
  const RandomStream stream = stream_of(k, -1, blocks);
  uint64_t* out = k.out<uint64_t>(0);
  out[0] = stream.key;
  out[1] = stream.counter_low;
  out[2] = stream.counter_high;
}

TIDEMARK_KERNEL_OF(cpu, random_stream, dtype_set(DType::uint64), run_stream);
TIDEMARK_KERNEL_OF(cpu, stream_random_normal, kIndex, run_normal<RandomLoop::normal>);
TIDEMARK_KERNEL_OF(cpu, stream_random_truncated_normal, kIndex,
                   run_normal<RandomLoop::truncated_normal>);
TIDEMARK_KERNEL_OF(cpu, stream_random_uniform, kIndex, run_uniform);
TIDEMARK_KERNEL_OF(cpu, random_normal, kIndex, run_normal<RandomLoop::normal>);
TIDEMARK_KERNEL_OF(cpu, stateless_random_normal, kIndex, run_normal<RandomLoop::normal>);
TIDEMARK_KERNEL_OF(cpu, random_truncated_normal, kIndex, run_normal<RandomLoop::truncated_normal>);
TIDEMARK_KERNEL_OF(cpu, stateless_random_truncated_normal, kIndex,
                   run_normal<RandomLoop::truncated_normal>);
TIDEMARK_KERNEL_OF(cpu, random_uniform, kIndex, run_uniform);
TIDEMARK_KERNEL_OF(cpu, stateless_random_uniform, kIndex, run_uniform);
TIDEMARK_KERNEL_OF(cpu, random_uniform_int, kIndex, run_uniform_int);
TIDEMARK_KERNEL_OF(cpu, stateless_random_uniform_int, kIndex, run_uniform_int);
TIDEMARK_KERNEL_OF(cpu, random_full_int, kIndex, run_full_int);
TIDEMARK_KERNEL_OF(cpu, stateless_random_full_int, kIndex, run_full_int);

}  // namespace

}  // namespace tidemark::cpu
