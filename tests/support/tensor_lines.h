// Tensors as lines of text, between test programs and the Python tests that start them: the dtype
// (read, not written), the rank, the sizes, the elements.
#pragma once

#include <tidemark/tidemark.h>

#include <iomanip>
#include <iostream>
#include <sstream>
#include <vector>

namespace tensor_lines {

template <class T>
tidemark::Tensor read_values(std::istream& in, const tidemark::Shape& shape) {
  std::vector<T> values(static_cast<size_t>(shape.num_elements()));
  for (T& value : values) in >> value;
  return tidemark::Tensor::of(std::span<const T>(values), shape);
}

inline tidemark::Tensor read_line(const std::string& line) {
  std::istringstream in(line);
  std::string dtype;
  int rank = 0;
  in >> dtype >> rank;
  tidemark::Shape shape;
  for (int64_t size; rank > 0 && in >> size; --rank) shape.push_back(size);
  return dtype == "int32" ? read_values<int32_t>(in, shape) : read_values<float>(in, shape);
}

inline std::vector<tidemark::Tensor> read_all(std::istream& from) {
  std::vector<tidemark::Tensor> out;
  for (std::string line; std::getline(from, line);) out.push_back(read_line(line));
  return out;
}

inline void write(const tidemark::Tensor& t) {
  std::cout << t.rank();
  for (const int64_t size : t.shape()) std::cout << " " << size;
  for (const float value : t.values<float>()) std::cout << " " << std::setprecision(9) << value;
  std::cout << "\n";
}

}  // namespace tensor_lines
