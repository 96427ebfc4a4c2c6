#include "tidemark/kernels/cpu/fusion/geometry.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::fusion {

namespace {

bool is_loaded(const FusedProgram& p, int input) {
  return std::any_of(p.code.begin(), p.code.end(), [&](const Instruction& i) {
    return i.code == Code::load && i.input == input;
  });
}

}  // namespace

Geometry::Geometry(const FusedProgram& program, std::span<const Shape* const> inputs) {
  const Shape space = space_of(program, inputs);
  const int reduced = program.row_dims == FusedProgram::kAllDims ? space.rank() : program.row_dims;
  if (reduced > space.rank()) {
    fail<InternalError>("a fused program reduces ", reduced, " dimensions of ", space);
  }
  const int count = static_cast<int>(inputs.size());
  int64_t stride[kMaxInputs][kMaxDims];
  int64_t dense[kMaxInputs];
  bool loaded[kMaxInputs];
  for (int k = 0; k < count; ++k) {
    dense[k] = 1;
    loaded[k] = is_loaded(program, k);
  }
  // From the last dimension to the first; reversed at the end.
  for (int d = space.rank() - 1; d >= 0; --d) {
    const bool is_inner = d >= space.rank() - reduced;
    (is_inner || !program.has_rows() ? cols : rows) *= space[d];
    if (space[d] == 1) continue;
    int64_t step[kMaxInputs] = {};
    bool joins = rank > 0 && is_inner == (rank <= inner);
    for (int k = 0; k < count; ++k) {
      if (!loaded[k]) continue;
      const Shape& shape = *inputs[static_cast<size_t>(k)];
      const int own = d - (space.rank() - shape.rank());
      const int64_t n = own < 0 ? 1 : shape[own];
      step[k] = n == 1 ? 0 : dense[k];
      dense[k] *= n;
      if (joins) {
        const int64_t last = stride[k][rank - 1];
        joins = step[k] == last * size[rank - 1] && (step[k] != 0 || last == 0);
      }
    }
    if (joins) {
      size[rank - 1] *= space[d];
      continue;
    }
    if (rank == kMaxDims) fail<InternalError>("a fused program over too many dimensions");
    size[rank] = space[d];
    for (int k = 0; k < count; ++k) stride[k][rank] = step[k];
    ++rank;
    if (is_inner) ++inner;
  }
  std::reverse(size, size + rank);
  for (int k = 0; k < count; ++k) {
    std::reverse_copy(stride[k], stride[k] + rank, std::back_inserter(strides_));
  }
}

Geometry::Walk Geometry::walk(int input, int dims) const {
  if (dims == 0) return Walk::scalar;
  const int64_t* stride = strides(input);
  if (std::all_of(stride + rank - dims, stride + rank, [](int64_t step) { return step == 0; }))
    return Walk::scalar;
  int64_t dense = 1;
  for (int d = rank - 1; d >= rank - dims; --d) {
    if (stride[d] != dense) return Walk::other;
    dense *= size[d];
  }
  return Walk::dense;
}

int64_t Geometry::offset(int input, int64_t index, int dims) const {
  const int64_t* stride = strides(input);
  int64_t at = 0;
  for (int d = dims - 1; d >= 0; --d) {
    at += index % size[d] * stride[d];
    index /= size[d];
  }
  return at;
}

void Geometry::expand(int input, const char* from, int64_t start, int64_t n, size_t bytes,
                      char* out) const {
  if (n == 0) return;  // a row without elements
  const auto item = static_cast<int64_t>(bytes);
  if (rank == 0) return cpu::blocks().fill(out, from, item, n);
  const int last = rank - 1;
  const int64_t* stride = strides(input);
  int64_t index[kMaxDims];
  int64_t rest = start;
  int64_t at = 0;
  for (int d = last; d >= 0; --d) {
    index[d] = rest % size[d];
    rest /= size[d];
    at += index[d] * stride[d];
  }
  const bool steps = stride[last] != 0;
  while (n > 0) {
    const int64_t run = std::min(n, size[last] - index[last]);
    if (steps) {
      std::memcpy(out, from + at * item, static_cast<size_t>(run * item));
    } else {
      cpu::blocks().fill(out, from + at * item, item, run);
    }
    out += run * item;
    n -= run;
    at += (run - 1) * stride[last];
    index[last] += run - 1;
    for (int d = last; d >= 0; --d) {
      at += stride[d];
      if (++index[d] < size[d]) break;
      at -= size[d] * stride[d];
      index[d] = 0;
    }
  }
}

}  // namespace tidemark::fusion
