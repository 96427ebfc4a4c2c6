// Labels and predictions that differ by a last dimension of size 1.
#pragma once

#include <tidemark/ops.h>

namespace tidemark::nn {

struct Pair {
  Tensor y_true, y_pred;
};

/// Both with one rank, as Keras makes it: of two whose ranks differ by one, the longer one loses
/// its last dimension of size 1, or the shorter one, a vector, gets it.
inline Pair same_rank(Tensor y_true, Tensor y_pred) {
  const auto fit = [](Tensor& longer, Tensor& shorter) {
    if (!longer.shape().has_rank() || !shorter.shape().has_rank()) return;
    if (longer.rank() != shorter.rank() + 1 || longer.dim(-1) != 1) return;
    if (shorter.rank() == 1) {
      shorter = expand_dims(shorter, -1);
    } else {
      longer = squeeze(longer, Ints{-1});
    }
  };
  fit(y_true, y_pred);
  fit(y_pred, y_true);
  return {std::move(y_true), std::move(y_pred)};
}

/// The labels with the dtype of the predictions, too.
inline Pair same_kind(const Tensor& y_true, const Tensor& y_pred) {
  const bool is_same = y_true.dtype() == y_pred.dtype();
  return same_rank(is_same ? y_true : cast(y_true, y_pred.dtype()), y_pred);
}

}  // namespace tidemark::nn
