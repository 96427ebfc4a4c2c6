// Kernel of set_operation: both sets of a row sorted by their elements' places, then merged.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/kernels/cpu/sorting/long_sort.h"
#include "tidemark/kernels/cpu/text/string_output.h"

namespace tidemark::cpu {

namespace {

template <class T>
struct Values {
  const T* data;
  explicit Values(const Tensor& t) : data(static_cast<const T*>(t.raw_data())) {}
  T at(int64_t i) const { return data[i]; }
};
template <>
struct Values<StringRef> {
  const Tensor& tensor;
  explicit Values(const Tensor& t) : tensor(t) {}
  std::string_view at(int64_t i) const { return tensor.string_at(i); }
};

/// Places of the distinct elements of a row, in the order of their values; returns how many.
template <class V>
int64_t sorted_places(const V& values, int64_t begin, int64_t count, int64_t* places) {
  for (int64_t i = 0; i < count; ++i) places[i] = begin + i;
  sort_line(places, places + count,
            [&](int64_t a, int64_t b) { return values.at(a) < values.at(b); });
  return std::unique(places, places + count,
                     [&](int64_t a, int64_t b) { return values.at(a) == values.at(b); }) -
         places;
}

template <class T>
struct Output {
  T* values;
  explicit Output(KernelContext& k) : values(k.out<T>(1)) {}
  void put(T value) { *values++ = value; }
};
template <>
struct Output<StringRef> {
  StringSink sink;
  explicit Output(KernelContext& k) : sink(k, 1) {}
  void put(std::string_view value) { sink.append(value), sink.close(); }
};

template <class T>
struct SetOperation {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const auto last = [](const Tensor& t) { return static_cast<size_t>(t.dim(t.rank() - 1)); };
    return (last(call.inputs[0]) + last(call.inputs[1])) * sizeof(int64_t);
  }

  static void run(KernelContext& k) {
    const Shape& shape = k.input(0).shape();
    const int rank = shape.rank();
    const int64_t a_size = shape[rank - 1], b_size = k.input(1).dim(rank - 1);
    const std::string& operation = k.attr("set_operation").as_string();
    const bool only_a = operation == "a-b" || operation == "union";
    const bool only_b = operation == "b-a" || operation == "union";
    const bool both = operation == "intersection" || operation == "union";
    const Values<T> a(k.input(0)), b(k.input(1));
    auto* a_places = k.workspace<int64_t>();
    int64_t* b_places = a_places + a_size;
    int64_t* indices = k.out<int64_t>(0);
    Output<T> out(k);
    int64_t rows = 1, total = 0, largest = 0;
    for (int d = 0; d < rank - 1; ++d) rows *= shape[d];
    for (int64_t row = 0; row < rows; ++row) {
      int64_t size = 0;
      const auto put = [&](const auto& value) {
        out.put(value);
        int64_t rest = row;
        for (int d = rank - 2; d >= 0; --d) {
          indices[d] = rest % shape[d];
          rest /= shape[d];
        }
        indices[rank - 1] = size++;
        indices += rank;
      };
      const int64_t a_count = sorted_places(a, row * a_size, a_size, a_places);
      const int64_t b_count = sorted_places(b, row * b_size, b_size, b_places);
      int64_t i = 0, j = 0;
      while (i < a_count || j < b_count) {
        const bool a_first = j == b_count || (i < a_count && a.at(a_places[i]) < b.at(b_places[j]));
        if (a_first) {
          if (only_a) put(a.at(a_places[i]));
          ++i;
        } else if (i == a_count || b.at(b_places[j]) < a.at(a_places[i])) {
          if (only_b) put(b.at(b_places[j]));
          ++j;
        } else {
          if (both) put(a.at(a_places[i]));
          ++i, ++j;
        }
      }
      total += size;
      largest = std::max(largest, size);
    }
    for (int d = 0; d < rank - 1; ++d) k.out<int64_t>(2)[d] = shape[d];
    k.out<int64_t>(2)[rank - 1] = largest;
    k.set_rows(0, total);
    k.set_rows(1, total);
  }
};

const TypedKernelsOf<KernelKind::cpu, SetOperation, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                     uint32_t, int64_t, uint64_t, StringRef>
    registered("set_operation");

}  // namespace

}  // namespace tidemark::cpu
