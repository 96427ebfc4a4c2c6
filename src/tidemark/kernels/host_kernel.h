// Kernels that run where they are called, on the host's memory: the CPU's answer to
// Backend::find_kernel. Inline, because every eager call asks it.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark {

/// Null: there is none.
inline const Kernel* find_host_kernel(const OpDef& op, DType key) {
  const KernelTable* table = kernels_of(op);
  if (!table) return nullptr;
  const Kernel& kernel = table->find(KernelKind::cpu, key);
  return kernel.run ? &kernel : nullptr;
}

/// The dtypes there is one for.
inline DTypeSet host_kernel_dtypes(const OpDef& op) {
  const KernelTable* table = kernels_of(op);
  return table ? table->dtypes(KernelKind::cpu) : DTypeSet{};
}

}  // namespace tidemark
