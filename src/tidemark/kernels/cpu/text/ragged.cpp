// Kernels of ops/strings_ragged.cpp.
#include <tidemark/kernel.h>

#include <cstring>
#include <utility>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/plain_type.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/text/formatting.h"
#include "tidemark/ops/text/pieces.h"
#include "tidemark/ops/text/splits.h"
#include "tidemark/ops/text/transcoding.h"

namespace tidemark::cpu {

namespace {

void string_split(KernelContext& k) {
  StringSink sink(k, 0);
  int64_t* splits = k.out<int64_t>(1);
  *splits++ = 0;
  text::split_strings(k.call(), sink, [&] { *splits++ = sink.elements(); });
}

void string_bytes_split(KernelContext& k) {
  StringSink sink(k, 0);
  int64_t* splits = k.out<int64_t>(1);
  *splits++ = 0;
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    for (char c : k.input(0).string_at(i)) {
      sink.append(c);
      sink.close();
    }
    *splits++ = sink.elements();
  }
}

template <class I>
void ngrams(KernelContext& k) {
  StringSink sink(k, 0);
  I* out = k.out<I>(1);
  const int64_t count = k.input(1).num_elements();
  if (count == 0) return;
  *out++ = 0;
  // The splits are widened in the workspace: one int64 each.
  auto* splits = k.workspace<int64_t>();
  for (int64_t i = 0; i < count; ++i) splits[i] = k.in<I>(1)[i];
  text::make_ngrams(k.call(), {splits, static_cast<size_t>(count)}, sink,
                    [&] { *out++ = static_cast<I>(sink.elements()); });
}

void string_ngrams(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? ngrams<int32_t>(k) : ngrams<int64_t>(k);
}

size_t ngrams_workspace(const OpCall& call, std::span<const Shape>) {
  return static_cast<size_t>(call.inputs[1].num_elements()) * sizeof(int64_t);
}

void unicode_decode(KernelContext& k) {
  text::ErrorPolicy policy(k.call());
  policy.replace_controls = k.attr("replace_control_characters").as_bool();
  const text::Encoding encoding =
      text::encoding_from_name(k.call().op.name(), k.attr("input_encoding").as_string());
  int32_t* values = k.out<int32_t>(0);
  int64_t* starts = k.out<int64_t>(1);
  int64_t* splits = k.out<int64_t>(2);
  int64_t count = 0;
  *splits++ = 0;
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    text::decode(k.input(0).string_at(i), encoding, policy, k.call(),
                 [&](uint32_t value, size_t offset, uint32_t) {
                   values[count] = static_cast<int32_t>(value);
                   starts[count++] = static_cast<int64_t>(offset);
                 });
    *splits++ = count;
  }
}

template <class I>
void encode(KernelContext& k) {
  const text::ErrorPolicy policy(k.call());
  const text::Encoding encoding =
      text::encoding_from_name(k.call().op.name(), k.attr("output_encoding").as_string());
  const auto values = k.input(0).values<int32_t>();
  const I* splits = k.in<I>(1);
  StringSink sink(k, 0);
  for (int64_t row = 0; row < k.output(0).num_elements(); ++row) {
    const auto begin = static_cast<size_t>(splits[row]), end = static_cast<size_t>(splits[row + 1]);
    text::put_encoded(values.subspan(begin, end - begin), encoding, policy, k.call(), sink);
    sink.close();
  }
}

void unicode_encode(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? encode<int32_t>(k) : encode<int64_t>(k);
}

void unicode_transcode(KernelContext& k) {
  StringSink sink(k, 0);
  text::transcode(k.call(), sink);
}

void as_string(KernelContext& k) {
  StringSink sink(k, 0);
  if (k.input(0).dtype() == DType::string) return text::put_padded_strings(k.call(), sink);
  with_plain_type(k.input(0).dtype(),
                  [&](auto zero) { text::put_numbers<decltype(zero)>(k.call(), sink); });
}

void tensor_summary(KernelContext& k) {
  StringSink sink(k, 0);
  if (k.input(0).dtype() == DType::string) return text::put_summary<StringRef>(k.call(), sink);
  with_plain_type(k.input(0).dtype(),
                  [&](auto zero) { text::put_summary<decltype(zero)>(k.call(), sink); });
}

/// One loop over the elements of some dimensions, in row-major order.
struct Walk {
  int rank = 0;
  int64_t sizes[Shape::kMaxRank], strides[Shape::kMaxRank];

