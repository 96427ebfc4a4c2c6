// Where the channels of pictures are: last with us, behind the batch in ONNX.
#pragma once

#include <tidemark/attr.h>

namespace tidemark::io::onnx {

/// How to transpose from ours to ONNX's.
inline Ints channels_first(int rank) {
  Ints perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

/// How to transpose from ONNX's to ours.
inline Ints channels_last(int rank) {
  Ints perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

}  // namespace tidemark::io::onnx
