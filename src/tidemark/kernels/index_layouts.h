// How indices address slices: shared by the kernels of gather and scatter of all devices.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

/// gather as loops: out[b, o, n, inner] = params[b, o, indices[b, n], inner].
struct GatherLayout {
  int64_t batch = 1, outer = 1, limit = 1, inner = 1, count = 1;

  GatherLayout(const Shape& params, const Shape& indices, const Attr& axis_attr,
               int64_t batch_dims) {
    const int dims = static_cast<int>(batch_dims < 0 ? batch_dims + indices.rank() : batch_dims);
    const int axis = normalize_axis(axis_attr.is_none() ? dims : axis_attr.as_int(), params.rank());
    for (int i = 0; i < dims; ++i) batch *= params[i];
    for (int i = dims; i < axis; ++i) outer *= params[i];
    limit = params[axis];
    for (int i = axis + 1; i < params.rank(); ++i) inner *= params[i];
    for (int i = dims; i < indices.rank(); ++i) count *= indices[i];
  }
};

/// gather_nd and its inverses: the last dimension of the indices is a position in the leading
/// dimensions (after `batch_dims` walked together) of the addressed tensor.
struct PointLayout {
  int depth = 0;           // numbers in one position
  int64_t batch = 1;       // positions of one batch entry follow each other
  int64_t per_batch = 1;   // positions in one batch entry
  int64_t count = 1;       // positions in all
  int64_t inner = 1;       // elements of the slice at a position
  int64_t batch_rows = 1;  // slices in one batch entry
  int64_t size[Shape::kMaxRank];
  int64_t step[Shape::kMaxRank];  // in slices

  PointLayout(const Shape& addressed, const Shape& indices, int batch_dims) {
    depth = static_cast<int>(indices.dim(-1));
    for (int i = 0; i < batch_dims; ++i) batch *= indices[i];
    for (int i = batch_dims; i < indices.rank() - 1; ++i) per_batch *= indices[i];
    count = batch * per_batch;
    for (int i = batch_dims + depth; i < addressed.rank(); ++i) inner *= addressed[i];
    for (int i = depth - 1; i >= 0; --i) {
      size[i] = addressed[batch_dims + i];
      step[i] = batch_rows;
      batch_rows *= size[i];
    }
  }

  template <class I>
  bool is_inside(const I* indices, int64_t point) const {
    const I* p = indices + point * depth;
    bool good = true;
    for (int i = 0; i < depth; ++i) {
      good &= static_cast<uint64_t>(int64_t{p[i]}) < static_cast<uint64_t>(size[i]);
    }
    return good;
  }
  /// The number of the slice a position names.
  template <class I>
  int64_t row(const I* indices, int64_t point) const {
    const I* p = indices + point * depth;
    int64_t result = per_batch == count ? 0 : point / per_batch * batch_rows;
    for (int i = 0; i < depth; ++i) result += p[i] * step[i];
    return result;
  }
};

}  // namespace tidemark
