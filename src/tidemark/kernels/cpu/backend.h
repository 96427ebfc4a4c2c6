// The CPU as a backend: its kernels, its compiler of fused programs, what its work costs.
#pragma once

#include "tidemark/base/backend.h"

namespace tidemark::cpu {

const Backend& backend();

}  // namespace tidemark::cpu
