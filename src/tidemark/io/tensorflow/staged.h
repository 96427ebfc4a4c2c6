// Branches and loops over values of foreign graphs: tensors and lists change, all others
// (variables, tables) are the same on every way.
#pragma once

#include <functional>

#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

using StagedFunction = std::function<Values()>;

/// What the function that the integer or bool scalar picks gives.
Values staged_switch(const Tensor& index, std::span<const StagedFunction> functions);

/// `shapes`: what is known of each variable in every round; none: it is found out.
Values staged_loop(const std::function<Value(const Values&)>& condition,
                   const std::function<Values(const Values&)>& body, const Values& first,
                   std::vector<Shape> shapes);

}  // namespace tidemark::io::tensorflow
