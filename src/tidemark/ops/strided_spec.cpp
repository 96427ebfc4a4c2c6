#include "tidemark/ops/strided_spec.h"

#include <algorithm>
#include <bit>

#include "tidemark/ops/movement.h"

namespace tidemark::movement {

namespace {

bool has_bit(int64_t mask, int64_t i) { return i < 63 && ((mask >> i) & 1); }

/// One range along one dimension. `open` says that begin or end was left out.
struct Range {
  int64_t begin, end, stride;
  bool begin_open, end_open;
};

/// Where a bound lies, clamped as Python does.
int64_t clamp_bound(int64_t bound, int64_t size, int64_t stride) {
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? size : size - 1;
  if (bound < 0) bound += size;
  return std::clamp(bound, lowest, highest);
}

StridedSpec::Dim resolve_range(const Range& r, int64_t size) {
  if (size == kUnknownDim) {
    const bool whole = r.begin_open && r.end_open && r.stride == 1;
    return {0, whole ? 1 : r.stride, kUnknownDim};
  }
  const int64_t first = r.stride > 0 ? 0 : size - 1;
  const int64_t past = r.stride > 0 ? size : -1;
  const int64_t begin = r.begin_open ? first : clamp_bound(r.begin, size, r.stride);
  const int64_t end = r.end_open ? past : clamp_bound(r.end, size, r.stride);
  const int64_t length = end - begin;
  if (length == 0 || (length < 0) != (r.stride < 0)) return {0, r.stride, 0};
  return {begin, r.stride, length / r.stride + (length % r.stride != 0)};
}

/// Walks the given entries and the input's dimensions side by side.
class Resolver {
 public:
  Resolver(StridedSpec& spec, std::string_view op, const Shape& input, const SliceMasks& masks,
           int64_t entries)
      : spec_(spec), op_(op), input_(input), masks_(masks), entries_(entries) {
    spec_.rank = input.rank();
    spec_.out_rank = 0;
  }

  void whole_dim() {
    spec_.dims[dim_] = {0, 1, input_[dim_]};
    push(input_[dim_++]);
  }
  void new_axis() { push(1); }
  /// The ellipsis stands for all dimensions that the entries after it leave over.
  void ellipsis(int64_t entry) {
    int64_t after = 0;
    for (int64_t i = entry + 1; i < entries_; ++i) after += !has_bit(masks_.new_axis, i);
    while (dim_ < input_.rank() - after) whole_dim();
  }
  void rest() {
    while (dim_ < input_.rank()) whole_dim();
  }
  void unknown_range(bool shrink) {
    check_dim();
    spec_.dims[dim_++] = {0, 1, kUnknownDim};
    if (!shrink) push(kUnknownDim);
  }
  void range(int64_t entry, const Range& r) {
    check_dim();
    if (r.stride == 0) fail("[", op_, "] strides[", entry, "] must be non-zero");
    spec_.dims[dim_] = resolve_range(r, input_[dim_]);
    push(spec_.dims[dim_++].size);
  }
  void index(int64_t entry, int64_t begin, int64_t stride) {
    check_dim();
    if (stride <= 0) {
      fail("[", op_, "] only stride 1 allowed on non-range indexing; strides[", entry, "] is ",
           stride);
    }
    const int64_t size = input_[dim_];
    if (size != kUnknownDim && (begin < -size || begin >= size)) {
      fail("[", op_, "] slice index ", begin, " of dimension ", dim_,
           " out of bounds; allowed is [", -size, ", ", size, ")");
    }
    spec_.dims[dim_++] = {begin < 0 && size != kUnknownDim ? begin + size : begin, 1, 1};
  }

 private:
  void check_dim() const {
    if (dim_ < input_.rank()) return;
    fail("[", op_, "] Index out of range using input dim ", dim_, "; input has only ",
         input_.rank(), " dims (shape ", input_, ")");
  }
  void push(int64_t size) {
    if (spec_.out_rank == Shape::kMaxRank) {
      fail("[", op_, "] the result would have more than ", Shape::kMaxRank, " dimensions");
    }
    spec_.out[spec_.out_rank++] = size;
  }

  StridedSpec& spec_;
  std::string_view op_;
  const Shape& input_;
  const SliceMasks& masks_;
  int64_t entries_;
  int dim_ = 0;
};

int64_t count_entries(std::string_view op, const Tensor& begin, const Tensor& end,
                      const Tensor& strides) {
  const bool same =
      begin.rank() == 1 && begin.shape() == end.shape() && begin.shape() == strides.shape();
  if (!same) {
    fail("[", op, "] Expected begin, end, and strides to be 1D equal size tensors, but got shapes ",
         begin.shape().to_brackets(), ", ", end.shape().to_brackets(), ", and ",
         strides.shape().to_brackets(), " instead");
  }
  return begin.dim(0);
}

}  // namespace

SliceMasks SliceMasks::of(const OpCall& call) {
  return {call.attr("begin_mask").as_int(), call.attr("end_mask").as_int(),
          call.attr("ellipsis_mask").as_int(), call.attr("new_axis_mask").as_int(),
          call.attr("shrink_axis_mask").as_int()};
}

bool StridedSpec::is_contiguous(const Shape& input, int64_t& offset) const {
  offset = 0;
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    offset += dims[i].begin * step;
    step *= input[i];
  }
  int first = 0;
  while (first < rank && dims[first].size == 1) ++first;
  if (first < rank && dims[first].stride != 1) return false;
  for (int i = first + 1; i < rank; ++i) {
    if (dims[i].stride != 1 || dims[i].size != input[i]) return false;
  }
  return true;
}

void resolve_strided_slice(StridedSpec& spec, std::string_view op, const Shape& input,
                           const Tensor& begin, const Tensor& end, const Tensor& strides,
                           const SliceMasks& masks) {
  const int64_t entries = count_entries(op, begin, end, strides);
  if (std::popcount(static_cast<uint64_t>(masks.ellipsis)) > 1) {
    fail("[", op, "] Multiple ellipses in slice spec not allowed (ellipsis_mask ", masks.ellipsis,
         ")");
  }
  const bool known = holds_values(begin) && holds_values(end) && holds_values(strides);
  Resolver resolver(spec, op, input, masks, entries);
  for (int64_t i = 0; i < entries; ++i) {
    if (has_bit(masks.ellipsis, i)) {
      resolver.ellipsis(i);
    } else if (has_bit(masks.new_axis, i)) {
      resolver.new_axis();
    } else if (!known) {
      resolver.unknown_range(has_bit(masks.shrink_axis, i));
    } else if (has_bit(masks.shrink_axis, i)) {
      resolver.index(i, int_at(begin, i), int_at(strides, i));
    } else {
      resolver.range(i, {int_at(begin, i), int_at(end, i), int_at(strides, i),
                         has_bit(masks.begin, i), has_bit(masks.end, i)});
    }
  }
  resolver.rest();
}

}  // namespace tidemark::movement
