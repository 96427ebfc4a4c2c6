// Kernels of arrays, as tf.TensorArray has them: rows are copied and cleared as bytes.

#include <algorithm>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/ops/arrays.h"

namespace tidemark::cuda {

namespace {

/// The bytes of one row, among those of a tensor of rows.
class Rows {
 public:
  Rows(KernelContext& k, size_t row_bytes) : stream_(cuda_stream_of(k)), bytes_(row_bytes) {}

  void copy(void* to, int64_t to_row, const void* from, int64_t from_row, int64_t count) const {
    if (count <= 0 || bytes_ == 0) return;
    stream_.copy_here(at(to, to_row), at(const_cast<void*>(from), from_row),
                      static_cast<size_t>(count) * bytes_);
  }
  void clear(void* to, int64_t begin, int64_t end) const {
    if (begin >= end || bytes_ == 0) return;
    stream_.fill_zeros(at(to, begin), static_cast<size_t>(end - begin) * bytes_);
  }
  /// Rows of the input that the output starts with. They are there already if it was resized.
  int64_t keep(const Tensor& from, const Tensor& to) const {
    if (arrays::is_blank(from.shape()) || bytes_ == 0) return 0;
    const int64_t kept = std::min(from.shape()[0], to.shape()[0]);
    if (to.raw_data() != from.raw_data()) {
      copy(to.mutable_raw_data(), 0, from.raw_data(), 0, kept);
    }
    return kept;
  }

 private:
  void* at(void* data, int64_t row) const {
    return static_cast<char*>(data) + static_cast<size_t>(row) * bytes_;
  }

  CudaStream& stream_;
  const size_t bytes_;
};

size_t row_bytes_of(const Tensor& array) {
  const int64_t rows = array.shape()[0];
  return rows > 0 ? array.nbytes() / static_cast<size_t>(rows) : 0;
}

void run_write(KernelContext& k) {
  const Tensor& out = k.output(0);
  const Rows rows(k, k.input(2).nbytes());
  const int64_t index = arrays::place_in(out.shape()[0], k.input(1), "array_write");
  const int64_t all = out.shape()[0];
  const int64_t kept = rows.keep(k.input(0), out);
  rows.clear(k.out<void>(0), kept, std::min(index, all));
  rows.clear(k.out<void>(0), std::max(kept, index + 1), all);
  rows.copy(k.out<void>(0), index, k.in<void>(2), 0, 1);
}

void run_read(KernelContext& k) {
  const Rows rows(k, k.output(0).nbytes());
  if (arrays::is_blank(k.input(0).shape())) return rows.clear(k.out<void>(0), 0, 1);
  const int64_t index = arrays::place_in(k.input(0).shape()[0], k.input(1), "array_read");
  rows.copy(k.out<void>(0), 0, k.in<void>(0), index, 1);
}

void run_cut(KernelContext& k) {
  const Rows rows(k, row_bytes_of(k.input(0)));
  const int64_t index = arrays::place_in(k.input(0).shape()[0], k.input(1), "array_cut");
  rows.copy(k.out<void>(1), 0, k.in<void>(0), index, 1);
  const Tensor& rest = k.output(0);
  rows.keep(k.input(0), rest);
  rows.clear(k.out<void>(0), index, std::min(index + 1, rest.shape()[0]));
}

void run_resize(KernelContext& k) {
  const Tensor& out = k.output(0);
  const Rows rows(k, row_bytes_of(out));
  rows.clear(k.out<void>(0), rows.keep(k.input(0), out), out.shape()[0]);
}

TIDEMARK_KERNEL_OF(cuda, array_write, kPlain, run_write);
TIDEMARK_KERNEL_OF(cuda, array_read, kPlain, run_read);
TIDEMARK_KERNEL_OF(cuda, array_cut, kNumeric, run_cut);
TIDEMARK_KERNEL_OF(cuda, array_resize, kPlain, run_resize);

}  // namespace

}  // namespace tidemark::cuda
