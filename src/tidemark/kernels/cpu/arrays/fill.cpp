// Constants, copies, sums of many and choices.

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/repeat.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/elementwise/loop.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::cpu {

void select_strings(KernelContext& k);

namespace {

constexpr int64_t kGrainBytes = 256 << 10;
constexpr int64_t kStreamBytes = 8 << 20;
constexpr int64_t kPatternBytes = 4096;

/// Every element of `out` becomes the `size` bytes at `value`.
void fill_bytes(void* out, int64_t count, const void* value, int64_t size) {
  alignas(64) char pattern[kPatternBytes];
  repeat_bytes(pattern, std::min(kPatternBytes, count * size), value, size);
  const bool stream = count * size >= kStreamBytes;
  parallel_for(count * size, kGrainBytes, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kPatternBytes) {
      char* to = static_cast<char*>(out) + at;
      const int64_t bytes = std::min(kPatternBytes, end - at);
      if (stream) {
        blocks().stream(to, pattern, bytes);
      } else {
        std::memcpy(to, pattern, static_cast<size_t>(bytes));
      }
    }
    if (stream) blocks().end_stream();
  });
}

void run_fill(KernelContext& k) {
  const Tensor& value = k.input(1);
  const Tensor& out = k.output(0);
  if (out.num_elements() == 0) return;
  if (value.dtype() != DType::string) {
    return fill_bytes(out.mutable_raw_data(), out.num_elements(), value.raw_data(),
                      static_cast<int64_t>(size_of(value.dtype())));
  }
  // All elements show the same characters.
  const std::string_view text = value.string_at(0);
  if (!text.empty()) std::memcpy(k.string_bytes(0), text.data(), text.size());
  const StringRef ref{out.nbytes(), text.size()};
  std::fill_n(k.out<StringRef>(0), out.num_elements(), ref);
}
TIDEMARK_KERNEL_OF(cpu, fill, kIndex, run_fill);

void run_zeros(KernelContext& k) {
  const char zeros[16] = {};
  const Tensor& out = k.output(0);
  fill_bytes(out.mutable_raw_data(), out.num_elements(), zeros,
             static_cast<int64_t>(size_of(out.dtype())));
}
TIDEMARK_KERNEL_OF(cpu, zeros_like, kAny, run_zeros);

template <class T>
void fill_ones(const Tensor& out, T one) {
  fill_bytes(out.mutable_raw_data(), out.num_elements(), &one, sizeof(T));
}

void run_ones(KernelContext& k) {
  const Tensor& out = k.output(0);
  switch (out.dtype()) {
    case DType::float16:
      return fill_ones(out, Half(1.f));
    case DType::bfloat16:
      return fill_ones(out, BFloat16(1.f));
    case DType::float32:
      return fill_ones(out, 1.f);
    case DType::float64:
      return fill_ones(out, 1.0);
    case DType::complex64:
      return fill_ones(out, std::complex<float>(1));
    case DType::complex128:
      return fill_ones(out, std::complex<double>(1));
    case DType::int16:
    case DType::uint16:
      return fill_ones(out, uint16_t(1));
    case DType::int32:
    case DType::uint32:
      return fill_ones(out, uint32_t(1));
    case DType::int64:
    case DType::uint64:
      return fill_ones(out, uint64_t(1));
    default:
      return fill_ones(out, uint8_t(1));
  }
}
TIDEMARK_KERNEL_OF(cpu, ones_like, kAny, run_ones);

/// Where elements grow, and a view might start between two of them.
void run_bitcast(KernelContext& k) {
  copy_bytes(k.output(0).mutable_raw_data(), k.input(0).raw_data(),
             static_cast<int64_t>(k.output(0).nbytes()));
}
TIDEMARK_KERNEL_OF(cpu, bitcast, kPlain, run_bitcast);

/// The imaginary part of real numbers.
TIDEMARK_KERNEL_OF(cpu, imag, kReal, run_zeros);

LoopFn select_of(size_t element_size) {
  switch (element_size) {
    case 1:
      return blocks().select_1;
    case 2:
      return blocks().select_2;
    case 4:
      return blocks().select_4;
    case 8:
      return blocks().select_8;
    default:
      return blocks().select_16;
  }
}

void run_select(KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  if (dtype == DType::string) return select_strings(k);
  ElementwiseLoop loop;
  loop.run = select_of(size_of(dtype));
  loop.out = dtype;
  loop.arity = 3;
  LoopCall call;
  call.loop = &loop;
  call.out = k.output(0).mutable_raw_data();
  call.out_dtype = dtype;
  call.out_shape = &k.output(0).shape();
  call.out_count = k.output(0).num_elements();
  for (int i = 0; i < 3; ++i) {
    call.in[i] = k.input(i).raw_data();
    call.in_dtype[i] = call.loop_in[i] = k.input(i).dtype();
    call.in_shape[i] = &k.input(i).shape();
    call.in_count[i] = k.input(i).num_elements();
  }
  run_loop(call);
}
TIDEMARK_KERNEL_OF(cpu, select, kBool, run_select);

/// Piece by piece, so that the sum of a piece stays in the cache while all inputs are added.
void run_add_n(KernelContext& k) {
  const Tensor& out = k.output(0);
  const DType dtype = out.dtype();
  const ElementwiseLoop* add = loop_for("add", dtype);
  const auto size = static_cast<int64_t>(size_of(dtype));
  parallel_for(out.num_elements(), (64 << 10) / size, [&](int64_t begin, int64_t end) {
    char* to = static_cast<char*>(out.mutable_raw_data()) + begin * size;
    const Shape piece{end - begin};
    const auto from = [&](int i) {
      return static_cast<const char*>(k.input(i).raw_data()) + begin * size;
    };
    if (from(0) != to) std::memcpy(to, from(0), static_cast<size_t>((end - begin) * size));
    for (int i = 1; i < k.num_inputs(); ++i) {
      LoopCall call;
      call.loop = add;
      call.out = to;
      call.out_dtype = dtype;
      call.out_shape = call.in_shape[0] = call.in_shape[1] = &piece;
      call.out_count = call.in_count[0] = call.in_count[1] = end - begin;
      call.in[0] = to;
      call.in[1] = from(i);
      call.in_dtype[0] = call.in_dtype[1] = dtype;
      call.loop_in[0] = call.loop_in[1] = add->in;
      run_loop(call);
    }
  });
}
TIDEMARK_KERNEL_OF(cpu, add_n, kNumeric, run_add_n);

}  // namespace
}  // namespace tidemark::cpu
