// Computes what TensorFlow's functions of the C++ API give, for tests/python/test_cpp_functions.py,
// which asks Python's of the same names.
//
//   function_twin < questions > answers
//
// A question is a line with a function's name and the number of its tensors, then these
// (tensor_lines.h). An answer is a line with the number of results, then these as float32; complex
// ones as their real and their imaginary parts. What throws has none.
#include "function_twin.h"

#include "tensor_lines.h"

namespace td = tidemark;

namespace {

/// As float32; what has two parts, as two.
std::vector<td::Tensor> as_floats(const std::vector<td::Tensor>& results) {
  std::vector<td::Tensor> out;
  for (const td::Tensor& one : results) {
    const auto add = [&](const td::Tensor& t) { out.push_back(td::cast(t, td::float32)); };
    if (!td::is_complex(one.dtype())) {
      add(one);
      continue;
    }
    add(td::math::real(one));
    add(td::math::imag(one));
  }
  return out;
}

}  // namespace

int main() try {
  const function_twin::Functions all = [] {
    function_twin::Functions out = function_twin::array_functions();
    out.merge(function_twin::loop_functions());
    out.merge(function_twin::math_functions());
    out.merge(function_twin::matrix_functions());
    out.merge(function_twin::signal_functions());
    out.merge(function_twin::nn_functions());
    out.merge(function_twin::image_functions());
    out.merge(function_twin::sparse_functions());
    out.merge(function_twin::file_functions());
    out.merge(function_twin::training_functions());
    return out;
  }();
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream question(line);
    std::string name;
    size_t count = 0;
    question >> name >> count;
    std::vector<td::Tensor> given;
    while (given.size() < count && std::getline(std::cin, line)) {
      given.push_back(tensor_lines::read_line(line));
    }
    try {
      const std::vector<td::Tensor> results = as_floats(all.at(name)(given));
      std::cout << results.size() << "\n";
      for (const td::Tensor& one : results) tensor_lines::write(one);
    } catch (const std::exception& error) {
      std::cerr << name << ": " << error.what() << "\n";
      std::cout << "0\n";
    }
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
