// What stands in the place of a tensor whose memory its owner gave away.
#pragma once

#include "tidemark/graph/node.h"

namespace tidemark::graph {

/// Has the dtype and the shape; whoever asks for the value is told where it went.
TIDEMARK_API Tensor donated_tensor(const Tensor& t, std::string function, memory::Site* site);
TIDEMARK_API bool is_donated(const Tensor& t) noexcept;
/// Whether the tensor tells of this function and this line.
TIDEMARK_API bool was_donated_at(const Tensor& t, const memory::Site* site) noexcept;
/// What to say to those who need the value.
TIDEMARK_API std::string describe_donated(const Tensor& t);

}  // namespace tidemark::graph
