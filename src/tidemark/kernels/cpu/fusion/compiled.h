// A fused program made ready to run.
//
//   auto fused = fusion::CompiledFusion::make(program);
//   fused->run(shapes, inputs, outputs, workspace);    // any number of threads, any shapes that
//   fit
//
// Results do not depend on the number of threads. Machine code is made in the first run of each
// pattern of broadcasting, kept with the program and gone with it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "tidemark/kernels/cpu/fusion/interpret.h"
#include "tidemark/kernels/cpu/fusion/machine_code.h"
#include "tidemark/kernels/fusion/compiler.h"

namespace tidemark::fusion {

/// Which back end new programs use, for tests; the best unless TIDEMARK_FUSION says otherwise.
enum class BackEnd : uint8_t { best, interpreter, avx2, avx512 };
TIDEMARK_API BackEnd set_back_end(BackEnd back_end);

class TIDEMARK_API CompiledFusion final : public CompiledProgram {
 public:
  /// Throws InternalError when the program is broken.
  static std::shared_ptr<const CompiledFusion> make(FusedProgram program);
  ~CompiledFusion() override;
  CompiledFusion(const CompiledFusion&) = delete;
  CompiledFusion& operator=(const CompiledFusion&) = delete;

  const FusedProgram& program() const override { return program_; }
  /// Bytes `run` needs beside inputs and outputs.
  size_t workspace(std::span<const Shape* const> shapes) const;
  /// `out` may be the same memory as an input with as many elements of the same size that the
  /// program reads no further than it has written; see may_write_into. For one run over these
  /// shapes; ShapedFusion is for many.
  void run(std::span<const Shape* const> shapes, std::span<const void* const> in,
           std::span<void* const> out, void* workspace) const;
  bool may_write_into(size_t output, size_t input) const override;

  size_t bytes() const;
  /// Whether some run used machine code.
  bool is_machine_code() const;

 private:
  friend class ShapedFusion;
  CompiledFusion(FusedProgram program, bool may_split);
  /// For one row too long to reduce on one thread.
  struct Split {
    std::shared_ptr<const CompiledFusion> parts, rest;
  };

  const MachineCode* code_for(ScalarMask scalars, bool stream) const;

  const FusedProgram program_;
  const Schedule schedule_;
  const Sources sources_;
  const Interpreter interpreter_;
  const CodeLevel level_;
  std::unique_ptr<const Split> split_;

  struct Variant {
    ScalarMask scalars;
    bool stream;
    std::unique_ptr<MachineCode> code;  // null: the emitter refused
  };
  static constexpr int kMaxVariants = 6;
  mutable Variant variants_[kMaxVariants];
  mutable std::atomic<int> variants_used_{0};
  mutable std::mutex emitting_;
};

/// What the CPU's compiler made comes back to it.
inline const CompiledFusion& compiled_here(const CompiledProgram& compiled) {
  return static_cast<const CompiledFusion&>(compiled);
}

}  // namespace tidemark::fusion
