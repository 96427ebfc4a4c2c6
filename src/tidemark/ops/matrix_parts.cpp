// Diagonals and bands of the matrices in the last two dimensions.
#include <algorithm>
#include <cstdlib>

#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

void band_part_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  c.set(0, in);
  if (in.has_rank() && in.rank() < 2) {
    c.fail("input must be at least 2-dim, received shape: ", in.to_brackets());
  }
}

/// Length of diagonal k of a matrix: k above the main one, -k below.
int64_t diagonal_length(const InferContext& c, int64_t rows, int64_t columns, int64_t k) {
  if (rows == kUnknownDim || columns == kUnknownDim) return kUnknownDim;
  const bool inside = k > -rows && k < columns;
  if (!inside && k != 0) {
    c.fail("k must be in (", -rows, ", ", columns, ") for matrices of ", rows, " rows and ",
           columns, " columns; given ", k);
  }
  return std::min(rows + std::min<int64_t>(k, 0), columns - std::max<int64_t>(k, 0));
}

void diag_part_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.set(0, in);
  if (in.rank() < 2) c.fail("input must be at least 2-dim, received shape: ", in.to_brackets());
  Shape out = in;
  out.erase(in.rank() - 1);
  out[in.rank() - 2] = diagonal_length(c, in.dim(-2), in.dim(-1), c.attr("k").as_int());
  c.set(0, out);
}

void diag_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.set(0, in);
  if (in.rank() < 1) c.fail("diagonal must be at least 1-dim, received shape: []");
  const int64_t k = c.attr("k").as_int();
  if (k <= -(int64_t{1} << 62) || k >= int64_t{1} << 62) c.fail("k is out of range: ", k);
  Shape out = in;
  const int64_t size = in.dim(-1) == kUnknownDim
                           ? kUnknownDim
                           : checked_add(in.dim(-1), std::abs(k), "the size of the matrix");
  out[in.rank() - 1] = size;
  out.push_back(size);
  if (out.is_fully_known()) (void)out.num_elements();
  c.set(0, out);
}

void set_diag_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  c.set(0, in);
  if (!in.has_rank()) return;
  if (in.rank() < 2) c.fail("input must be at least 2-dim, received shape: ", in.to_brackets());
  Shape wanted = in;
  wanted.erase(in.rank() - 1);
  wanted[in.rank() - 2] = diagonal_length(c, in.dim(-2), in.dim(-1), c.attr("k").as_int());
  const Shape& given = c.shape(1);
  if (!wanted.is_fully_known() || !given.is_fully_known() || wanted == given) return;
  c.fail("diagonal must have shape ", wanted.to_brackets(), "; given ", given.to_brackets());
}

}  // namespace

TIDEMARK_OP(band_part)
    .doc(
        "Each matrix with all elements outside of a band around the diagonal set to zero; a "
        "negative number of lower or upper diagonals keeps all of them.")
    .python("tf.linalg.band_part")
    .tensorflow("MatrixBandPart")
    .input("input", kPlain)
    .input("num_lower", kIndex, 'I')
    .input("num_upper", kIndex, 'I')
    .output("output", like("input"))
    .may_fail()
    .shape(band_part_rule)
    .on_host(1, 2)
    .in_place(0)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("band_part", {g.dy(), g.x(1), g.x(2)});
        },
        keep_x(1, 2));

TIDEMARK_OP(diag_part)
    .doc("Diagonal k of each matrix: 0 the main one, above it positive, below it negative.")
    .input("input", kPlain)
    .attr("k", AttrKind::integer, 0)
    .output("output", like("input"))
    .shape(diag_part_rule)
    .gradient([](Grad& g) {
      const Tensor zeros = call("broadcast_to", {zero_of(g.dy().dtype()), shape_tensor(g, 0)});
      g.dx(0) = call("set_diag", {zeros, g.dy()}, {{"k", g.attr("k")}});
    });

TIDEMARK_OP(diag)
    .doc("Square matrices of zeros with the given values on diagonal k.")
    .input("diagonal", kPlain)
    .attr("k", AttrKind::integer, 0)
    .output("output", like("diagonal"))
    .shape(diag_rule)
    .gradient([](Grad& g) {
      g.dx(0) = call("diag_part", {g.dy()}, {{"k", g.attr("k")}});
    });

TIDEMARK_OP(set_diag)
    .doc("Each matrix with the given values on diagonal k.")
    .tensorflow("MatrixSetDiagV3", "input diagonal k")
    .input("input", kPlain)
    .input("diagonal", kPlain)
    .attr("k", AttrKind::integer, 0)
    .output("output", like("input"))
    .shape(set_diag_rule)
    .in_place(0)
    .gradient([](Grad& g) {
      const Tensor taken = call("diag_part", {g.dy()}, {{"k", g.attr("k")}});
      g.dx(1) = taken;
      g.dx(0) = call("set_diag", {g.dy(), zeros_of_shape(taken)}, {{"k", g.attr("k")}});
    });

}  // namespace tidemark
