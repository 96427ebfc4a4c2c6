// Ops that put the elements of one tensor into another order, or surround them.

#include <tidemark/rows.h>

#include <algorithm>

#include "tidemark/ops/movement.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark {

namespace {

using namespace movement;

// --- transpose --------------------------------------------------------------------------------

/// perm with negative axes resolved; reversed dimensions when it is none. Throws unless each
/// dimension comes up once.
Ints permutation_of(const Attr& perm, int rank, std::string_view op) {
  Ints out;
  if (perm.is_none()) {
    for (int i = rank - 1; i >= 0; --i) out.push_back(i);
    return out;
  }
  if (static_cast<int>(perm.as_ints().size()) != rank) {
    fail("[", op, "] transpose expects a vector of size ", rank,
         ". But input(1) is a vector of size ", perm.as_ints().size(),
         ": perm names each dimension once");
  }
  bool seen[Shape::kMaxRank] = {};
  for (int64_t given : perm.as_ints()) {
    const int axis = normalize_axis(given, rank, "[transpose] perm");
    if (seen[axis]) fail("[", op, "] ", axis, " is missing or twice in perm ", perm.to_string());
    seen[axis] = true;
    out.push_back(axis);
  }
  return out;
}

void transpose_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  const Attr& attr = c.attr("perm");
  if (!in.has_rank()) {
    return c.set(0, attr.is_none()
                        ? in
                        : Shape::filled(static_cast<int>(attr.as_ints().size()), kUnknownDim));
  }
  const Ints perm = permutation_of(attr, in.rank(), c.op_name());
  Shape out;
  bool keeps_order = true;  // of all dimensions that are not 1
  int64_t last = -1;
  for (int64_t p : perm) {
    const int64_t size = in[static_cast<int>(p)];
    out.push_back(size);
    if (size == 1) continue;
    keeps_order &= p > last;
    last = p;
  }
  c.set(0, out);
  if (keeps_order && !(c.attr("conjugate").as_bool() && is_complex(c.dtype(0)))) {
    return c.alias(0, 0);
  }
  c.set_string_bytes(0, characters_of(c.input(0)));
}

void transpose_gradient(Grad& g) {
  const Attr& perm = g.attr("perm");
  const Attr& conjugate = g.attr("conjugate");
  if (perm.is_none()) {
    g.dx(0) = call("transpose", {g.dy()}, {{"conjugate", conjugate}});
    return;
  }
  const int rank = static_cast<int>(perm.as_ints().size());
  const Ints forward = permutation_of(perm, rank, "transpose");
  Ints back(forward.size());
  for (size_t i = 0; i < forward.size(); ++i) back[static_cast<size_t>(forward[i])] = int64_t(i);
  g.dx(0) = call("transpose", {g.dy()}, {{"perm", back}, {"conjugate", conjugate}});
}

// --- reverse and roll -------------------------------------------------------------------------

void reverse_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  c.set(0, in);
  c.set_string_bytes(0, characters_of(c.input(0)));
  if (!in.has_rank()) return;
  bool seen[Shape::kMaxRank] = {};
  for (int64_t given : c.attr("axis").as_ints()) {
    const int axis = normalize_axis(given, in.rank(), "[reverse] axis");
    if (seen[axis]) c.fail("axis ", axis, " specified more than once.");
    seen[axis] = true;
  }
}

void roll_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  c.set(0, in);
  c.set_string_bytes(0, characters_of(c.input(0)));
  const Ints& axes = c.attr("axis").as_ints();
  if (in.has_rank()) {
    if (in.rank() == 0) c.fail("input must be 1-D or higher");
    for (int64_t axis : axes) normalize_axis(axis, in.rank(), "[roll] axis");
  }
  const Shape& shift = c.shape(1);
  if (!shift.is_fully_known()) return;
  if (shift.rank() > 1 || shift.num_elements() != static_cast<int64_t>(axes.size())) {
    c.fail("shift and axis must have the same size; given shift of shape ", shift.to_brackets(),
           " and ", axes.size(), " axes");
  }
}

// --- pad --------------------------------------------------------------------------------------

void check_paddings_shape(const InferContext& c, int rank) {
  const Shape& s = c.shape(1);
  if (!s.is_fully_known() || (s.rank() == 2 && s[1] == 2 && s[0] == rank)) return;
  c.fail("paddings must be a matrix with 2 columns and one row for each of the ", rank,
         " dimensions of the input; given shape ", s.to_brackets());
}

