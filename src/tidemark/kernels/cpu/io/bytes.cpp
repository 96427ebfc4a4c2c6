// Kernels of ops/io.cpp.
#include <tidemark/kernel.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tidemark/base/plain_type.h"
#include "tidemark/base/serial_for.h"
#include "tidemark/base/text/base64.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/text/csv.h"
#include "tidemark/ops/text/example.h"
#include "tidemark/ops/text/files.h"
#include "tidemark/ops/text/splits.h"
#include "tidemark/ops/text/tensor_proto.h"

namespace tidemark::cpu {

namespace {

void decode_raw(KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  const int64_t rows = k.input(0).num_elements();
  const int64_t bytes = rows == 0 ? 0 : static_cast<int64_t>(k.output(0).nbytes()) / rows;
  // A complex number is two; a bool and a byte have no order.
  const size_t item = size_of(dtype) / (is_complex(dtype) ? 2 : 1);
  const bool is_reversed = !k.attr("little_endian").as_bool();
  for (int64_t i = 0; i < rows; ++i) {
    const std::string_view s = k.input(0).string_at(i);
    char* const row = k.out<char>(0) + i * bytes;
    serial_for(bytes, [&](int64_t begin, int64_t end) {  // pieces of whole items
      const auto size = static_cast<size_t>(end - begin);
      const std::string_view from = s.substr(std::min(static_cast<size_t>(begin), s.size()), size);
      char* const out = row + begin;
      if (!from.empty()) std::memcpy(out, from.data(), from.size());
      std::memset(out + from.size(), 0, size - from.size());
      if (dtype == DType::bool_) {
        for (size_t j = 0; j < size; ++j) out[j] = out[j] != 0;
      }
      if (!is_reversed) return;
      for (size_t j = 0; j + item <= size; j += item) std::reverse(out + j, out + j + item);
    });
  }
}

void split_csv(KernelContext& k) {
  StringSink sink(k, 0);
  text::put_csv(k.call(), sink);
}

void encode_base64(KernelContext& k) {
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    text::put_base64(k.input(0).string_at(i), k.attr("pad").as_bool(), sink);
    sink.close();
  }
}

void decode_base64(KernelContext& k) {
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    if (!text::put_from_base64(k.input(0).string_at(i), sink)) {
      k.fail("Invalid character found in base64 in element ", i,
             ": letters, digits, '-' and '_' are allowed, in a length that makes whole bytes");
    }
    sink.close();
  }
}

void serialize_tensor(KernelContext& k) {
  StringSink sink(k, 0);
  text::put_tensor_proto(k.input(0), sink);
  sink.close();
}

template <class T>
T value_from(const WireField& field) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(field.value));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(field.value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return std::bit_cast<T>(static_cast<uint16_t>(field.value));
  } else {
    return static_cast<T>(field.value);
  }
}

template <class T>
void read_values(const text::TensorProtoView& proto, void* to, int64_t count) {
  if constexpr (is_complex(dtype_of<T>())) {
    using R = typename T::value_type;
    R* out = static_cast<R*>(to);
    text::for_each_value(proto, [&](int64_t i, const WireField& f) { out[i] = value_from<R>(f); });
  } else {
    T* out = static_cast<T*>(to);
    text::for_each_value(proto, [&](int64_t i, const WireField& f) { out[i] = value_from<T>(f); });
  }
  T* out = static_cast<T*>(to);
  const T last = proto.value_count > 0 ? out[proto.value_count - 1] : T{};
  std::fill(out + proto.value_count, out + count, last);
}

void parse_tensor(KernelContext& k) {
  const auto proto = text::parse_tensor_proto(k.call().op.name(), k.input(0).string_at(0));
  const int64_t count = k.output(0).num_elements();
  if (proto.dtype == DType::string) {
    StringSink sink(k, 0);
    std::string_view last;
    text::for_each_value(proto, [&](int64_t, const WireField& field) {
      last = field.bytes;
      sink.append(last);
      sink.close();
    });
    while (sink.elements() < count) sink.append(last), sink.close();
    return;
  }
  if (!proto.content.empty()) {
    std::memcpy(k.out<char>(0), proto.content.data(), proto.content.size());
    if (proto.dtype != DType::bool_) return;
    for (int64_t i = 0; i < count; ++i) k.out<char>(0)[i] = k.out<char>(0)[i] != 0;
    return;
  }
  if (count == 0) return;
  with_plain_type(proto.dtype, [&](auto zero) {
    read_values<decltype(zero)>(proto, k.output(0).mutable_raw_data(), count);
  });
}

