// Layers of ours from what Keras says of its own.
#pragma once

#include <tidemark/module.h>

#include <functional>
#include <optional>

#include "tidemark/io/keras/json.h"

namespace tidemark::io::keras {

/// `named`: arguments beside the tensors, as Keras noted them.
using LayerCall = std::function<Tensor(const std::vector<Tensor>& inputs, const Json& named)>;

struct MadeLayer {
  std::optional<nn::Module> module;  // none: it has no weights and no state
  LayerCall call;
};

/// `entry` has class_name, config and, for most, build_config. Throws UnimplementedError with the
/// layer's name for what is not known here, and DataLossError for what is malformed.
MadeLayer make_layer(const Json& entry);

}  // namespace tidemark::io::keras
