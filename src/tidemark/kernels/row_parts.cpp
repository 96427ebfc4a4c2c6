#include "tidemark/kernels/row_parts.h"

#include <cstring>

#include "tidemark/base/backend.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/tensor/storage.h"

namespace tidemark {

namespace {

constexpr int64_t kPieceBytes = 256 << 10;

/// Both lie on the device; elsewhere than on the host the copy is enqueued.
void copy_bytes(Device device, char* to, const char* from, size_t bytes) {
  if (to == from || bytes == 0) return;
  if (!device.is_cpu()) return accelerator_of(device).stream().copy(to, from, bytes);
  parallel_for(static_cast<int64_t>(bytes), kPieceBytes, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

void copy_all(const Tensor& to, const Tensor& from) {
  copy_bytes(to.device(), static_cast<char*>(to.mutable_raw_data()),
             static_cast<const char*>(from.raw_data()), from.nbytes());
}

}  // namespace

std::string PutRows::describe() const { return message("put_rows from row ", first_row_, " on"); }

bool PutRows::equals(const graph::Special& other) const {
  const auto& that = static_cast<const PutRows&>(other);
  return that.first_row_ == first_row_ && that.whole_ == whole_;
}

void PutRows::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                      void* /*workspace*/) const {
  const Tensor& whole = outputs[0];
  const Tensor& part = inputs.back();
  if (inputs.size() > 1) copy_all(whole, inputs[0]);
  const size_t row = whole.nbytes() / static_cast<size_t>(whole_[0]);
  copy_bytes(whole.device(),
             static_cast<char*>(whole.mutable_raw_data()) + static_cast<size_t>(first_row_) * row,
             static_cast<const char*>(part.raw_data()), part.nbytes());
}

void PutRows::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  const Tensor& part = inputs.back();
  const Tensor whole = new_tensor(part.dtype(), whole_, memory::Holder::value, 0, part.device());
  compute(inputs, {&whole, 1}, nullptr);
  outputs[0] = whole;
}

void Hold::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                   void* /*workspace*/) const {
  copy_all(outputs[0], inputs[0]);
}

void Hold::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  outputs[0] = inputs[0];
}

}  // namespace tidemark
