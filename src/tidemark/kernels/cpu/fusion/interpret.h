// The reference back end: block by block, one vectorised loop an instruction, the very loops that
// run the ops unfused. So elementwise results agree with the unfused ones to the bit.
#pragma once

#include "tidemark/kernels/cpu/elementwise/loop.h"
#include "tidemark/kernels/cpu/fusion/run_args.h"

namespace tidemark::fusion {

class Interpreter {
 public:
  Interpreter(const FusedProgram& program, const Schedule& schedule, const Sources& sources);

  void run(const RunArgs& args, ScalarMask scalars) const;
  size_t bytes() const;

 private:
  class Frame;
  /// A step with everything looked up.
  struct Op {
    PassStep step;
    cpu::LoopFn loop = nullptr;
    cpu::LoopParams params;
    DType in = DType::invalid, out = DType::invalid;  // computed in
    int16_t slot = -1;                                // of the result
  };
  struct CompiledPass {
    std::vector<Op> once, elements;
  };

  Op look_up(const PassStep& step) const;
  void place(CompiledPass& pass);

  const FusedProgram& program_;
  const Sources& sources_;
  const size_t first_lanes_;  // of the column reductions, among what is kept
  std::vector<CompiledPass> passes_;
  /// Values that are the same for a whole run but not for a row of elements: constants, sources of
  /// one element, values of a row. Each has a block that holds it many times.
  std::vector<int16_t> splat_;  // by instruction; -1: none
  int splats_ = 0;
  int slots_ = 0;
  int64_t block_ = 0;
};

}  // namespace tidemark::fusion
