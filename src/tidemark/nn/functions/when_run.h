// Functions whose results have shapes that only the elements tell.
#pragma once

#include <functional>
#include <string>

#include "tidemark/graph/node.h"

namespace tidemark::nn {

/// What the host makes of elements, which are known then and in its memory.
using HostFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

enum class Effect { none, must_run };

/// Computed now, or, in a graph, whenever that runs. `infos` tells what is known ahead of the
/// results: dtypes, and shapes as far as they are. Gradients do not go through it.
std::vector<Tensor> when_run(const char* name, HostFunction function, std::vector<Tensor> inputs,
                             std::vector<graph::OutputInfo> infos, Effect effect = Effect::none);

}  // namespace tidemark::nn
