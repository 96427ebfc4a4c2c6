// How an op runs on a part of the rows, said in its definition: `.rows(rows::first_input)`, or by a
// rule of its own.
//
//   TIDEMARK_OP(row_lengths)
//       …
//       .rows([](const RowQuestion& q) -> std::optional<RowRule> {
//         if (q.in(0).rank() < 2) return std::nullopt;  // needs all rows at once
//         return q.rows({RowRole::rows});               // each row of the output from one of x
//       });
//
// Rows are the parts of the leading dimension. A graph that is too large for its budget runs such
// ops on some rows after the others.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

enum class RowRole : uint8_t {
  whole,  ///< every part needs all of it
  rows,   ///< a part needs its own rows
  sizes,  ///< the shape of the only output, as integers: a part has fewer rows
};

/// How an output of the whole comes out of those of the parts.
enum class RowResult : uint8_t {
  rows,     ///< one behind the other
  sum,      ///< added up: equal to the whole but for rounding
  mean,     ///< added up, each weighted by its rows
  maximum,  ///< the greater of them, element by element
  minimum,
};

struct RowRule {
  std::vector<RowRole> inputs;
  std::vector<RowResult> outputs;
};

/// A call whose sizes are all known.
class TIDEMARK_API RowQuestion {
 public:
  RowQuestion(const OpCall& call, std::span<const Shape> outputs)
      : call_(call), outputs_(outputs) {}

  const OpCall& call() const { return call_; }
  size_t num_inputs() const { return call_.inputs.size(); }
  const Shape& in(size_t i) const { return call_.inputs[i].shape(); }
  const Shape& out(size_t i = 0) const { return outputs_[i]; }
  std::span<const Shape> outputs() const { return outputs_; }
  const Attr& attr(std::string_view name) const { return call_.attr(name); }
  bool flag(std::string_view name) const { return attr(name).as_bool(); }
  DType dtype(size_t i = 0) const { return call_.inputs[i].dtype(); }
  /// The elements, where they are known while planning.
  std::optional<Ints> known(size_t i) const;

  /// Of the first output.
  int64_t num_rows() const { return out().rank() > 0 ? out()[0] : 0; }
  bool has_rows(const Shape& s) const { return s.rank() > 0 && s[0] == num_rows(); }
  /// Takes part in the broadcasting to the first output: its rows, or the same for all rows.
  RowRole broadcast(size_t i) const {
    return in(i).rank() == out().rank() && has_rows(in(i)) ? RowRole::rows : RowRole::whole;
  }
  /// All outputs are rows, as many as the first has; so are the inputs that are said to be. None
  /// where the sizes say otherwise.
  std::optional<RowRule> rows(std::vector<RowRole> inputs) const;
  /// Whether the attribute, none (all of them, or what the op says), a number or a list, names the
  /// first of `rank` dimensions.
  bool names_first(std::string_view axis, int rank) const;
  /// Sums over rows may be made of sums over parts: only where those round little.
  bool can_add(size_t input = 0) const;

 private:
  const OpCall& call_;
  std::span<const Shape> outputs_;
};

/// The treatments that many ops share.
namespace rows {

using Answer = std::optional<RowRule>;

/// Inputs broadcast together.
TIDEMARK_API Answer elementwise(const RowQuestion& q);
TIDEMARK_API Answer every_input(const RowQuestion& q);
/// Of the others every part needs all.
TIDEMARK_API Answer first_input(const RowQuestion& q);
/// The last dimension is worked on as a whole: rows are those of a matrix, or more.
TIDEMARK_API Answer first_input_of_matrices(const RowQuestion& q);
TIDEMARK_API Answer every_input_of_matrices(const RowQuestion& q);
/// Along the attribute `axis` of the first input, on it and all inputs of its shape.
TIDEMARK_API Answer along_axis(const RowQuestion& q);
/// As along_axis, with the axis one of the output.
TIDEMARK_API Answer along_axis_of_output(const RowQuestion& q);
/// Over the attribute `axis`, by the op's kind of reduction.
TIDEMARK_API Answer reduction(const RowQuestion& q);

}  // namespace rows

}  // namespace tidemark
