// Which code this CPU runs, and writing it.

#include "tidemark/kernels/cpu/fusion/machine_code.h"

#if TIDEMARK_WITH_XBYAK
#include <vector>

#include "tidemark/kernels/cpu/fusion/emitter.h"
#include "tidemark/kernels/cpu/isa_level.h"
#endif

namespace tidemark::fusion {

#if TIDEMARK_WITH_XBYAK

CodeLevel best_code_level() {
  switch (cpu::best_level()) {
    case cpu::Level::v4:
      return CodeLevel::avx512;
    case cpu::Level::v3:
      return CodeLevel::avx2;
    default:
      return CodeLevel::none;
  }
}

std::unique_ptr<MachineCode> emit(const FusedProgram& program, const Schedule& schedule,
                                  const Sources& sources, const CodeOptions& options) {
  if (options.level == CodeLevel::none) return nullptr;
  constexpr size_t kLongest = 128 << 10;
  // Everything in the code is relative to itself, so it may be written here and run elsewhere.
  const std::unique_ptr<uint8_t[]> buffer(new uint8_t[kLongest]);
  try {
    Emitter emitter(program, schedule, sources, options, buffer.get(), kLongest);
    emitter.emit();
    emitter.ready();
    return MachineCode::copy_of(buffer.get(), emitter.getSize());
  } catch (const Refused&) {
  } catch (const Xbyak::Error&) {
  }
  return nullptr;
}

#else

CodeLevel best_code_level() { return CodeLevel::none; }

std::unique_ptr<MachineCode> emit(const FusedProgram&, const Schedule&, const Sources&,
                                  const CodeOptions&) {
  return nullptr;
}

#endif

}  // namespace tidemark::fusion