void read_file(KernelContext& k) {
  const int64_t capacity = k.string_capacity(0);
  StringSink sink(k, 0);
  const int64_t size =
      text::read_file(k.call().op.name(), k.input(0).string_at(0), k.string_bytes(0), capacity);
  sink.extend(static_cast<size_t>(size));
  sink.close();
}

template <class Put>
void put_defaults(const Tensor& defaults, int64_t count, Put put) {
  for (int64_t i = 0; i < count; ++i) put(defaults.num_elements() == 1 ? 0 : i);
}

void parse_example_fixed(KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  const Tensor& defaults = k.input(1);
  const std::string& key = k.attr("key").as_string();
  const int64_t rows = k.input(0).num_elements();
  const int64_t count = rows == 0 ? 0 : k.output(0).num_elements() / rows;
  StringSink sink(k, 0);
  auto* floats = k.out<float>(0);
  auto* ints = k.out<int64_t>(0);
  for (int64_t i = 0; i < rows; ++i) {
    const auto feature = text::find_feature(k.call().op.name(), k.input(0).string_at(i), key, i);
    const bool missing = feature.kind == text::FeatureKind::none;
    if (missing && defaults.num_elements() == 0 && count > 0) {
      k.fail("Name: <unknown>, Feature: ", key, " (data type: ", name_of(dtype),
             ") is required but could not be found in example ", i);
    }
    if (!missing && feature.kind != text::kind_of(dtype)) {
      k.fail("Key: ", key, ".  Data types don't match. Expected type: ", name_of(dtype),
             " in example ", i);
    }
    if (!missing && feature.count != count) {
      k.fail("Key: ", key, ".  Number of ", name_of(dtype),
             " values != expected.  Values size: ", feature.count, " but output needs ", count,
             " in example ", i);
    }
    if (dtype == DType::string) {
      const auto put = [&](std::string_view s) { sink.append(s), sink.close(); };
      missing ? put_defaults(defaults, count, [&](int64_t j) { put(defaults.string_at(j)); })
              : text::for_each_bytes(feature, put);
    } else if (dtype == DType::float32) {
      const auto put = [&](float v) { *floats++ = v; };
      missing ? put_defaults(defaults, count, [&](int64_t j) { put(defaults.data<float>()[j]); })
              : text::for_each_float(feature, put);
    } else {
      const auto put = [&](int64_t v) { *ints++ = v; };
      missing ? put_defaults(defaults, count, [&](int64_t j) { put(defaults.data<int64_t>()[j]); })
              : text::for_each_int(feature, put);
    }
  }
}

void parse_example_var(KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  const std::string& key = k.attr("key").as_string();
  int64_t* splits = k.out<int64_t>(1);
  auto* floats = k.out<float>(0);
  auto* ints = k.out<int64_t>(0);
  StringSink sink(k, 0);
  int64_t total = 0;
  *splits++ = 0;
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    const auto feature = text::find_feature(k.call().op.name(), k.input(0).string_at(i), key, i);
    if (feature.kind != text::FeatureKind::none && feature.kind != text::kind_of(dtype)) {
      k.fail("Key: ", key, ".  Data types don't match. Expected type: ", name_of(dtype),
             " in example ", i);
    }
    if (feature.kind == text::FeatureKind::bytes) {
      text::for_each_bytes(feature, [&](std::string_view s) { sink.append(s), sink.close(); });
    } else if (feature.kind == text::FeatureKind::floats) {
      text::for_each_float(feature, [&](float v) { *floats++ = v; });
    } else if (feature.kind == text::FeatureKind::ints) {
      text::for_each_int(feature, [&](int64_t v) { *ints++ = v; });
    }
    *splits++ = total += feature.count;
  }
}

}  // namespace

TIDEMARK_KERNEL_OF(cpu, decode_raw, kString, decode_raw);
TIDEMARK_KERNEL_OF(cpu, split_csv, kString, split_csv);
TIDEMARK_KERNEL_OF(cpu, encode_base64, kString, encode_base64);
TIDEMARK_KERNEL_OF(cpu, decode_base64, kString, decode_base64);
TIDEMARK_KERNEL_OF(cpu, serialize_tensor, kAny, serialize_tensor);
TIDEMARK_KERNEL_OF(cpu, parse_tensor, kString, parse_tensor);
TIDEMARK_KERNEL_OF(cpu, read_file, kString, read_file);
TIDEMARK_KERNEL_OF(cpu, parse_example_fixed, kString, parse_example_fixed);
TIDEMARK_KERNEL_OF(cpu, parse_example_var, kString, parse_example_var);

}  // namespace tidemark::cpu
