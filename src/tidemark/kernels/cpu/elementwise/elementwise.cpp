// Registers every elementwise loop as a kernel.

#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "tidemark/kernels/cpu/elementwise/cast.h"
#include "tidemark/kernels/cpu/elementwise/loop.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(BlockTable, blocks);
TIDEMARK_DECLARE_PER_ISA(CastTable, casts);

// Families of loops: one copy a level, or one for every CPU.
#define TIDEMARK_ISA_FAMILIES(X) \
  X(arithmetic) X(rounding) X(compare) X(bits) X(exponential) X(trigonometry) X(activation)
#define TIDEMARK_PLAIN_FAMILIES(X) \
  X(complex_loops) X(integer_loops) X(special_loops) X(bessel_loops) X(gamma_loops)

#define X(family) TIDEMARK_DECLARE_PER_ISA(LoopTable, family);
TIDEMARK_ISA_FAMILIES(X)
#undef X
#define X(family)               \
  namespace family {            \
  extern const LoopTable loops; \
  }
TIDEMARK_PLAIN_FAMILIES(X)
#undef X

namespace {

constexpr int kMaxOps = 256;

/// A kernel is a plain function, so each op gets a numbered one that finds its loops here.
struct Slot {
  std::string_view op;
  const ElementwiseLoop* by_dtype[kDTypeSlots] = {};
};
constinit std::array<Slot, kMaxOps> slots{};
/// A slot is complete before it counts: libraries are opened while others look for loops.
constinit std::atomic<int> slots_used = 0;
constinit const BlockTable* blocks_in_use = nullptr;
constinit const CastTable* casts_in_use = nullptr;

template <int I>
void run_slot(KernelContext& k) {
  run_loop(k, *slots[I].by_dtype[static_cast<int>(k.input(0).dtype())]);
}

template <size_t... I>
constexpr std::array<KernelRun, sizeof...(I)> numbered_kernels(std::index_sequence<I...>) {
  return {&run_slot<static_cast<int>(I)>...};
}
constexpr auto kKernels = numbered_kernels(std::make_index_sequence<kMaxOps>());

int find_slot(std::string_view op) {  // -1: none
  const int used = slots_used.load(std::memory_order_acquire);
  for (int i = 0; i < used; ++i) {
    if (slots[static_cast<size_t>(i)].op == op) return i;
  }
  return -1;
}

int add_slot(const Slot& slot) {
  const int used = slots_used.load(std::memory_order_relaxed);
  if (used == kMaxOps) fail("no room for '", slot.op, "': there are ", kMaxOps, " elementwise ops");
  slots[static_cast<size_t>(used)] = slot;
  slots_used.store(used + 1, std::memory_order_release);
  return used;
}

int slot_of(std::string_view op) {
  const int known = find_slot(op);
  return known >= 0 ? known : add_slot({op, {}});
}

/// A loop over float32 serves the half types too.
void place(Slot& slot, const ElementwiseLoop& loop) {
  slot.by_dtype[static_cast<int>(loop.in)] = &loop;
  if (loop.in != DType::float32) return;
  slot.by_dtype[static_cast<int>(DType::float16)] = &loop;
  slot.by_dtype[static_cast<int>(DType::bfloat16)] = &loop;
}

void place_all(const LoopTable& table) {
  for (int i = 0; i < table.count; ++i) {
    place(slots[static_cast<size_t>(slot_of(table.loops[i].op))], table.loops[i]);
  }
}

void run_cast(KernelContext& k) {
  const DType from = k.input(0).dtype();
  const DType to = k.output(0).dtype();
  const auto wide = [](DType d) {
    return d == DType::float16 || d == DType::bfloat16 ? DType::float32 : d;
  };
  ElementwiseLoop loop;
  loop.in = wide(from);
  loop.out = wide(to);
  loop.run = cast_loop(loop.in, loop.out);
  run_loop(k, loop);
}
TIDEMARK_KERNEL_OF(cpu, cast, kPlain, run_cast);

void register_slot(int i) {
  const Slot& slot = slots[static_cast<size_t>(i)];
  DTypeSet dtypes;
  for (int d = 0; d < kDTypeSlots; ++d) {
    if (slot.by_dtype[d]) dtypes.bits |= 1u << d;
  }
  register_kernel(slot.op, KernelKind::cpu, dtypes, {kKernels[static_cast<size_t>(i)], nullptr});
}

const bool registered = [] {
  use_loops_of(best_level());
  for (int i = 0; i < slots_used; ++i) register_slot(i);
  return true;
}();

}  // namespace

const BlockTable& blocks() { return *blocks_in_use; }

const ElementwiseLoop* loop_for(std::string_view op, DType dtype) {
  const int slot = find_slot(op);
  return slot < 0 ? nullptr : slots[static_cast<size_t>(slot)].by_dtype[static_cast<int>(dtype)];
}

void add_loops(std::string_view op, std::span<const ElementwiseLoop* const> loops) {
  Slot slot{op, {}};
  for (const ElementwiseLoop* loop : loops) place(slot, *loop);
  register_slot(add_slot(slot));
}

LoopFn cast_loop(DType from, DType to) {
  return casts_in_use->loops[static_cast<int>(from)][static_cast<int>(to)];
}

void use_loops_of(Level level) {
  blocks_in_use = &TIDEMARK_FOR_LEVEL(blocks, level);
  casts_in_use = &TIDEMARK_FOR_LEVEL(casts, level);
#define X(family) place_all(family::loops);
  TIDEMARK_PLAIN_FAMILIES(X)
#undef X
#define X(family) place_all(TIDEMARK_FOR_LEVEL(family, level));
  TIDEMARK_ISA_FAMILIES(X)
#undef X
}

}  // namespace tidemark::cpu
