// Ops that change or tell a shape. All but the telling ones are views: no kernel, no copy.

#include <tidemark/rows.h>

#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

/// Replaces the -1 in `dims` by what is left of `count` elements.
void infer_missing_size(const InferContext& c, Shape& dims, int missing, int64_t count) {
  int64_t known = 1;
  for (int i = 0; i < dims.rank(); ++i) {
    if (i != missing) known = checked_multiply(known, dims[i], "the requested number of elements");
  }
  if (known == 0) {
    c.fail(
        "reshape cannot infer the missing input size for an empty tensor unless all specified "
        "input sizes are non-zero; requested ",
        dims.to_brackets());
  }
  if (count % known != 0) {
    c.fail("Input to reshape is a tensor with ", count,
           " values, but the requested shape requires a multiple of ", known);
  }
  dims[missing] = count / known;
}

void reshape_rule(InferContext& c) {
  c.alias(0, 0);
  check_vector(c, 1);
  if (!holds_values(c.input(1))) return c.set(0, unknown_dims_of(c, 1));
  Shape dims{std::span<const int64_t>(c.ints(1))};
  int missing = -1;
  for (int i = 0; i < dims.rank(); ++i) {
    if (dims[i] == -1 && missing >= 0) {
      c.fail("Only one input size may be -1, not both ", missing, " and ", i);
    }
    if (dims[i] < -1) c.fail("Size ", i, " must be non-negative, not ", dims[i]);
    if (dims[i] == -1) missing = i;
  }
  if (!c.shape(0).is_fully_known()) return c.set(0, dims);
  const int64_t count = c.shape(0).num_elements();
  if (missing >= 0) infer_missing_size(c, dims, missing, count);
  if (dims.num_elements() != count) {
    c.fail("Input to reshape is a tensor with ", count, " values, but the requested shape has ",
           dims.num_elements());
  }
  c.set(0, dims);
}

void expand_dims_rule(InferContext& c) {
  c.alias(0, 0);
  if (!c.shape(0).has_rank()) return c.set(0, Shape::unknown());
  const int64_t axis = c.attr("axis").as_int();
  const int rank = c.shape(0).rank();
  if (axis < -rank - 1 || axis > rank) {
    c.fail("Tried to expand dim index ", axis, " for tensor with ", rank,
           " dimensions; allowed is [", -rank - 1, ", ", rank, "]");
  }
  Shape out = c.shape(0);
  out.insert(static_cast<int>(axis < 0 ? axis + rank + 1 : axis), 1);
  c.set(0, std::move(out));
}

void squeeze_rule(InferContext& c) {
  c.alias(0, 0);
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.set(0, Shape::unknown());
  const Attr& axis = c.attr("axis");
  const bool all = axis.is_none() || axis.as_ints().empty();
  bool drop[Shape::kMaxRank] = {};
  for (int i = 0; all && i < in.rank(); ++i) {
    if (in[i] == kUnknownDim) return c.set(0, Shape::unknown());
    drop[i] = in[i] == 1;
  }
  for (size_t i = 0; !all && i < axis.as_ints().size(); ++i) {
    const int d = normalize_axis(axis.as_ints()[i], in.rank(), "[squeeze] axis");
    if (in[d] != 1 && in[d] != kUnknownDim) {
      c.fail("Can not squeeze dim[", d, "], expected a dimension of 1, got ", in[d]);
    }
    drop[d] = true;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!drop[i]) out.push_back(in[i]);
  }
  c.set(0, std::move(out));
}

void reshape_back(Grad& g) { g.dx(0) = call("reshape", {g.dy(), shape_tensor(g, 0)}); }

void broadcast_to_rule(InferContext& c) {
  check_vector(c, 1);
  if (!holds_values(c.input(1))) return c.set(0, unknown_dims_of(c, 1));
  const Shape out = read_shape(c, 1);
  c.set(0, out);
  if (!c.shape(0).has_rank()) return;
  const Shape& in = c.shape(0);
  bool fits = in.rank() <= out.rank();
  for (int i = 1; fits && i <= in.rank(); ++i) {
    fits = in.dim(-i) == out.dim(-i) || in.dim(-i) == 1 || in.dim(-i) == kUnknownDim;
  }
  if (!fits) {
    c.fail("Incompatible shapes: ", in.to_brackets(), " does not broadcast to ", out.to_brackets(),
           "; counted from the last, sizes must be equal or 1");
  }
  if (!in.is_fully_known()) return;
  if (in.num_elements() == out.num_elements()) return c.alias(0, 0);
  const int64_t copies = in.num_elements() ? out.num_elements() / in.num_elements() : 0;
  c.set_string_bytes(0, checked_multiply(characters_of(c.input(0)), copies, "characters"));
}

