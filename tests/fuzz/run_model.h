// Loads a saved model and runs each of its signatures on zeros.
#pragma once

#include <tidemark/create.h>
#include <tidemark/saved_model.h>

#include <chrono>
#include <string>
#include <vector>

#include "tidemark/base/interrupt.h"

namespace tidemark::fuzz {

/// False: it is more than a model of this size should be asked.
inline bool make_inputs(const SignatureSpec& signature, std::vector<Tensor>& inputs) {
  for (const TensorSpec& spec : signature.inputs) {
    Shape shape = spec.shape.has_rank() ? spec.shape : Shape{2};
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) shape[i] = 2;
      if (shape[i] > 64) return false;
    }
    inputs.push_back(zeros(shape, spec.dtype));
  }
  return true;
}

/// Throws the typed errors of loading and running; an endless model is one of them.
inline void load_and_run(const std::string& folder, std::chrono::seconds most) {
  const Interrupt soon{.deadline = Interrupt::Clock::now() + most};
  const InterruptScope bounded(soon);
  const SavedModel model = load_model(folder);
  for (const SignatureSpec& signature : model.signatures()) {
    std::vector<Tensor> inputs;
    if (make_inputs(signature, inputs)) (void)model.run(signature, inputs);
  }
}

}  // namespace tidemark::fuzz
