// Programs as machine code for this CPU.
//
// Instructions the emitter does not know are calls of the loop that runs the op unfused, a vector
// at a time. float32, the half types, int32 and bool; everything else is interpreted.
#pragma once

#include <memory>

#include "tidemark/kernels/cpu/fusion/run_args.h"

namespace tidemark::fusion {

enum class CodeLevel : uint8_t { none, avx2, avx512 };

/// What this CPU runs; none where no emitter was built.
CodeLevel best_code_level();

struct CodeOptions {
  CodeLevel level = CodeLevel::none;
  ScalarMask scalars = 0;
  /// Results go past the caches: every output and every run starts at a line.
  bool stream = false;
};

/// Executable pages, written once, then never writable again. All of them together are bounded and
/// listed in the memory report as "fusion code".
class MachineCode {
 public:
  using Fn = void (*)(const RunArgs*);
  /// Null when the system or the bound refuses.
  static std::unique_ptr<MachineCode> copy_of(const void* code, size_t bytes);
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  void run(const RunArgs& args) const { reinterpret_cast<Fn>(pages_)(&args); }
  size_t bytes() const { return bytes_; }

 private:
  MachineCode(void* pages, size_t bytes) : pages_(pages), bytes_(bytes) {}
  void* pages_;
  size_t bytes_;
};

/// Null when the program has to be interpreted.
std::unique_ptr<MachineCode> emit(const FusedProgram& program, const Schedule& schedule,
                                  const Sources& sources, const CodeOptions& options);

}  // namespace tidemark::fusion
