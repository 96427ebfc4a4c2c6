// Several diagonals of matrices at once, and systems that have three of them.
#include <algorithm>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/linalg.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace matrices;

struct Band {
  int64_t low, high;
  int64_t count() const { return high - low + 1; }
};

Band band_of(const InferContext& c, int64_t rows, int64_t columns) {
  const Band band{c.attr("k_low").as_int(), c.attr("k_high").as_int()};
  if (band.low > band.high) {
    c.fail("k must be in order, the lower diagonal first; given ", band.low, " and ", band.high);
  }
  const bool known = rows != kUnknownDim && columns != kUnknownDim;
  for (const int64_t k : {band.low, band.high}) {
    if (known && k != 0 && (k <= -rows || k >= columns)) {
      c.fail("k must be in (", -rows, ", ", columns, ") for matrices of ", rows, " rows and ",
             columns, " columns; given ", k);
    }
  }
  const std::string& align = c.attr("align").as_string();
  if (align != "RIGHT_LEFT" && align != "LEFT_RIGHT" && align != "LEFT_LEFT" &&
      align != "RIGHT_RIGHT") {
    c.fail("align must be 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'; given '", align,
           "'");
  }
  return band;
}

/// The diagonals of matrices of this shape: the uppermost first, as long as the longest.
Shape diagonals_shape(const InferContext& c, const Shape& matrix) {
  const int64_t rows = matrix.dim(-2), columns = matrix.dim(-1);
  const Band band = band_of(c, rows, columns);
  Shape out = leading(matrix, 2);
  out.push_back(band.count());
  const bool known = rows != kUnknownDim && columns != kUnknownDim;
  out.push_back(known ? std::min(rows + std::min<int64_t>(band.high, 0),
                                 columns - std::max<int64_t>(band.low, 0))
                      : kUnknownDim);
  return out;
}

void diag_parts_rule(InferContext& c) {
  check_matrix(c, 0, false);
  const Shape& s = c.shape(0);
  if (c.shape(1).has_rank() && c.shape(1).rank() != 0) {
    c.fail("padding_value must be a scalar; given shape ", c.shape(1).to_brackets());
  }
  c.set(0, s.has_rank() ? diagonals_shape(c, s) : s);
}

void set_diags_rule(InferContext& c) {
  check_matrix(c, 0, false);
  const Shape &s = c.shape(0), &given = c.shape(1);
  c.set(0, s);
  if (!s.is_fully_known() || !given.is_fully_known()) return;
  const Shape wanted = diagonals_shape(c, s);
  if (wanted != given) {
    c.fail("the diagonals must have shape ", wanted.to_brackets(), "; given ", given.to_brackets());
  }
}

Tensor taken(const Grad& g, const Tensor& from) {
  return call(
      "diag_parts", {from, movement::zero_of(from.dtype())},
      {{"k_low", g.attr("k_low")}, {"k_high", g.attr("k_high")}, {"align", g.attr("align")}});
}
Tensor put(const Grad& g, const Tensor& into, const Tensor& diagonals) {
  return call(
      "set_diags", {into, diagonals},
      {{"k_low", g.attr("k_low")}, {"k_high", g.attr("k_high")}, {"align", g.attr("align")}});
}

void tridiagonal_solve_rule(InferContext& c) {
  const Shape &d = c.shape(0), &rhs = c.shape(1);
  c.set(0, rhs);
  if (!d.is_fully_known() || !rhs.is_fully_known()) return;
  if (d.rank() < 2 || d.dim(-2) != 3) {
    c.fail("the diagonals must have shape [..., 3, M]; given ", d.to_brackets());
  }
  if (rhs.rank() != d.rank() || leading(d, 2) != leading(rhs, 2) || rhs.dim(-2) != d.dim(-1)) {
    c.fail("the right side must have shape [..., M, K] for diagonals [..., 3, M]; given ",
           rhs.to_brackets(), " and ", d.to_brackets());
  }
}

Tensor rolled(const Tensor& t, int shift, int axis) {
  return call("roll", {t, Tensor(shift)}, {{"axis", Ints{axis}}});
}

