// Kernels that are templates in the texts of device/, called by name.
//
//   const DeviceFunction take{"indexing.h", "take", {"tm::uint32", "tm::int32", rows},
//                             message("tm::take_arguments<", rows, ">")};
//   take.run(stream, count * inner, words(from, out, count, inner, …));
#pragma once

#include <bit>
#include <concepts>
#include <string>
#include <vector>

#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

/// Of arguments: every member of the device's struct is 8 bytes.
using Words = std::vector<uint64_t>;

inline void add_word(Words& words, const void* address) {
  words.push_back(reinterpret_cast<uint64_t>(address));
}
inline void add_word(Words& words, std::integral auto number) {
  words.push_back(static_cast<uint64_t>(number));
}
inline void add_word(Words& words, double number) {
  words.push_back(std::bit_cast<uint64_t>(number));
}
inline void add_word(Words& words, const Faults::Word& fault) {
  words.insert(words.end(), {fault.address, fault.code});
}
inline void add_word(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}
template <class... Parts>
Words words(const Parts&... parts) {
  Words all;
  (add_word(all, parts), ...);
  return all;
}

struct DeviceFunction {
  const char* text;  // "indexing.h", which stands behind loops.h
  const char* name;
  std::vector<std::string> types;  // of the template
  std::string arguments;           // the struct; empty: tm::<name>_arguments

  /// The whole kernel, for with_texts.
  std::string source() const;
  /// A thread for each of so many elements, which they take in turn.
  void run(CudaStream& stream, int64_t elements, Words arguments) const;
  /// So many blocks at most, of kThreads each; they take the work in turn.
  void run_blocks(CudaStream& stream, int64_t blocks, Words arguments) const;
};

/// For moving elements of so many bytes: "tm::uint32".
const char* bits_type(size_t bytes);

inline CudaStream& cuda_stream_of(KernelContext& k) {
  return static_cast<CudaStream&>(stream_of(k));
}

}  // namespace tidemark::cuda