/// How many elements the mode may take from a dimension of that size; -1: as many as wanted.
int64_t widest_mirror(const InferContext& c, int64_t size) {
  const std::string& mode = c.attr("mode").as_string();
  if (mode == "CONSTANT" || mode == "constant") return -1;
  if (mode == "SYMMETRIC" || mode == "symmetric") return size;
  if (mode == "REFLECT" || mode == "reflect") return size > 0 ? size - 1 : 0;
  c.fail("mode must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC'; given '", mode, "'");
}

/// The padded shape of `in`; `sign` -1 undoes the padding.
Shape padded_shape(const InferContext& c, const Shape& in, int64_t sign) {
  Shape out = in;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t before = int_at(c.input(1), 2 * i);
    const int64_t after = int_at(c.input(1), 2 * i + 1);
    if (before < 0 || after < 0) {
      c.fail("Paddings must be non-negative: ", before, " ", after, " for dimension ", i);
    }
    if (in[i] == kUnknownDim) continue;
    const int64_t added = checked_add(before, after, "the padding");
    out[i] = sign > 0 ? checked_add(in[i], added, "the padded dimension") : in[i] - added;
    if (out[i] < 0)
      c.fail("dimension ", i, " of size ", in[i], " is less than its padding ", added);
    const int64_t widest = widest_mirror(c, sign > 0 ? in[i] : out[i]);
    if (widest >= 0 && (before > widest || after > widest)) {
      c.fail("paddings must be no greater than ", widest, " for dimension ", i, " of size ",
             sign > 0 ? in[i] : out[i], " in mode ", c.attr("mode").to_string(), ": ", before, ", ",
             after, " given");
    }
  }
  return out;
}

void pad_rule(InferContext& c) {
  widest_mirror(c, 0);
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    return c.set(0, c.shape(1).is_fully_known() && c.shape(1).rank() == 2
                        ? Shape::filled(static_cast<int>(c.shape(1)[0]), kUnknownDim)
                        : Shape::unknown());
  }
  check_paddings_shape(c, in.rank());
  if (c.shape(2).is_fully_known() && c.shape(2).num_elements() != 1) {
    c.fail("constant_values must be a scalar; given shape ", c.shape(2).to_brackets());
  }
  if (!holds_values(c.input(1))) return c.set(0, Shape::filled(in.rank(), kUnknownDim));
  const Shape out = padded_shape(c, in, 1);
  c.set(0, out);
  if (!out.is_fully_known() || c.dtype(0) != DType::string) return;
  const int64_t longest = std::max(longest_string(c.input(0)), longest_string(c.input(2)));
  c.set_string_bytes(0, checked_multiply(longest, out.num_elements(), "characters"));
}

void pad_gradient(Grad& g) {
  if (g.attr("mode").as_string()[0] != 'C' && g.attr("mode").as_string()[0] != 'c') {
    g.dx(0) = call("mirror_pad_grad", {g.dy(), g.x(1)}, {{"mode", g.attr("mode")}});
    return;
  }
  const Tensor begin =
      call("strided_slice", {g.x(1), ints_tensor({0, 0}), ints_tensor({0, 0}), ints_tensor({1, 1})},
           {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
  g.dx(0) = call("slice", {g.dy(), begin, shape_tensor(g, 0)});
}

void mirror_pad_grad_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.set(0, in);
  check_paddings_shape(c, in.rank());
  if (!holds_values(c.input(1))) return c.set(0, Shape::filled(in.rank(), kUnknownDim));
  c.set(0, padded_shape(c, in, -1));
}

// --- reverse_sequence -------------------------------------------------------------------------

void reverse_sequence_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  c.set(0, in);
  c.set_string_bytes(0, characters_of(c.input(0)));
  if (!in.has_rank()) return;
  const Attr& batch_attr = c.attr("batch_axis");
  const int seq =
      normalize_axis(c.attr("seq_axis").as_int(), in.rank(), "[reverse_sequence] seq_axis");
  const int batch = normalize_axis(batch_attr.is_none() ? 0 : batch_attr.as_int(), in.rank(),
                                   "[reverse_sequence] batch_axis");
  if (seq == batch) c.fail("batch_dim == seq_dim == ", seq, "; they must differ");
  const Shape& lengths = c.shape(1);
  if (!lengths.is_fully_known() || in[batch] == kUnknownDim) return;
  if (lengths.rank() != 1 || lengths[0] != in[batch]) {
    c.fail("seq_lengths must be a vector of length ", in[batch], "; given shape ",
           lengths.to_brackets());
  }
}

