// What parsing examples and sequence examples share.
#pragma once

#include <tidemark/io.h>

namespace tidemark::io {

/// Values of messages one after the other, and where each message's begin.
struct ValueRows {
  Tensor values, splits;
};
ValueRows rows_of(const Tensor& serialized, const std::string& key, DType dtype);
void check_feature(const std::string& key, DType dtype);

/// Rows of as many values as the shape has, filled up to the longest.
Tensor filled_rows(const ValueRows& rows, const std::string& key,
                   const FixedLenSequenceFeature& feature);
SparseTensor sparse_rows(const ValueRows& rows);

Parsed parsed(const Tensor& serialized, const Features& features);
/// The only row of each, of a batch of one.
Parsed first_of(const Parsed& batch);

}  // namespace tidemark::io