Tensor row_of(const Tensor& diagonals, int row) {
  return call("gather", {diagonals, Tensor(row)}, {{"axis", diagonals.rank() - 2}});
}

Tensor stacked_rows(const Tensor& a, const Tensor& b, const Tensor& c) {
  return call_all("stack", std::vector{a, b, c}, {{"axis", a.rank() - 1}})[0];
}

/// Diagonals of the adjoint matrix. What lands in the corners nobody reads.
Tensor adjoint_diagonals(const Tensor& d) {
  const int last = d.rank() - 2;
  return stacked_rows(conjugate(rolled(row_of(d, 2), -1, last)), conjugate(row_of(d, 1)),
                      conjugate(rolled(row_of(d, 0), 1, last)));
}

/// 1 but in the two corners of compact diagonals that no element of the matrix stands for.
Tensor inside(int64_t size, DType dtype) {
  Tensor mask = Tensor::uninitialized(DType::float64, Shape{3, size});
  double* data = mask.mutable_data<double>();
  std::fill_n(data, 3 * size, 1.0);
  if (size > 0) data[size - 1] = data[2 * size] = 0;
  return cast_to(mask, dtype);
}

void tridiagonal_solve_gradient(Grad& g) {
  const Attr& pivoting = g.attr("partial_pivoting");
  const Tensor db = call("tridiagonal_solve", {adjoint_diagonals(g.x(0)), g.dy()},
                         {{"partial_pivoting", pivoting}});
  g.dx(1) = db;
  if (!g.wants(0)) return;
  const Tensor y = conjugate(g.y());
  const int rows = y.rank() - 2;
  const auto along = [&](const Tensor& other) {
    return call("sum", {db * other}, {{"axis", Ints{-1}}});
  };
  const Tensor d = stacked_rows(along(rolled(y, -1, rows)), along(y), along(rolled(y, 1, rows)));
  g.dx(0) = -d * inside(g.shape(0).dim(-1), d.dtype());
}

}  // namespace

TIDEMARK_OP(diag_parts)
    .doc(
        "Diagonals k_high down to k_low of each matrix, as rows as long as the longest, filled up "
        "with padding_value on the side that `align` says.")
    .input("input", kPlain)
    .input("padding_value", kPlain)
    .attr("k_low", AttrKind::integer, 0)
    .attr("k_high", AttrKind::integer, 0)
    .attr("align", AttrKind::string, "RIGHT_LEFT")
    .output("diagonal", like("input"))
    .shape(diag_parts_rule)
    .gradient([](Grad& g) {
      const Tensor zeros =
          call("fill", {movement::shape_tensor(g, 0), movement::zero_of(g.dy().dtype())});
      g.dx(0) = put(g, zeros, g.dy());
    });

TIDEMARK_OP(set_diags)
    .doc("Each matrix with the given rows on its diagonals k_high down to k_low.")
    .input("input", kPlain)
    .input("diagonal", kPlain)
    .attr("k_low", AttrKind::integer, 0)
    .attr("k_high", AttrKind::integer, 0)
    .attr("align", AttrKind::string, "RIGHT_LEFT")
    .output("output", like("input"))
    .shape(set_diags_rule)
    .in_place(0)
    .gradient([](Grad& g) {
      const Tensor diagonals = taken(g, g.dy());
      g.dx(1) = diagonals;
      g.dx(0) = put(g, g.dy(), movement::zeros_of_shape(diagonals));
    });

TIDEMARK_OP(tridiagonal_solve)
    .doc(
        "Solves systems whose matrix has three diagonals: the rows of `diagonals` are the one "
        "above, the main one, and the one below; the last element of the first and the first of "
        "the last row are not read.")
    .input("diagonals", kMatrixTypes)
    .input("rhs", kMatrixTypes)
    .attr("partial_pivoting", AttrKind::boolean, true)
    .output("output", like("diagonals"))
    .may_fail()
    .shape(tridiagonal_solve_rule)
    .heavy()
    .gradient(tridiagonal_solve_gradient, keep_x(0) | keep_y(0));

}  // namespace tidemark
