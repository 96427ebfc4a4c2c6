// What can be said about the outputs of a call before it runs.
#pragma once

#include <tidemark/op.h>

#include "tidemark/graph/node.h"

namespace tidemark::trace {

/// An op refuses the sizes imagined for unknown ones: whether it takes those of a run, that tells.
class TIDEMARK_API ImaginedSizesError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

struct Inferred {
  DType dtype = DType::invalid;
  Shape shape;
  std::unique_ptr<graph::Imagined> imagined;
};

/// By the op's own shape rule. Throws the rule's error where no run can succeed.
std::vector<Inferred> infer(const OpCall& call, size_t num_outputs);

/// The worlds of a tensor whose shape alone is known; null where it is fully known.
TIDEMARK_API std::unique_ptr<graph::Imagined> imagine(const Shape& shape);
/// The worlds of a tensor whose value is known; null where it is too large to be of use.
std::unique_ptr<graph::Imagined> imagine_value(const Tensor& value);

/// What holds whichever of the two happened: their common shape, sizes that differ unknown.
TIDEMARK_API Shape common_shape(const Shape& a, const Shape& b);
/// True iff every tensor of shape `given` is one of shape `declared`.
inline bool is_within(const Shape& given, const Shape& declared) {
  if (!declared.has_rank()) return true;
  if (!given.has_rank() || given.rank() != declared.rank()) return false;
  for (int i = 0; i < given.rank(); ++i) {
    if (declared[i] >= 0 && declared[i] != given[i]) return false;
  }
  return true;
}

/// Says of a symbolic tensor what its user knows: sizes that were unknown are the given ones from
/// now on. Throws where the two shapes cannot both hold.
TIDEMARK_API void narrow(const Tensor& t, const Shape& shape);

}  // namespace tidemark::trace
