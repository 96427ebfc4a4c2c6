// A stable sort on the device: keys with the numbers of their elements.
#pragma once

#include "tidemark/kernels/cuda/device_function.h"

namespace tidemark::cuda {

/// Keys and numbers of one width in a workspace, as radix sort wants them: twice.
class RadixSort {
 public:
  /// `count` keys below 2^bits; those of 64 bits are wide, and so are all of more than 2^32.
  RadixSort(int64_t count, int bits);
  /// The same keys again, below 2^bits now.
  RadixSort(const RadixSort& other, int bits);

  size_t workspace() const;
  /// As kernels call a key: "tm::uint32".
  const char* key_type() const { return is_wide_ ? "tm::uint64" : "tm::uint32"; }

  /// Where the keys and numbers are to be put, and where they are when they are sorted.
  struct Place {
    void *keys, *order;
  };
  Place unsorted(void* workspace) const { return place(workspace, 0); }
  Place run(CudaStream& stream, void* workspace) const;

 private:
  Place place(void* workspace, int which) const;
  size_t array_bytes() const;

  int64_t count_, tiles_;
  int passes_;
  bool is_wide_;
};

/// How many bits numbers up to `most` have.
int bits_of(int64_t most);

}  // namespace tidemark::cuda
