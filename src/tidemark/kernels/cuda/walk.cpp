#include "tidemark/kernels/cuda/walk.h"

#include <algorithm>

namespace tidemark::cuda {

namespace {

constexpr int64_t kMostSmall = 0x7fffffff;

/// Of a dense tensor broadcast to the space: 0 where it has one element for all.
std::vector<int64_t> strides_in(const Shape& shape, const Shape& space) {
  std::vector<int64_t> strides(static_cast<size_t>(space.rank()), 0);
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] != 1) strides[static_cast<size_t>(d + space.rank() - shape.rank())] = stride;
    stride *= shape[d];
  }
  return strides;
}

}  // namespace

Walk::Walk(const fusion::FusedProgram& program, std::span<const Shape> inputs) {
  const bool are_alike = !inputs.empty() && !program.has_rows() && !program.has_random() &&
                         std::all_of(inputs.begin(), inputs.end(),
                                     [&](const Shape& shape) { return shape == inputs[0]; });
  if (are_alike) {  // one loop over all elements, as what follows would find
    space = inputs[0];
    rows = count = space.num_elements();
    is_small = count <= kMostSmall;
    access.assign(inputs.size(), Access::dense);
    strides.resize(inputs.size());
    if (std::any_of(space.dims().begin(), space.dims().end(), [](int64_t d) { return d != 1; })) {
      sizes.push_back(count);
    }
    return;
  }
  std::vector<const Shape*> shapes;
  for (const Shape& shape : inputs) shapes.push_back(&shape);
  space = fusion::space_of(program, shapes);
  count = space.num_elements();
  is_small = count <= kMostSmall;
  const int row_dims =
      program.row_dims == fusion::FusedProgram::kAllDims ? space.rank() : program.row_dims;
  for (int d = 0; d < space.rank(); ++d) (d < space.rank() - row_dims ? rows : row) *= space[d];

  std::vector<std::vector<int64_t>> all;
  for (const Shape& shape : inputs) {
    all.push_back(strides_in(shape, space));
    access.push_back(shape == space              ? Access::dense
                     : shape.num_elements() == 1 ? Access::single
                                                 : Access::strided);
  }
  strides.resize(inputs.size());
  for (int d = 0; d < space.rank(); ++d) {
    if (space[d] == 1) continue;
    const auto at = static_cast<size_t>(d);
    bool joins = !sizes.empty();
    for (size_t i = 0; i < inputs.size() && joins; ++i) {
      joins = access[i] != Access::strided || strides[i].back() == all[i][at] * space[d];
    }
    if (joins) {
      sizes.back() *= space[d];
    } else {
      sizes.push_back(space[d]);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (access[i] != Access::strided) continue;
      if (joins) strides[i].pop_back();
      strides[i].push_back(all[i][at]);
    }
  }
}

void Walk::append_way(std::string& bytes) const {
  for (const Access a : access) bytes += static_cast<char>(a);
  bytes += static_cast<char>(sizes.size());
  bytes += static_cast<char>(is_small);
}

}  // namespace tidemark::cuda
