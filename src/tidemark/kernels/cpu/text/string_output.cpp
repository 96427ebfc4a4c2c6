#include "tidemark/kernels/cpu/text/string_output.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/interrupt.h"
#include "tidemark/ops/text/sink.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::cpu {

StringWriter::StringWriter(KernelContext& k, int output)
    : refs_(k.out<StringRef>(output)),
      base_(static_cast<char*>(k.output(output).impl()->buffer->data)),
      next_(k.string_bytes(output)) {}

void StringWriter::put(int64_t index, std::string_view value) {
  if (++count_ % text::kElementsALook == 0) check_interrupt();
  refs_[index] = {static_cast<uint64_t>(next_ - base_), value.size()};
  if (!value.empty()) std::memcpy(next_, value.data(), value.size());
  next_ += value.size();
}

StringSink::StringSink(KernelContext& k, int output)
    : refs_(k.out<StringRef>(output)),
      base_(static_cast<char*>(k.output(output).impl()->buffer->data)),
      begin_(k.string_bytes(output)),
      next_(begin_),
      next_look_(begin_ + text::kCharactersALook) {}

void StringSink::look() {
  next_look_ = next_ + text::kCharactersALook;
  check_interrupt();
}

void StringSink::fill(char c, int64_t times) {
  while (times > 0) {
    const auto now = static_cast<size_t>(std::min(times, text::kCharactersALook));
    std::memset(next_, c, now);
    next_ += now;
    times -= static_cast<int64_t>(now);
    if (next_ >= next_look_) look();
  }
}

char* StringSink::extend(size_t size) {
  char* at = next_;
  next_ += size;
  return at;
}

void StringSink::close() {
  refs_[index_++] = {static_cast<uint64_t>(begin_ - base_), static_cast<uint64_t>(next_ - begin_)};
  begin_ = next_;
  if (index_ % text::kElementsALook == 0) check_interrupt();
}

void own_characters(KernelContext& k, int output, const Tensor& source) {
  const Tensor& out = k.output(output);
  if (out.dtype() != DType::string) return;
  const char* characters = static_cast<const char*>(source.impl()->buffer->data);
  StringWriter writer(k, output);
  const StringRef* refs = k.out<StringRef>(output);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const StringRef ref = refs[i];
    writer.put(i, {characters + ref.offset, ref.length});
  }
}

}  // namespace tidemark::cpu
