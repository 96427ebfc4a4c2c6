// How a reduction walks memory.
//
//   ReducePlan plan(shape, reduced_axes);   // (8, 100, 64) over axis 1
//   plan.columns();                         // true: 64 neighbouring results at a time
//
// Neighbouring dimensions that are all kept or all reduced are one. If the innermost of what is
// left is reduced, each result reads rows of contiguous elements; if it is kept, rows add up
// element by element into as many neighbouring results.
#pragma once

#include <tidemark/op.h>

namespace tidemark::cpu {

/// Loop nest over some of the dimensions, outermost first.
struct LoopNest {
  static constexpr int kMaxDims = 32;
  int dims = 0;
  int64_t size[kMaxDims];
  int64_t stride[kMaxDims];  // in elements
  int64_t count = 1;         // product of the sizes

  void push(int64_t dim_size, int64_t dim_stride);
  /// Offset of the flat index.
  int64_t offset(int64_t flat) const;
  /// Indices from `flat` on that lie at equal distances `step()`, at least 1 unless at the end.
  int64_t run_from(int64_t flat) const;
  int64_t step() const { return dims ? stride[dims - 1] : 0; }
};

class ReducePlan {
 public:
  /// `reduced` has one flag a dimension. `trailing` adds an innermost dimension (2 for the parts
  /// of complex numbers), kept or reduced.
  ReducePlan(const Shape& shape, const bool* reduced, int64_t trailing = 1,
             bool trailing_reduced = false);
  /// Of a reduction call: input 0 over the attribute "axis".
  static ReducePlan of_call(const OpCall& call, int64_t trailing = 1,
                            bool trailing_reduced = false);

  bool columns() const { return inner_kept_; }
  int64_t inner() const { return inner_; }
  const LoopNest& kept() const { return kept_; }        // without the inner dimension
  const LoopNest& reduced() const { return reduced_; }  // without the inner dimension
  int64_t outputs() const { return kept_.count * (inner_kept_ ? inner_ : 1); }
  int64_t elements_per_output() const { return reduced_.count * (inner_kept_ ? 1 : inner_); }
  int64_t elements() const { return outputs() * elements_per_output(); }

 private:
  LoopNest kept_, reduced_;
  bool inner_kept_ = false;
  int64_t inner_ = 1;
};

/// The axes of a reduction as flags, one a dimension. Throws InvalidArgumentError for an axis out
/// of range or given twice. No axes: all.
void reduced_flags(const OpCall& call, bool* flags);

}  // namespace tidemark::cpu
