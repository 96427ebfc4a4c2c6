// The fields of TensorFlow's messages in a checkpoint, and the names of its files.
#pragma once

#include <tidemark/dtype.h>

#include <cstdio>
#include <string>

namespace tidemark::io::bundle {

inline constexpr std::string_view kIndexSuffix = ".index";
/// Under this key stands the BundleHeaderProto; all others are BundleEntryProtos.
inline constexpr std::string_view kHeaderKey;

enum HeaderField : uint32_t { kNumShards = 1, kEndianness = 2, kVersion = 3 };
enum VersionField : uint32_t { kProducer = 1, kMinConsumer = 2 };
enum EntryField : uint32_t {
  kDType = 1,
  kShape = 2,
  kShard = 3,
  kOffset = 4,
  kBytes = 5,
  kChecksum = 6,
  kSlice = 7
};
enum ShapeField : uint32_t { kDim = 2, kUnknownRank = 3 };
enum DimField : uint32_t { kDimSize = 1 };
enum SliceField : uint32_t { kExtent = 1 };
enum ExtentField : uint32_t { kStart = 1, kLength = 2 };

/// The version that this code is of, as a writer and as a reader.
inline constexpr uint64_t kThisVersion = 1;

inline std::string shard_path(const std::string& prefix, uint64_t shard, uint64_t shards) {
  char tail[64];
  std::snprintf(tail, sizeof(tail), ".data-%05llu-of-%05llu",
                static_cast<unsigned long long>(shard), static_cast<unsigned long long>(shards));
  return prefix + tail;
}

/// Numbers of dtypes in files are TensorFlow's, and ours the same; not all of them are known here.
inline bool is_known_dtype(uint64_t number) {
  return number > 0 && number < kDTypeSlots && kAny.contains(static_cast<DType>(number));
}

}  // namespace tidemark::io::bundle