void ensure_shape_rule(InferContext& c) {
  const Shape wanted(c.attr("shape").as_ints());
  const Shape& given = c.shape(0);
  Shape both = wanted;
  bool fits = given.rank() == wanted.rank();
  for (int i = 0; fits && i < wanted.rank(); ++i) {
    fits = wanted[i] < 0 || wanted[i] == given[i];
    if (wanted[i] < 0) both[i] = given[i];
  }
  // Before the run the shape asked for holds, whatever was supposed of the input.
  if (!holds_values(c.input(0))) return c.set(0, fits ? both : wanted);
  if (!fits) {
    c.fail("Shape of tensor input ", given.to_brackets(), " is not compatible with expected shape ",
           wanted.to_brackets(), ".");
  }
  c.set(0, given);
  c.alias(0, 0);
}

/// Elements keep their order, so rows of one shape are rows of the other as far as units go.
std::optional<RowRule> reshape_rows(const RowQuestion& q) {
  if (q.in(0).rank() == 0 || q.in(0).num_elements() == 0) return std::nullopt;
  return RowRule{{RowRole::rows, RowRole::sizes}, {RowResult::rows}};
}

/// Without axes a part of a single row would lose that dimension too.
std::optional<RowRule> squeeze_rows(const RowQuestion& q) {
  const Attr& axis = q.attr("axis");
  if (axis.is_none() || axis.as_ints().empty()) return std::nullopt;
  return q.names_first("axis", q.in(0).rank()) ? std::nullopt : rows::first_input(q);
}

}  // namespace

TIDEMARK_OP(reshape)
    .doc("The same elements under another shape. One size may be -1: it is computed. A view.")
    .python("tf.reshape")
    .tensorflow("Reshape")
    .input("tensor", kAny)
    .input("shape", kIndex, 'I')
    .output("output", like("tensor"))
    .shape(reshape_rule)
    .on_host(1)
    .reshapes()
    .rows(reshape_rows)
    .gradient(reshape_back);

TIDEMARK_OP(expand_dims)
    .doc("Inserts a dimension of size 1 at `axis`. A view.")
    .python("tf.expand_dims")
    .tensorflow("ExpandDims", "input axis")
    .input("input", kAny)
    .attr("axis", AttrKind::integer)
    .output("output", like("input"))
    .shape(expand_dims_rule)
    .reshapes()
    .rows(rows::along_axis_of_output)
    .gradient(reshape_back);

TIDEMARK_OP(squeeze)
    .doc("Removes the dimensions of size 1, or only those in `axis`. A view.")
    .python("tf.squeeze")
    .tensorflow("Squeeze", {}, "squeeze_dims=axis")
    .input("input", kAny)
    .optional_attr("axis", AttrKind::ints)
    .output("output", like("input"))
    .shape(squeeze_rule)
    .reshapes()
    .rows(squeeze_rows)
    .gradient(reshape_back);

TIDEMARK_OP(shape)
    .doc("The shape of a tensor as a one-dimensional tensor.")
    .python("tf.shape")
    .tensorflow("Shape", {}, "out_type")
    .input("input", kAny)
    .attr("out_type", AttrKind::dtype, DType::int32)
    .output("output", from_attr("out_type"))
    .shape([](InferContext& c) {
      const Shape& in = c.shape(0);
      c.set(0, Shape{in.has_rank() ? int64_t{in.rank()} : kUnknownDim});
    })
    .tells_shape()
    .no_gradient();

TIDEMARK_OP(rank)
    .doc("The number of dimensions, a scalar.")
    .python("tf.rank")
    .tensorflow("Rank")
    .input("input", kAny)
    .output("output", always(DType::int32))
    .shape([](InferContext& c) { c.set(0, Shape{}); })
    .tells_shape()
    .no_gradient();

TIDEMARK_OP(size)
    .doc("The number of elements, a scalar.")
    .python("tf.size")
    .tensorflow("Size", {}, "out_type")
    .input("input", kAny)
    .attr("out_type", AttrKind::dtype, DType::int32)
    .output("output", from_attr("out_type"))
    .shape([](InferContext& c) { c.set(0, Shape{}); })
    .tells_shape()
    .no_gradient();

TIDEMARK_OP(ensure_shape)
    .doc("x itself, whose shape must be the given one; -1 stands for any size.")
    .input("x", kAny)
    .attr("shape", AttrKind::ints)
    .output("output", like("x"))
    .shape(ensure_shape_rule)
    .passes()
    .gradient([](Grad& g) { g.dx(0) = g.dy(); });

TIDEMARK_OP(broadcast_to)
    .doc("Repeats dimensions of size 1, and adds leading ones, until the shape is reached.")
    .python("tf.broadcast_to")
    .tensorflow("BroadcastTo")
    .input("input", kAny)
    .input("shape", kIndex, 'I')
    .output("output", like("input"))
    .shape(broadcast_to_rule)
    .on_host(1)
    .repeats(0)
    .rows([](const RowQuestion& q) {
      return q.rows({q.broadcast(0), RowRole::sizes});
    })
    .gradient([](Grad& g) { g.dx(0) = g.unbroadcast(g.dy(), 0); });

}  // namespace tidemark
