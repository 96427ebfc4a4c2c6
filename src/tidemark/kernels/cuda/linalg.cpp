// Kernels of cholesky, lu, matrix_solve, matrix_inverse, the determinants and triangular_solve: a
// block for each matrix.

#include "tidemark/kernels/cuda/batches.h"
#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "linalg.h";
constexpr DTypeSet kMatrices = dtype_set(DType::float32, DType::float64) | kComplex;

/// Square matrices in the last two dimensions.
struct Squares {
  int64_t count, n;
  explicit Squares(const Shape& shape) : count(1), n(shape.dim(-1)) {
    for (int d = 0; d < shape.rank() - 2; ++d) count *= shape[d];
  }
  int64_t elements() const { return count * n * n; }
};

DeviceFunction function_of(const char* name, DType dtype, const char* arguments,
                           std::vector<std::string> more = {}) {
  std::vector<std::string> types{stored_type(dtype)};
  types.insert(types.end(), more.begin(), more.end());
  return {kText, name, std::move(types), arguments};
}

/// Room for the factors of all matrices and the order of their rows.
struct Room {
  size_t factors;
  explicit Room(const Tensor& matrices)
      : factors(
            (static_cast<size_t>(Squares(matrices.shape()).elements()) * size_of(matrices.dtype()) +
             15) /
            16 * 16) {}
  size_t bytes(const Squares& s) const {
    return factors + static_cast<size_t>(s.count * s.n) * sizeof(int64_t);
  }
  void* orders(void* workspace) const { return static_cast<char*>(workspace) + factors; }
};

size_t workspace(const OpCall& call, std::span<const Shape>) {
  return Room(call.inputs[0]).bytes(Squares(call.inputs[0].shape()));
}

void run_cholesky(KernelContext& k) {
  const Squares s(k.input(0).shape());
  if (s.elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  function_of("cholesky", k.input(0).dtype(), "tm::cholesky_arguments")
      .run_blocks(stream, s.count,
                  words(k.in<void>(0), k.out<void>(0), s.count, s.n,
                        stream.faults().word(k.call().op, FaultKind::not_positive)));
}

void run_lu(KernelContext& k) {
  const Squares s(k.input(0).shape());
  if (s.elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  function_of("lu", k.input(0).dtype(), "tm::lu_arguments", {stored_type(k.output(1).dtype())})
      .run_blocks(stream, s.count,
                  words(k.in<void>(0), k.out<void>(0), k.out<void>(1),
                        Room(k.input(0)).orders(k.workspace()), s.count, s.n,
                        stream.faults().word(k.call().op, FaultKind::singular)));
}

template <bool kLog>
void run_determinant(KernelContext& k) {
  const Squares s(k.input(0).shape());
  if (s.count == 0) return;
  function_of("determinant", k.input(0).dtype(), "tm::determinant_arguments",
              {kLog ? "true" : "false"})
      .run_blocks(cuda_stream_of(k), s.count,
                  words(k.in<void>(0), k.workspace(), k.out<void>(0),
                        kLog ? k.out<void>(k.num_outputs() - 1) : nullptr,
                        Room(k.input(0)).orders(k.workspace()), s.count, s.n));
}

void solve(KernelContext& k, const void* right, int64_t columns) {
  const Squares s(k.input(0).shape());
  if (k.output(0).num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  function_of("solve", k.input(0).dtype(), "tm::solve_arguments")
      .run_blocks(stream, s.count,
                  words(k.in<void>(0), right, k.workspace(), k.out<void>(0),
                        Room(k.input(0)).orders(k.workspace()), s.count, s.n, columns,
                        k.attr("adjoint").as_bool(),
                        stream.faults().word(k.call().op, FaultKind::singular)));
}
void run_solve(KernelContext& k) { solve(k, k.in<void>(1), k.output(0).dim(-1)); }
void run_inverse(KernelContext& k) { solve(k, nullptr, k.output(0).dim(-1)); }

void run_triangular_solve(KernelContext& k) {
  const Shape &a = k.input(0).shape(), &b = k.input(1).shape(), &x = k.output(0).shape();
  if (x.num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const int64_t n = x.dim(-2), columns = x.dim(-1), items = x.num_elements() / (n * columns);
  const int64_t items_a = a.num_elements() / (n * n), items_b = b.num_elements() / (n * columns);
  const auto size = static_cast<int64_t>(size_of(k.input(0).dtype()));
  const DeviceFunction function =
      function_of("triangular_solve", k.input(0).dtype(), "tm::triangular_arguments");
  const auto run = [&](int64_t first_a, int64_t first_b, int64_t first, int64_t count) {
    const auto* from = static_cast<const char*>(k.in<void>(0)) + first_a * n * n * size;
    const auto* right = static_cast<const char*>(k.in<void>(1)) + first_b * n * columns * size;
    function.run(stream, count * columns,
                 words(static_cast<const void*>(from), static_cast<const void*>(right),
                       static_cast<const void*>(static_cast<char*>(k.out<void>(0)) +
                                                first * n * columns * size),
                       count, n, columns, items_a == 1 ? 0 : n * n, items_b == 1 ? 0 : n * columns,
                       k.attr("lower").as_bool(), k.attr("adjoint").as_bool(),
                       stream.faults().word(k.call().op, FaultKind::zero_diagonal)));
  };
  // As one where each side has one matrix for all or one for each, else item by item.
  const bool is_even = (items_a == 1 || items_a == items) && (items_b == 1 || items_b == items);
  if (is_even) return run(0, 0, 0, items);
  for (int64_t i = 0; i < items; ++i) run(item_in(a, x, i), item_in(b, x, i), i, 1);
}

TIDEMARK_KERNEL_OF(cuda, cholesky, kMatrices, run_cholesky);
TIDEMARK_KERNEL_OF(cuda, lu, kMatrices, run_lu, workspace);
TIDEMARK_KERNEL_OF(cuda, matrix_determinant, kMatrices, run_determinant<false>, workspace);
TIDEMARK_KERNEL_OF(cuda, log_matrix_determinant, kMatrices, run_determinant<true>, workspace);
TIDEMARK_KERNEL_OF(cuda, matrix_solve, kMatrices, run_solve, workspace);
TIDEMARK_KERNEL_OF(cuda, matrix_inverse, kMatrices, run_inverse, workspace);
TIDEMARK_KERNEL_OF(cuda, triangular_solve, kMatrices, run_triangular_solve);

}  // namespace

}  // namespace tidemark::cuda
