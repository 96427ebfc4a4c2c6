// Tensors to and from TensorFlow's message.
#pragma once

#include <tensorflow.pb.h>
#include <tidemark/tensor.h>

#include <string_view>

namespace tidemark::serve {

/// Throws RequestError for another dtype than wanted, for elements that do not fit the shape, and
/// for more than so many bytes: a message of few bytes can speak of a large tensor.
Tensor tensor_from(const tensorflow::TensorProto& proto, DType wanted, std::string_view name,
                   size_t most_bytes);

/// In the list of its dtype, where clients look.
void to_proto(const Tensor& t, tensorflow::TensorProto& proto);

void to_proto(const Shape& shape, tensorflow::TensorShapeProto& proto);

}  // namespace tidemark::serve
