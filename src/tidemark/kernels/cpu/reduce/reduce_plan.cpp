#include "tidemark/kernels/cpu/reduce/reduce_plan.h"

#include "tidemark/ops/axes.h"

namespace tidemark::cpu {

namespace {
[[noreturn]] void fail_too_many_groups() {
  fail<UnimplementedError>("a reduction can switch between kept and reduced dimensions at most ",
                           2 * LoopNest::kMaxDims, " times; transpose or reshape the tensor first");
}
}  // namespace

void LoopNest::push(int64_t dim_size, int64_t dim_stride) {
  if (dims == kMaxDims) fail_too_many_groups();
  size[dims] = dim_size;
  stride[dims] = dim_stride;
  count *= dim_size;
  ++dims;
}

int64_t LoopNest::offset(int64_t flat) const {
  int64_t offset = 0;
  for (int d = dims - 1; d >= 0; --d) {
    offset += flat % size[d] * stride[d];
    flat /= size[d];
  }
  return offset;
}

int64_t LoopNest::run_from(int64_t flat) const {
  return dims ? size[dims - 1] - flat % size[dims - 1] : 1;
}

ReducePlan::ReducePlan(const Shape& shape, const bool* reduced, int64_t trailing,
                       bool trailing_reduced) {
  // Groups of neighbouring dimensions of one kind, innermost first.
  int64_t stride = 1, group_stride = 1, size = 1;
  bool kind = false, first = true, started = false;
  struct Group {
    int64_t size, stride;
    bool reduced;
  };
  Group groups[2 * LoopNest::kMaxDims];
  int count = 0;
  const auto close = [&] {
    if (!started) return;
    if (first) {
      inner_ = size;
      inner_kept_ = !kind;
      first = false;
      return;
    }
    if (count == 2 * LoopNest::kMaxDims) fail_too_many_groups();
    groups[count++] = {size, group_stride, kind};
  };
  const auto take = [&](int64_t dim, bool dim_reduced) {
    if (dim == 1) return;
    if (started && dim_reduced != kind) {
      close();
      size = 1;
      group_stride = stride;
    }
    started = true;
    kind = dim_reduced;
    size *= dim;
    stride *= dim == 0 ? 1 : dim;
  };
  take(trailing, trailing_reduced);
  for (int d = shape.rank() - 1; d >= 0; --d) take(shape[d], reduced[d]);
  close();
  for (int g = count - 1; g >= 0; --g) {
    LoopNest& nest = groups[g].reduced ? reduced_ : kept_;
    nest.push(groups[g].size, groups[g].stride);
  }
}

void reduced_flags(const OpCall& call, bool* flags) {
  mark_axes(call.op.name(), call.attr("axis"), call.inputs[0].rank(), flags);
}

ReducePlan ReducePlan::of_call(const OpCall& call, int64_t trailing, bool trailing_reduced) {
  bool flags[Shape::kMaxRank];
  reduced_flags(call, flags);
  return ReducePlan(call.inputs[0].shape(), flags, trailing, trailing_reduced);
}

}  // namespace tidemark::cpu
