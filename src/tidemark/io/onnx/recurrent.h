// A loop over time with one product a step: what recurrent ops of ONNX and TFLite are made of.
#pragma once

#include <functional>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

using Activation = std::function<Tensor(const Tensor&)>;

/// One direction's weights: [gates * hidden, …] turned round for products from the left.
struct Weights {
  Tensor w, r, wb, rb, peepholes;  // wb, rb: [gates * hidden]
  int64_t hidden = 0;
};

/// State in, gates of this step in, state out. State is h, or h and c.
using CellRule = std::function<std::vector<Tensor>(const Weights&, const Tensor& x_gates,
                                                   std::span<const Tensor> state,
                                                   std::span<const Activation> f)>;

struct Direction {
  Tensor y;  // [time, batch, hidden]
  std::vector<Tensor> last;
};

/// Over x [time, batch, in]: all steps' products with the input at once, then the rule step by
/// step. Without lengths all sequences are as long as x.
Direction run_direction(const Tensor& x, const Weights& w, std::vector<Tensor> state,
                        const Tensor& lengths, bool is_backwards, std::span<const Activation> f,
                        const CellRule& cell);

}  // namespace tidemark::io::onnx
