// The emulated device: an accelerator made of host memory that the host cannot touch.
//
// Its bytes are mapped twice: at the addresses that buffers have, without access for anybody, and
// at addresses that its worker alone knows. A host read of device memory stops the program at the
// place, also while a kernel runs; work that was not waited for gives what was there before.
// Kernels and fused programs are the CPU's.
#pragma once

#include <memory>

#include "tidemark/base/backend.h"

namespace tidemark::emulated {

/// The settings TIDEMARK_EMULATED_… say what it is like. Null: there are fewer.
std::unique_ptr<Accelerator> open(int index);

}  // namespace tidemark::emulated
