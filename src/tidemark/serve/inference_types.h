// What the Open Inference Protocol says the same way over HTTP and over gRPC.
#pragma once

#include <string>
#include <string_view>

#include "tidemark/serve/servable.h"

namespace tidemark::serve {

/// "FP32"; "INVALID" for dtypes the protocol does not know.
std::string_view datatype_of(DType dtype);
/// Throws RequestError for a name that is none.
DType dtype_of_datatype(std::string_view name);

/// The signature that requests, which cannot name one, are for.
const SignatureSpec& served_signature(const Servable& servable);

/// The input of the name; throws RequestError where there is none, or its dtype is another.
size_t find_input(const SignatureSpec& signature, std::string_view name, DType dtype);
size_t find_output(const SignatureSpec& signature, std::string_view name);
/// Throws RequestError with the name of an input that is not there.
void check_all_given(const SignatureSpec& signature, const std::vector<Tensor>& inputs);

/// A tensor from the protocol's bytes: its elements, for BYTES each after its length in 4 bytes.
/// `name` is told in errors.
Tensor tensor_from_bytes(std::string_view bytes, DType dtype, const Shape& shape,
                         std::string_view name);
void put_bytes(std::string& out, const Tensor& t);
/// How many bytes that are.
size_t binary_bytes(const Tensor& t);

/// A version as requests give it. Throws RequestError for what is no number.
int64_t version_from_text(std::string_view text);

}  // namespace tidemark::serve
