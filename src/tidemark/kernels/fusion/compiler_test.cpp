// What definitions say of ops as instructions, and what the CPU has code for, fit together.

#include "tidemark/kernels/fusion/compiler.h"

#include <gtest/gtest.h>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::fusion {
namespace {

const Compiler& cpu_compiler() { return backend_of(Device()).fusion(); }

bool accepts(const OpDef& op, DType dtype) {
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    if (!op.input_param(static_cast<int>(i)).dtypes.contains(dtype)) return false;
  }
  return true;
}

TEST(Compiler, LoopsOfTheCpuAreWhatDefinitionsSay) {
  constexpr DTypeSet kInPrograms = kFloats | kInts | kBool;
  int fused = 0;
  for (const OpDef* op : OpRegistry::instance().all()) {
    for (int i = 0; i < kDTypeSlots; ++i) {
      const auto in = static_cast<DType>(i);
      const cpu::ElementwiseLoop* loop = cpu::loop_for(op->name(), in);
      const bool has_loop = op->is_elementwise() && kInPrograms.contains(in) && accepts(*op, in) &&
                            loop && kInPrograms.contains(loop->out) && !op->may_fail(in);
      EXPECT_EQ(cpu_compiler().can_fuse(*op, in), has_loop) << op->name() << " of " << name_of(in);
      if (!has_loop) continue;
      ++fused;
      const DType out = loop->out == DType::float32 && is_half(in) ? in : loop->out;
      EXPECT_EQ(result_of(*op, in), out) << op->name() << " of " << name_of(in);
      EXPECT_EQ(op->inputs().size(), loop->arity) << op->name() << " of " << name_of(in);
      EXPECT_EQ(cpu_compiler().is_heavy(*op, in), loop->heavy) << op->name();
    }
  }
  EXPECT_GT(fused, 300) << "most elementwise ops are instructions";
}

TEST(Compiler, AnOpWithoutCodeIsNoInstruction) {
  const OpDef& add = OpRegistry::instance().get("add");
  EXPECT_TRUE(cpu_compiler().can_fuse(add, DType::float32));
  EXPECT_FALSE(cpu_compiler().can_fuse(add, DType::complex64)) << "in no program";
  const OpDef& matmul = OpRegistry::instance().get("matmul");
  EXPECT_FALSE(cpu_compiler().can_fuse(matmul, DType::float32)) << "not elementwise";
  EXPECT_TRUE(cpu_compiler().takes_programs(matmul, DType::float32));
  EXPECT_FALSE(cpu_compiler().takes_programs(matmul, DType::int32));
}

}  // namespace
}  // namespace tidemark::fusion
