// Kernels of unique and unique_with_counts: a hash table in the workspace.
#include <tidemark/kernel.h>

#include <bit>
#include <complex>
#include <cstring>
#include <string_view>

#include "tidemark/base/serial_for.h"
#include "tidemark/kernels/cpu/text/string_output.h"

namespace tidemark::cpu {

namespace {

uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

/// Elements as they are compared. Numbers compare by value: 0 equals -0, NaN equals nothing.
template <class T>
struct Element {
  const T* values;
  explicit Element(const Tensor& t) : values(static_cast<const T*>(t.raw_data())) {}

  bool same(int64_t a, int64_t b) const {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return static_cast<float>(values[a]) == static_cast<float>(values[b]);
    } else {
      return values[a] == values[b];
    }
  }
  uint64_t hash(int64_t i) const {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return hash_real(static_cast<float>(values[i]));
    } else if constexpr (is_complex(dtype_of<T>())) {
      return mixed(hash_real(values[i].real()) + 31 * hash_real(values[i].imag()));
    } else if constexpr (std::is_floating_point_v<T>) {
      return hash_real(values[i]);
    } else {
      return mixed(static_cast<uint64_t>(values[i]));
    }
  }

 private:
  static uint64_t hash_real(double value) {
    return mixed(std::bit_cast<uint64_t>(value == 0 ? 0. : value));
  }
};

template <>
struct Element<StringRef> {
  const Tensor& tensor;
  explicit Element(const Tensor& t) : tensor(t) {}

  bool same(int64_t a, int64_t b) const { return tensor.string_at(a) == tensor.string_at(b); }
  uint64_t hash(int64_t i) const {
    uint64_t h = 0xcbf29ce484222325ull;
    for (char c : tensor.string_at(i)) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return mixed(h);
  }
};

/// At most half full, so that probing ends soon.
uint64_t table_size(int64_t count) { return std::bit_ceil(static_cast<uint64_t>(count) * 2 + 1); }

/// Where the first element of each distinct value stands, by hash. Also remembers its number.
struct Slot {
  int64_t first = -1;  // position in the input; -1: free
  int64_t number = 0;
};

template <class T, class I>
void find_unique(KernelContext& k) {
  const Tensor& in = k.input(0);
  const int64_t count = in.num_elements();
  const Element<T> elements(in);
  const uint64_t slots = table_size(count);
  Slot* table = k.workspace<Slot>();
  serial_for(static_cast<int64_t>(slots),
             [&](int64_t begin, int64_t end) { std::fill(table + begin, table + end, Slot{}); });
  I* idx = k.out<I>(1);
  I* counts = k.num_outputs() == 3 ? k.out<I>(2) : nullptr;
  T* distinct = k.out<T>(0);
  int64_t found = 0;
  const auto put = [&](int64_t i) {
    uint64_t at = elements.hash(i) & (slots - 1);
    while (table[at].first >= 0 && !elements.same(table[at].first, i)) at = (at + 1) & (slots - 1);
    Slot& slot = table[at];
    if (slot.first < 0) {
      slot = {i, found};
      distinct[found] = k.in<T>(0)[i];
      if (counts) counts[found] = 0;
      ++found;
    }
    idx[i] = static_cast<I>(slot.number);
    if (counts) ++counts[slot.number];
  };
  serial_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) put(i);
  });
  if constexpr (std::is_same_v<T, StringRef>) {
    StringWriter writer(k, 0);
    const char* source =
        count > 0 ? in.string_at(0).data() - k.in<StringRef>(0)[0].offset : nullptr;
    for (int64_t i = 0; i < found; ++i) {
      const StringRef ref = distinct[i];
      writer.put(i, {source + ref.offset, ref.length});
    }
  }
  k.set_rows(0, found);
  if (counts) k.set_rows(2, found);
}

template <class T>
struct Unique {
  static void run(KernelContext& k) {
    k.output(1).dtype() == DType::int32 ? find_unique<T, int32_t>(k) : find_unique<T, int64_t>(k);
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    return table_size(call.inputs[0].num_elements()) * sizeof(Slot);
  }
};

#define TIDEMARK_ALL_TYPES                                                                        \
  bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, Half, BFloat16, \
      float, double, std::complex<float>, std::complex<double>, StringRef
const TypedKernelsOf<KernelKind::cpu, Unique, TIDEMARK_ALL_TYPES> unique_kernels("unique");
const TypedKernelsOf<KernelKind::cpu, Unique, TIDEMARK_ALL_TYPES> unique_with_counts_kernels(
    "unique_with_counts");
#undef TIDEMARK_ALL_TYPES

}  // namespace

}  // namespace tidemark::cpu