  int64_t count() const {
    int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= sizes[d];
    return n;
  }
  int64_t offset(int64_t index) const {
    int64_t at = 0;
    for (int d = rank - 1; d >= 0; --d) {
      at += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return at;
  }
};

void string_reduce_join(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  const Attr& axis = k.attr("axis");
  const std::string& separator = k.attr("separator").as_string();
  bool joined[Shape::kMaxRank];
  for (int d = 0; d < shape.rank(); ++d) joined[d] = axis.is_none();
  if (!axis.is_none()) {
    for (int64_t a : axis.as_ints()) joined[a < 0 ? a + shape.rank() : a] = true;
  }
  Walk kept, inner;
  int64_t stride = 1, strides[Shape::kMaxRank];
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  const auto add = [&](Walk& walk, int d) {
    walk.sizes[walk.rank] = shape[d];
    walk.strides[walk.rank++] = strides[d];
  };
  for (int d = 0; d < shape.rank(); ++d) {
    if (!joined[d]) add(kept, d);
    if (axis.is_none()) add(inner, d);
  }
  if (!axis.is_none()) {  // along the first of them one goes fastest
    const Ints& axes = axis.as_ints();
    for (size_t i = axes.size(); i-- > 0;) {
      add(inner, static_cast<int>(axes[i] < 0 ? axes[i] + shape.rank() : axes[i]));
    }
  }
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    for (int64_t j = 0; j < inner.count(); ++j) {
      if (j > 0) sink.append(separator);
      sink.append(k.input(0).string_at(kept.offset(i) + inner.offset(j)));
    }
    sink.close();
  }
}

/// Lengths first, then places, then characters: the elements themselves keep count.
template <class I>
void segment_join(KernelContext& k) {
  const Tensor& in = k.input(0);
  const std::string& separator = k.attr("separator").as_string();
  const I* ids = k.in<I>(1);
  const int64_t columns = in.dim(1), count = k.output(0).num_elements();
  StringRef* out = k.out<StringRef>(0);
  for (int64_t i = 0; i < count; ++i) out[i] = {0, 0};
  const auto for_each = [&](auto fn) {
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      if (i % text::kElementsALook == 0) check_interrupt();
      fn(out[ids[i / columns] * columns + i % columns], in.string_at(i));
    }
  };
  constexpr uint64_t kStarted = uint64_t{1} << 63;  // in offset: the element has a first part
  for_each([&](StringRef& ref, std::string_view s) {
    ref.length += s.size() + (ref.offset & kStarted ? separator.size() : 0);
    ref.offset = kStarted;
  });
  uint64_t next = k.output(0).nbytes();
  for (int64_t i = 0; i < count; ++i) {
    out[i].offset = next | kStarted;
    next += std::exchange(out[i].length, 0);
  }
  char* base = k.string_bytes(0) - k.output(0).nbytes();
  for_each([&](StringRef& ref, std::string_view s) {
    char* at = base + (ref.offset & ~kStarted) + ref.length;
    if (!(ref.offset & kStarted) && !separator.empty()) {
      std::memcpy(at, separator.data(), separator.size());
      at += separator.size();
      ref.length += separator.size();
    }
    if (!s.empty()) std::memcpy(at, s.data(), s.size());
    ref.length += s.size();
    ref.offset &= ~kStarted;
  });
  for (int64_t i = 0; i < count; ++i) out[i].offset &= ~kStarted;
}

void string_segment_join(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? segment_join<int32_t>(k) : segment_join<int64_t>(k);
}

}  // namespace

TIDEMARK_KERNEL_OF(cpu, string_segment_join, kString, string_segment_join);
TIDEMARK_KERNEL_OF(cpu, string_split, kString, string_split);
TIDEMARK_KERNEL_OF(cpu, string_bytes_split, kString, string_bytes_split);
TIDEMARK_KERNEL_OF(cpu, string_ngrams, kString, string_ngrams, ngrams_workspace);
TIDEMARK_KERNEL_OF(cpu, unicode_decode, kString, unicode_decode);
TIDEMARK_KERNEL_OF(cpu, unicode_encode, dtype_set(DType::int32), unicode_encode);
TIDEMARK_KERNEL_OF(cpu, unicode_transcode, kString, unicode_transcode);
TIDEMARK_KERNEL_OF(cpu, as_string, kAny, as_string);
TIDEMARK_KERNEL_OF(cpu, tensor_summary, kAny, tensor_summary);
TIDEMARK_KERNEL_OF(cpu, string_reduce_join, kString, string_reduce_join);

}  // namespace tidemark::cpu
