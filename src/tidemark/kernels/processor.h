// What the kernels in use are made for.
#pragma once

#include <tidemark/export.h>

#include <string>

namespace tidemark {

/// The processor's level as far as kernels use it, "x86-64-v3": workspaces, and so plans, depend on
/// it, results only where docs/levels.md says so.
TIDEMARK_API std::string processor_level();

}  // namespace tidemark