std::optional<RowRule> transpose_rows(const RowQuestion& q) {
  const Attr& perm = q.attr("perm");
  const bool stays =
      perm.is_none() || perm.as_ints().empty() ? q.out().rank() == 1 : perm.as_ints()[0] == 0;
  return stays ? rows::first_input(q) : std::nullopt;
}

std::optional<RowRule> pad_rows(const RowQuestion& q) {
  const auto paddings = q.known(1);
  if (!paddings || paddings->size() < 2) return std::nullopt;
  return (*paddings)[0] == 0 && (*paddings)[1] == 0 ? rows::first_input(q) : std::nullopt;
}

}  // namespace

TIDEMARK_OP(transpose)
    .doc(
        "Dimension i of the result is dimension perm[i] of the input; all reversed without perm. "
        "A view where only dimensions of size 1 move.")
    .python("tf.transpose")
    .tensorflow("Transpose", "a perm", {}, "transpose")
    .onnx("Transpose", "a", "perm")
    .input("a", kAny)
    .optional_attr("perm", AttrKind::ints)
    .attr("conjugate", AttrKind::boolean, false)
    .output("output", like("a"))
    .shape(transpose_rule)
    .cheap()
    .rows(transpose_rows)
    .gradient(transpose_gradient);

TIDEMARK_OP(reverse)
    .doc("The elements in reverse order along each dimension in `axis`.")
    .python("tf.reverse")
    .tensorflow("ReverseV2", "tensor axis")
    .input("tensor", kAny)
    .attr("axis", AttrKind::ints)
    .output("output", like("tensor"))
    .shape(reverse_rule)
    .rows(rows::along_axis)
    .gradient([](Grad& g) {
      g.dx(0) = call("reverse", {g.dy()}, {{"axis", g.attr("axis")}});
    });

TIDEMARK_OP(roll)
    .doc(
        "The elements moved by `shift` places along each dimension in `axis`; what leaves at one "
        "end comes in at the other.")
    .python("tf.roll")
    .tensorflow("Roll", "input shift axis")
    .input("input", kAny)
    .input("shift", kIndex, 'I')
    .attr("axis", AttrKind::ints)
    .output("output", like("input"))
    .shape(roll_rule)
    .on_host(1)
    .rows(rows::along_axis)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("roll", {g.dy(), -g.x(1)}, {{"axis", g.attr("axis")}});
        },
        keep_x(1));

TIDEMARK_OP(pad)
    .doc(
        "The tensor surrounded by paddings[i] = [before, after] elements along dimension i: "
        "`constant_values`, or by mode REFLECT or SYMMETRIC the elements mirrored.")
    .input("tensor", kAny)
    .input("paddings", kIndex, 'I')
    .attr("mode", AttrKind::string, "CONSTANT")
    .input("constant_values", kAny)
    .output("output", like("tensor"))
    .shape(pad_rule)
    .on_host(1)
    .cheap()
    .rows(pad_rows)
    .gradient(pad_gradient, keep_x(1));

TIDEMARK_OP(mirror_pad_grad)
    .doc("The gradient of a mirroring pad: each element's sum over its mirror images.")
    .input("input", kNumeric)
    .input("paddings", kIndex, 'I')
    .attr("mode", AttrKind::string, "REFLECT")
    .output("output", like("input"))
    .shape(mirror_pad_grad_rule)
    .on_host(1)
    .rows(pad_rows)
    .gradient(
        [](Grad& g) {
          g.dx(0) =
              call("pad", {g.dy(), g.x(1), zero_of(g.dy().dtype())}, {{"mode", g.attr("mode")}});
        },
        keep_x(1));

TIDEMARK_OP(reverse_sequence)
    .doc("The first seq_lengths[b] elements of batch entry b reversed along seq_axis.")
    .python("tf.reverse_sequence")
    .tensorflow("ReverseSequence", {}, "seq_dim=seq_axis batch_dim=batch_axis")
    .input("input", kAny)
    .input("seq_lengths", kIndex, 'I')
    .attr("seq_axis", AttrKind::integer)
    .optional_attr("batch_axis", AttrKind::integer)
    .output("output", like("input"))
    .may_fail()
    .shape(reverse_sequence_rule)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("reverse_sequence", {g.dy(), g.x(1)},
                         {{"seq_axis", g.attr("seq_axis")}, {"batch_axis", g.attr("batch_axis")}});
        },
        keep_x(1));

}  // namespace tidemark
