// Elementwise ops of strings: comparing, joining, choosing.

#include <tidemark/kernel.h>

#include <cstring>

#include "tidemark/kernels/cpu/elementwise/broadcast_index.h"

namespace tidemark::cpu {

namespace {

std::string_view element(const KernelContext& k, int input, int64_t index) {
  const Tensor& t = k.input(input);
  return t.string_at(broadcast_offset(t.shape(), k.output(0).shape(), index));
}

template <bool kEqual>
void compare_strings(KernelContext& k) {
  bool* out = k.out<bool>(0);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    out[i] = (element(k, 0, i) == element(k, 1, i)) == kEqual;
  }
}

/// Appends characters behind the elements of the output.
class Characters {
 public:
  explicit Characters(const KernelContext& k)
      : at_(k.string_bytes(0)), offset_(k.output(0).nbytes()) {}
  uint64_t offset() const { return offset_; }
  void append(std::string_view s) {
    if (!s.empty()) std::memcpy(at_, s.data(), s.size());
    at_ += s.size();
    offset_ += s.size();
  }

 private:
  char* at_;
  uint64_t offset_;
};

void join_strings(KernelContext& k) {
  StringRef* out = k.out<StringRef>(0);
  Characters characters(k);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    const uint64_t begin = characters.offset();
    characters.append(element(k, 0, i));
    characters.append(element(k, 1, i));
    out[i] = {begin, characters.offset() - begin};
  }
}

}  // namespace

/// For select, whose kernel is found by its condition's dtype.
void select_strings(KernelContext& k) {
  StringRef* out = k.out<StringRef>(0);
  Characters characters(k);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    const Tensor& condition = k.input(0);
    const int64_t at = broadcast_offset(condition.shape(), k.output(0).shape(), i);
    const uint64_t begin = characters.offset();
    characters.append(element(k, condition.data<bool>()[at] ? 1 : 2, i));
    out[i] = {begin, characters.offset() - begin};
  }
}

TIDEMARK_KERNEL_OF(cpu, equal, kString, compare_strings<true>);
TIDEMARK_KERNEL_OF(cpu, not_equal, kString, compare_strings<false>);
TIDEMARK_KERNEL_OF(cpu, add, kString, join_strings);

}  // namespace tidemark::cpu
