// Matrix product, batched.

#include <tidemark/call.h>
#include <tidemark/rows.h>

namespace tidemark {

namespace {

/// Leading dimensions, without the two of the matrix.
Shape batch_of(const Shape& s) {
  return Shape(std::span<const int64_t>(s.data(), static_cast<size_t>(s.rank() - 2)));
}

bool is_swapped(InferContext& c, const char* transpose, const char* adjoint) {
  const bool transposed = c.attr(transpose).as_bool(), adjoined = c.attr(adjoint).as_bool();
  if (transposed && adjoined) {
    c.fail("Only one of `", transpose, "` and `", adjoint, "` can be True");
  }
  return transposed || adjoined;
}

void matmul_shape(InferContext& c) {
  const bool swap_a = is_swapped(c, "transpose_a", "adjoint_a");
  const bool swap_b = is_swapped(c, "transpose_b", "adjoint_b");
  const Shape &a = c.shape(0), &b = c.shape(1);
  for (int i = 0; i < 2; ++i) {
    if (c.shape(i).has_rank() && c.shape(i).rank() < 2) {
      c.fail("In[", i, "] ndims must be >= 2: it has shape ", c.shape(i),
             ". Add dimensions with tf.expand_dims, or use tf.linalg.matvec or tf.tensordot");
    }
  }
  if (!a.has_rank() || !b.has_rank()) return c.set(0, Shape::unknown());
  const int64_t inner_a = a.dim(swap_a ? -2 : -1), inner_b = b.dim(swap_b ? -1 : -2);
  if (inner_a != inner_b && inner_a != kUnknownDim && inner_b != kUnknownDim) {
    c.fail("Matrix size-incompatible: In[0]: ", a.to_brackets(), ", In[1]: ", b.to_brackets(),
           swap_a ? ", In[0] transposed" : "", swap_b ? ", In[1] transposed" : "",
           "; the columns of the first must be the rows of the second");
  }
  Shape out;
  try {
    out = broadcast_shapes(batch_of(a), batch_of(b));
  } catch (const InvalidArgumentError&) {
    c.fail("In[0] and In[1] must have compatible batch dimensions: ", a.to_brackets(), " vs. ",
           b.to_brackets());
  }
  out.push_back(a.dim(swap_a ? -1 : -2));
  out.push_back(b.dim(swap_b ? -2 : -1));
  c.set(0, std::move(out));
}

Tensor product(const Tensor& a, const Tensor& b, bool swap_a, bool swap_b) {
  const bool conjugate = is_complex(a.dtype());
  return call("matmul", {a, b},
              {{"transpose_a", swap_a && !conjugate},
               {"transpose_b", swap_b && !conjugate},
               {"adjoint_a", swap_a && conjugate},
               {"adjoint_b", swap_b && conjugate}});
}

Tensor conjugated(const Tensor& t) { return is_complex(t.dtype()) ? call("conj", {t}) : t; }

/// With op(a) for what stands in the product: d op(a) = dy op(b)^H and d op(b) = op(a)^H dy.
void matmul_gradient(Grad& g) {
  const bool transpose_a = g.attr("transpose_a").as_bool(),
             adjoint_a = g.attr("adjoint_a").as_bool();
  const bool transpose_b = g.attr("transpose_b").as_bool(),
             adjoint_b = g.attr("adjoint_b").as_bool();
  const bool swap_a = transpose_a || adjoint_a, swap_b = transpose_b || adjoint_b;
  // A plain transpose of complex numbers is an adjoint of their conjugates.
  if (g.wants(0)) {
    const Tensor b = transpose_b ? conjugated(g.x(1)) : g.x(1);
    const Tensor da =
        swap_a ? product(b, g.dy(), swap_b, true) : product(g.dy(), b, false, !swap_b);
    g.dx(0) = g.unbroadcast(transpose_a ? conjugated(da) : da, 0);
  }
  if (g.wants(1)) {
    const Tensor a = transpose_a ? conjugated(g.x(0)) : g.x(0);
    const Tensor db =
        swap_b ? product(g.dy(), a, true, swap_a) : product(a, g.dy(), !swap_a, false);
    g.dx(1) = g.unbroadcast(transpose_b ? conjugated(db) : db, 1);
  }
}

std::optional<RowRule> matmul_rows(const RowQuestion& q) {
  const bool turns_a = q.flag("transpose_a") || q.flag("adjoint_a");
  const bool turns_b = q.flag("transpose_b") || q.flag("adjoint_b");
  if (q.out().rank() > 2) return q.rows({q.broadcast(0), q.broadcast(1)});
  if (!turns_a) return q.rows({RowRole::rows, RowRole::whole});
  if (turns_b || !q.can_add()) return std::nullopt;
  return RowRule{{RowRole::rows, RowRole::rows}, {RowResult::sum}};
}

}  // namespace

TIDEMARK_OP(matmul)
    .doc(
        "Product of the matrices in the last two dimensions of `a` and `b`, each transposed or "
        "conjugated and transposed first where asked. Leading dimensions broadcast.")
    .onnx("MatMul")
    .input("a", kNumeric)
    .input("b", kNumeric)
    .attr("transpose_a", AttrKind::boolean, false)
    .attr("transpose_b", AttrKind::boolean, false)
    .attr("adjoint_a", AttrKind::boolean, false)
    .attr("adjoint_b", AttrKind::boolean, false)
    .output("product", like("a"))
    .shape(matmul_shape)
    .heavy()
    .rows(matmul_rows)
    .gradient(matmul_gradient, keep_x(0, 1));

}  // namespace tidemark
