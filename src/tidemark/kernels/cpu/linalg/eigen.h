// Eigen with our memory: include this, never <Eigen/...> alone.
#pragma once

#define EIGEN_NO_DEBUG          // an assertion of Eigen's would end the process
#define EIGEN_DONT_PARALLELIZE  // our thread pool shares out matrices
#define EIGEN_MPL2_ONLY

#include <Eigen/Core>

#include "tidemark/kernels/cpu/linalg/scratch.h"

namespace Eigen::internal {
template <>
inline void* conditional_aligned_malloc<true>(std::size_t size) {
  return size == 0 ? nullptr : tidemark::cpu::scratch_allocate(size);
}
template <>
inline void conditional_aligned_free<true>(void* data) {
  tidemark::cpu::scratch_free(data);
}
template <>
inline void* conditional_aligned_realloc<true>(void* data, std::size_t new_size,
                                               std::size_t old_size) {
  return tidemark::cpu::scratch_reallocate(data, new_size, old_size);
}
}  // namespace Eigen::internal
