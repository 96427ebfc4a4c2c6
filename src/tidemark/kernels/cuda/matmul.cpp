#include "tidemark/kernels/cuda/matmul.h"

#include <limits>

#include "tidemark/kernels/cuda/batches.h"
#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

namespace {

bool is_swapped(const OpCall& call, const char* transpose, const char* adjoint) {
  return call.attr(transpose).as_bool() || call.attr(adjoint).as_bool();
}

int64_t items_of(const Shape& shape) {
  int64_t items = 1;
  for (int d = 0; d < shape.rank() - 2; ++d) items *= shape[d];
  return items;
}

/// The product of one item; `batch` and the distances of items are not told.
Product product_of(const OpCall& call) {
  const Shape &a = call.inputs[0].shape(), &b = call.inputs[1].shape();
  Product p{};
  p.element = p.result = element_of(call.inputs[0].dtype());
  p.batch = 1;
  p.transpose_a = is_swapped(call, "transpose_a", "adjoint_a");
  p.transpose_b = is_swapped(call, "transpose_b", "adjoint_b");
  p.m = a.dim(p.transpose_a ? -1 : -2);
  p.k = a.dim(p.transpose_a ? -2 : -1);
  p.n = b.dim(p.transpose_b ? -2 : -1);
  return p;
}

size_t workspace(const OpCall& call, std::span<const Shape>) {
  return workspace_of(product_of(call));
}

/// As one batch where each side has one matrix for all or one for each, else item by item.
void run(KernelContext& k) {
  const Shape &a = k.input(0).shape(), &b = k.input(1).shape(), &c = k.output(0).shape();
  if (c.num_elements() == 0) return;
  auto& stream = static_cast<CudaStream&>(stream_of(k));
  Product p = product_of(k.call());
  if (p.k == 0) return stream.fill_zeros(k.out<void>(0), k.output(0).nbytes());
  const auto address = [](const void* data) { return reinterpret_cast<Address>(data); };
  ProductRun run{address(k.in<void>(0)), address(k.in<void>(1)), address(k.out<void>(0)),
                 address(k.workspace()), workspace_of(p),        stream.handle()};
  const int64_t items = items_of(c), items_a = items_of(a), items_b = items_of(b);
  const bool is_even = (items_a == 1 || items_a == items) && (items_b == 1 || items_b == items);
  if (is_even && items <= std::numeric_limits<int32_t>::max()) {
    p.batch = static_cast<int32_t>(items);
    p.a_item = items_a == 1 ? 0 : p.m * p.k;
    p.b_item = items_b == 1 ? 0 : p.k * p.n;
    return stream.tools().products.multiply(p, run);
  }
  const auto size = size_of(k.input(0).dtype());
  const ProductRun first = run;
  const auto bytes = [&](int64_t matrices, int64_t elements) {
    return static_cast<size_t>(matrices * elements) * size;
  };
  for (int64_t i = 0; i < items; ++i) {
    run.a = first.a + bytes(item_in(a, c, i), p.m * p.k);
    run.b = first.b + bytes(item_in(b, c, i), p.k * p.n);
    run.c = first.c + bytes(i, p.m * p.n);
    stream.tools().products.multiply(p, run);
  }
}

constexpr Kernel kMatmul{run, workspace};

}  // namespace

const Kernel* find_matmul(const OpDef& op, DType key) {
  return op.name() == "matmul" && is_floating(key) ? &kMatmul : nullptr;
}

}  // namespace tidemark::cuda
