// Kernels of ops/strings.cpp.
#include "tidemark/kernels/cpu/text/string_output.h"

#include <tidemark/kernel.h>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/text/fingerprint.h"
#include "tidemark/base/text/numbers.h"
#include "tidemark/base/text/unicode.h"
#include "tidemark/kernels/cpu/elementwise/broadcast_index.h"
#include "tidemark/ops/text/patterns.h"
#include "tidemark/ops/text/pieces.h"

namespace tidemark::cpu {

namespace {

using text::Encoding;

/// fn(i, element i), with a look now and then whether to stop.
template <class Fn>
void for_each_element(const Tensor& t, const Fn& fn) {
  text::CharacterCount done;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const std::string_view s = t.string_at(i);
    fn(i, s);
    done.add(static_cast<int64_t>(s.size()) + 16);
  }
}

void string_length(KernelContext& k) {
  const Tensor& in = k.input(0);
  const bool characters = k.attr("unit").as_string() == "UTF8_CHAR";
  int32_t* out = k.out<int32_t>(0);
  for_each_element(in, [&](int64_t i, std::string_view s) {
    out[i] =
        static_cast<int32_t>(characters ? text::count_utf8(s) : static_cast<int64_t>(s.size()));
  });
}

/// The part of `s`; false when it begins outside.
bool cut(std::string_view s, int64_t pos, int64_t len, bool characters, std::string_view& part) {
  const int64_t size = characters ? text::count_utf8(s) : static_cast<int64_t>(s.size());
  if (pos < 0) pos += size;
  if (pos < 0 || pos > size) return false;
  const int64_t count = len < 0 ? size - pos : std::min(len, size - pos);
  if (!characters) {
    part = s.substr(static_cast<size_t>(pos), static_cast<size_t>(count));
    return true;
  }
  const size_t begin = text::advance_utf8(s, 0, pos, nullptr);
  part = s.substr(begin, text::advance_utf8(s, begin, count, nullptr) - begin);
  return true;
}

template <class I>
void substr(KernelContext& k) {
  const bool characters = k.attr("unit").as_string() == "UTF8_CHAR";
  const Shape& out = k.output(0).shape();
  const I* pos = k.in<I>(1);
  const I* len = k.in<I>(2);
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    const std::string_view s = k.input(0).string_at(broadcast_offset(k.input(0).shape(), out, i));
    const int64_t at = broadcast_offset(k.input(1).shape(), out, i);
    std::string_view part;
    if (!cut(s, pos[at], len[at], characters, part)) {
      k.fail("pos ", pos[at], " out of range for string b'", s.substr(0, 100), "' at index ", i);
    }
    sink.append(part);
    sink.close();
  }
}

void string_substr(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? substr<int32_t>(k) : substr<int64_t>(k);
}

void string_join(KernelContext& k) {
  const std::string& separator = k.attr("separator").as_string();
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    for (int j = 0; j < k.num_inputs(); ++j) {
      if (j > 0) sink.append(separator);
      sink.append(k.input(j).string_at(k.input(j).rank() == 0 ? 0 : i));
    }
    sink.close();
  }
}

template <uint32_t (*kMap)(uint32_t)>
void change_case(KernelContext& k) {
  const bool ascii = k.attr("encoding").as_string().empty();
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    std::string_view s = k.input(0).string_at(i);
    while (!s.empty()) {
      const auto first = static_cast<unsigned char>(s[0]);
      if (ascii || first < 0x80) {
        sink.append(static_cast<char>(first < 0x80 ? kMap(first) : first));
        s.remove_prefix(1);
        continue;
      }
      constexpr uint32_t kReplacement = 0xFFFD, kSharpS = 0xDF;
      const text::CodePoint point = text::first_code_point(Encoding::utf8, s);
      s.remove_prefix(point.bytes);
      if (point.value == kSharpS && kMap('a') == 'A') {  // the common letter that becomes two
        sink.append(std::string_view("SS"));
        continue;
      }
      char bytes[4];
      const int size = text::write_code_point(
          Encoding::utf8, point.valid ? kMap(point.value) : kReplacement, bytes);
      sink.append(std::string_view(bytes, static_cast<size_t>(size)));
    }
    sink.close();
  }
}

void string_strip(KernelContext& k) {
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    sink.append(text::stripped(k.input(0).string_at(i)));
    sink.close();
  }
}

template <class T>
void numbers(KernelContext& k) {
  T* out = k.out<T>(0);
  for_each_element(k.input(0), [&](int64_t i, std::string_view s) {
    if (!text::parse_number(s, out[i])) {
      k.fail("StringToNumberOp could not correctly convert string: ", s.substr(0, 100));
    }
  });
}

void string_to_number(KernelContext& k) {
  switch (k.output(0).dtype()) {
    case DType::float32:
      return numbers<float>(k);
    case DType::float64:
      return numbers<double>(k);
    case DType::int32:
      return numbers<int32_t>(k);
    case DType::int64:
      return numbers<int64_t>(k);
    case DType::uint32:
      return numbers<uint32_t>(k);
    default:
      return numbers<uint64_t>(k);
  }
}

template <class Hash>
void put_buckets(KernelContext& k, Hash hash) {
  const auto buckets = static_cast<uint64_t>(k.attr("num_buckets").as_int());
  int64_t* out = k.out<int64_t>(0);
  for_each_element(k.input(0), [&](int64_t i, std::string_view s) {
    out[i] = static_cast<int64_t>(hash(s) % buckets);
  });
}

void hash_bucket(KernelContext& k) { put_buckets(k, text::murmur_hash); }
void hash_bucket_fast(KernelContext& k) { put_buckets(k, text::farm_fingerprint); }
void hash_bucket_strong(KernelContext& k) {
  const Ints& key = k.attr("key").as_ints();
  put_buckets(k, [&](std::string_view s) {
    return text::sip_hash(static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1]), s);
  });
}

void regex_full_match(KernelContext& k) {
  const auto regex = text::cached_regex(k.input(1).string_at(0));
  bool* out = k.out<bool>(0);
  for_each_element(k.input(0),
                   [&](int64_t i, std::string_view s) { out[i] = regex->full_match(s); });
}

void regex_replace(KernelContext& k) {
  StringSink sink(k, 0);
  text::replace_all(k.call(), sink);
}

}  // namespace

TIDEMARK_KERNEL_OF(cpu, string_length, kString, string_length);
TIDEMARK_KERNEL_OF(cpu, string_substr, kString, string_substr);
TIDEMARK_KERNEL_OF(cpu, string_join, kString, string_join);
TIDEMARK_KERNEL_OF(cpu, string_lower, kString, change_case<text::to_lower>);
TIDEMARK_KERNEL_OF(cpu, string_upper, kString, change_case<text::to_upper>);
TIDEMARK_KERNEL_OF(cpu, string_strip, kString, string_strip);
TIDEMARK_KERNEL_OF(cpu, string_to_number, kString, string_to_number);
TIDEMARK_KERNEL_OF(cpu, string_to_hash_bucket, kString, hash_bucket);
TIDEMARK_KERNEL_OF(cpu, string_to_hash_bucket_fast, kString, hash_bucket_fast);
TIDEMARK_KERNEL_OF(cpu, string_to_hash_bucket_strong, kString, hash_bucket_strong);
TIDEMARK_KERNEL_OF(cpu, regex_full_match, kString, regex_full_match);
TIDEMARK_KERNEL_OF(cpu, regex_replace, kString, regex_replace);

}  // namespace tidemark::cpu
