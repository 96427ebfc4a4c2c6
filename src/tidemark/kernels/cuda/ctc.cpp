// Kernels of ctc_loss and its gradient.

#include "tidemark/kernels/blank_label.h"
#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

/// Inputs from `first` on: logits, labels, label_length, logit_length.
struct CtcRoom {
  int64_t time, batch, classes, most_labels;
  CtcRoom(const OpCall& call, size_t first)
      : time(call.inputs[first].dim(0)),
        batch(call.inputs[first].dim(1)),
        classes(call.inputs[first].dim(2)),
        most_labels(call.inputs[first + 1].dim(1)) {}

  int64_t most_states() const { return 2 * most_labels + 1; }
  /// Of a sequence: two rows; for the gradient the whole table and the normalisers, too.
  int64_t doubles(bool is_gradient) const {
    return 2 * most_states() + (is_gradient ? time * (most_states() + 1) : 0);
  }
  size_t state_bytes() const {
    return static_cast<size_t>(batch * 2 * most_states()) * sizeof(int64_t);
  }
  size_t bytes(bool is_gradient) const {
    return state_bytes() + static_cast<size_t>(batch * doubles(is_gradient)) * sizeof(double);
  }
};

template <bool kGradient>
void run(KernelContext& k) {
  constexpr int kFirst = kGradient ? 1 : 0;
  const CtcRoom room(k.call(), kFirst);
  if (room.batch == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  DeviceFunction function{
      "ctc.h", kGradient ? "ctc_loss_grad" : "ctc_loss", {}, "tm::ctc_arguments"};
  for (int i = kFirst; i < kFirst + 4; ++i) {
    function.types.push_back(stored_type(k.input(i).dtype()));
  }
  const void* states = k.workspace();
  const void* rows = static_cast<char*>(k.workspace()) + room.state_bytes();
  function.run_blocks(
      stream, room.batch,
      words(kGradient ? k.in<void>(0) : nullptr, k.in<void>(kFirst), k.in<void>(kFirst + 1),
            k.in<void>(kFirst + 2), k.in<void>(kFirst + 3), k.out<void>(0), states, rows,
            room.doubles(kGradient), room.batch, room.time, room.classes, room.most_labels,
            blank_of(k, room.classes), stream.faults().word(k.call().op, FaultKind::label),
            stream.faults().word(k.call().op, FaultKind::length)));
}
template <bool kGradient>
size_t workspace(const OpCall& call, std::span<const Shape>) {
  return CtcRoom(call, kGradient ? 1 : 0).bytes(kGradient);
}

constexpr DTypeSet kScores = dtype_set(DType::float32, DType::float64);
TIDEMARK_KERNEL_OF(cuda, ctc_loss, kScores, run<false>, workspace<false>);
TIDEMARK_KERNEL_OF(cuda, ctc_loss_grad, kScores, run<true>, workspace<true>);

}  // namespace

}  // namespace tidemark::cuda
