// Kernels of searchsorted and reverse_sequence.

#include <algorithm>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/movement.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "searching.h";

void run_searchsorted(KernelContext& k) {
  const Tensor &sequences = k.input(0), &values = k.input(1);
  const int64_t count = values.num_elements();
  if (count == 0) return;
  const int64_t of_sequence = sequences.rank() == 1 ? count : values.dim(-1);
  const bool is_right = k.attr("side").as_string() == "right";
  const DeviceFunction search{
      kText,
      "search_sorted",
      {stored_type(values.dtype()), stored_type(k.output(0).dtype()), is_right ? "true" : "false"},
      "tm::search_arguments"};
  search.run(
      cuda_stream_of(k), count,
      words(k.in<void>(0), k.in<void>(1), k.out<void>(0), count, sequences.dim(-1), of_sequence));
}

void run_reverse_sequence(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  const int64_t count = shape.num_elements();
  if (count == 0) return;
  const Attr& of_batch = k.attr("batch_axis");
  const int axis = normalize_axis(k.attr("seq_axis").as_int(), shape.rank());
  const int batch = normalize_axis(of_batch.is_none() ? 0 : of_batch.as_int(), shape.rank());
  const std::vector<int64_t> steps = dense_steps(shape);
  CudaStream& stream = cuda_stream_of(k);
  const DeviceFunction reverse{
      kText,
      "reverse_sequence",
      {bits_type(size_of(k.input(0).dtype())), stored_type(k.input(1).dtype())},
      "tm::reverse_arguments"};
  reverse.run(
      stream, count,
      words(k.in<void>(0), k.in<void>(1), k.out<void>(0), count, steps[static_cast<size_t>(batch)],
            shape[batch], steps[static_cast<size_t>(axis)], shape[axis],
            stream.faults().word(k.call().op, FaultKind::length)));
}

TIDEMARK_KERNEL_OF(cuda, searchsorted, kReal, run_searchsorted);
TIDEMARK_KERNEL_OF(cuda, reverse_sequence, kPlain, run_reverse_sequence);

}  // namespace

}  // namespace tidemark::cuda
