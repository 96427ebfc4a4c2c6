// Products, sums and activations that are more, or other, than one of our ops.
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/einsum.h>

#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

namespace {

void read_matmul(NodeCall& c) {
  c.give(call("matmul", {c.in(0), c.in(1)},
              {{"transpose_a", c.flag("transpose_a")}, {"transpose_b", c.flag("transpose_b")}}));
}
void read_batch_matmul(NodeCall& c) {
  c.give(call("matmul", {c.in(0), c.in(1)},
              {{"adjoint_a", c.flag("adj_x")}, {"adjoint_b", c.flag("adj_y")}}));
}

void read_einsum(NodeCall& c) {
  const std::vector<Tensor> operands = c.tensors();
  for (const Tensor& t : operands) {
    if (!t.shape().has_rank()) c.fail_unsupported("the rank of an operand is not known");
  }
  c.give(einsum(c.text("equation", ""), operands));
}

void read_bias_add(NodeCall& c) {
  const Tensor x = c.in(0);
  Tensor bias = c.in(1);
  if (c.text("data_format", "NHWC").starts_with("NC")) {
    if (!x.shape().has_rank()) c.fail_unsupported("the rank is not known");
    std::vector<int32_t> sizes(static_cast<size_t>(std::max(x.rank() - 1, 1)), 1);
    sizes[0] = -1;
    const Shape shape{static_cast<int64_t>(sizes.size())};
    bias = call("reshape", {bias, Tensor::of(std::span<const int32_t>(sizes), shape)});
  }
  c.give(x + bias);
}

void read_add(NodeCall& c) { c.give(c.in(0) + c.in(1)); }
void read_div(NodeCall& c) {
  const Tensor x = c.in(0);
  c.give(call(kInts.contains(x.dtype()) ? "truncatediv" : "truediv", {x, c.in(1)}));
}
void read_mod(NodeCall& c) { c.give(call("truncatemod", {c.in(0), c.in(1)})); }
void read_xor(NodeCall& c) { c.give(call("logical_xor", {c.in(0), c.in(1)})); }

/// Only whole diagonals, of square matrices.
int64_t diagonal_of(const NodeCall& c) {
  if (c.inputs.size() < 2) return 0;
  const Ints k = c.known(1);
  if (k.empty() || k.front() != k.back()) c.fail_unsupported("several diagonals at once");
  for (size_t i = 2; i < c.inputs.size() && i < 4 && c.node.op == "MatrixDiagV3"; ++i) {
    if (c.known_number(i) != -1) c.fail_unsupported("a matrix of other sizes than its diagonal's");
  }
  return k.front();
}
void read_diag(NodeCall& c) { c.give(call("diag", {c.in(0)}, {{"k", diagonal_of(c)}})); }
void read_diag_part(NodeCall& c) { c.give(call("diag_part", {c.in(0)}, {{"k", diagonal_of(c)}})); }

/// Where each value would go among the sorted ones.
Tensor places(const Tensor& sorted, const Tensor& values, const char* side, DType dtype) {
  return call("searchsorted", {sorted, values}, {{"side", side}, {"out_type", dtype}});
}
DType index_type(const NodeCall& c) {
  return c.attr("out_type").numbers.empty() ? DType::int32 : c.dtype("out_type");
}
void read_lower_bound(NodeCall& c) { c.give(places(c.in(0), c.in(1), "left", index_type(c))); }
void read_upper_bound(NodeCall& c) { c.give(places(c.in(0), c.in(1), "right", index_type(c))); }
void read_bucketize(NodeCall& c) {
  const std::vector<double> all = c.attr("boundaries").reals;
  const Tensor wide = Tensor::of(std::span<const double>(all), Shape{int64_t(all.size())});
  const Tensor x = c.in(0);
  const Tensor values = call("cast", {x}, {{"dtype", DType::float32}});
  const Tensor flat = call("reshape", {values, Tensor::of({int32_t{-1}}, {1})});
  const Tensor sorted = call("cast", {wide}, {{"dtype", DType::float32}});
  c.give(call("reshape", {places(sorted, flat, "right", DType::int32), call("shape", {x})}));
}

void read_softmax(NodeCall& c) { c.give(call("softmax", {c.in(0)}, {{"axis", -1}})); }
void read_log_softmax(NodeCall& c) { c.give(call("log_softmax", {c.in(0)}, {{"axis", -1}})); }
void read_complex_abs(NodeCall& c) { c.give(call("abs", {c.in(0)})); }
void read_l2_loss(NodeCall& c) {
  const Tensor x = c.in(0);
  c.give(call("sum", {x * x}) * call("cast", {Tensor(0.5f)}, {{"dtype", x.dtype()}}));
}

Attr seed_of(const NodeCall& c) {
  const int64_t seed = c.number("seed", 0), second = c.number("seed2", 0);
  if (seed == 0 && second == 0) return {};
  return seed != 0 ? seed : second;
}
void read_uniform(NodeCall& c) {
  c.give(call("random_uniform", {c.in(0)}, {{"dtype", c.dtype("dtype")}, {"seed", seed_of(c)}}));
}
void read_normal(NodeCall& c) {
  c.give(call("random_normal", {c.in(0)}, {{"dtype", c.dtype("dtype")}, {"seed", seed_of(c)}}));
}

constexpr NamedReader kReaders[] = {
    {"MatMul", read_matmul},
    {"BatchMatMul", read_batch_matmul},
    {"BatchMatMulV2", read_batch_matmul},
    {"BatchMatMulV3", read_batch_matmul},
    {"Einsum", read_einsum},
    {"BiasAdd", read_bias_add},
    {"BiasAddV1", read_bias_add},
    {"Add", read_add},
    {"Div", read_div},
    {"Mod", read_mod},
    {"LogicalXor", read_xor},
    {"LowerBound", read_lower_bound},
    {"UpperBound", read_upper_bound},
    {"Bucketize", read_bucketize},
    {"MatrixDiag", read_diag},
    {"MatrixDiagV3", read_diag},
    {"MatrixDiagPart", read_diag_part},
    {"MatrixDiagPartV3", read_diag_part},
    {"Softmax", read_softmax},
    {"LogSoftmax", read_log_softmax},
    {"ComplexAbs", read_complex_abs},
    {"L2Loss", read_l2_loss},
    {"RandomUniform", read_uniform},
    {"RandomStandardNormal", read_normal},
};

}  // namespace

std::span<const NamedReader> math_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
