// The functions that function_twin knows, by TensorFlow's names.
#pragma once

#include <tidemark/nn.h>
#include <tidemark/tidemark.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace function_twin {

using Tensors = std::vector<tidemark::Tensor>;
using Functions = std::map<std::string, std::function<Tensors(const Tensors&)>>;

Functions array_functions();
Functions loop_functions();
Functions math_functions();
Functions matrix_functions();
Functions signal_functions();
Functions nn_functions();
Functions image_functions();
Functions sparse_functions();
Functions file_functions();
Functions training_functions();

}  // namespace function_twin
