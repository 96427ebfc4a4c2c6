#include "tidemark/serve/inference_types.h"

#include <charconv>
#include <cstring>

#include "tidemark/serve/status.h"

namespace tidemark::serve {

namespace {

struct Datatype {
  std::string_view name;
  DType dtype;
};
constexpr Datatype kDatatypes[] = {
    {"BOOL", DType::bool_},    {"UINT8", DType::uint8},   {"UINT16", DType::uint16},
    {"UINT32", DType::uint32}, {"UINT64", DType::uint64}, {"INT8", DType::int8},
    {"INT16", DType::int16},   {"INT32", DType::int32},   {"INT64", DType::int64},
    {"FP16", DType::float16},  {"BF16", DType::bfloat16}, {"FP32", DType::float32},
    {"FP64", DType::float64},  {"BYTES", DType::string},
};

Tensor strings_from(std::string_view bytes, const Shape& shape, std::string_view name) {
  const int64_t count = shape.num_elements();
  std::vector<std::string_view> texts;
  while (!bytes.empty()) {
    uint32_t length = 0;
    if (bytes.size() < sizeof(length)) break;
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (length > bytes.size() || static_cast<int64_t>(texts.size()) >= count) {
      refuse(Code::invalid_argument, "input '", name, "': its binary data is malformed");
    }
    texts.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty() || static_cast<int64_t>(texts.size()) != count) {
    refuse(Code::invalid_argument, "input '", name, "': ", texts.size(),
           " texts were given; shape ", shape, " needs ", count);
  }
  return Tensor::of_strings(texts, shape);
}

}  // namespace

std::string_view datatype_of(DType dtype) {
  for (const Datatype& each : kDatatypes) {
    if (each.dtype == dtype) return each.name;
  }
  return "INVALID";
}

DType dtype_of_datatype(std::string_view name) {
  for (const Datatype& each : kDatatypes) {
    if (each.name == name) return each.dtype;
  }
  refuse(Code::invalid_argument, "'", name, "' is no datatype");
}

const SignatureSpec& served_signature(const Servable& servable) {
  if (const SignatureSpec* found = servable.model.find("serving_default")) return *found;
  if (servable.model.signatures().empty()) {
    refuse(Code::failed_precondition, "model '", servable.name, "' has no signature");
  }
  return servable.model.signatures()[0];
}

size_t find_input(const SignatureSpec& signature, std::string_view name, DType dtype) {
  size_t at = 0;
  while (at < signature.inputs.size() && signature.inputs[at].name != name) ++at;
  if (at == signature.inputs.size()) {
    refuse(Code::invalid_argument, "unexpected inference input '", name, "'");
  }
  if (dtype != signature.inputs[at].dtype) {
    refuse(Code::invalid_argument, "inference input '", name, "' data-type is '",
           datatype_of(dtype), "', model expects '", datatype_of(signature.inputs[at].dtype), "'");
  }
  return at;
}

size_t find_output(const SignatureSpec& signature, std::string_view name) {
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    if (signature.outputs[i].name == name) return i;
  }
  refuse(Code::invalid_argument, "unexpected inference output '", name, "'");
}

void check_all_given(const SignatureSpec& signature, const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) continue;
    refuse(Code::invalid_argument, "expected ", inputs.size(), " inputs; '",
           signature.inputs[i].name, "' is missing");
  }
}

Tensor tensor_from_bytes(std::string_view bytes, DType dtype, const Shape& shape,
                         std::string_view name) {
  if (dtype == DType::string) return strings_from(bytes, shape, name);
  const auto count = static_cast<uint64_t>(shape.num_elements());
  if (count > bytes.size() || count * size_of(dtype) != bytes.size()) {
    refuse(Code::invalid_argument, "input '", name, "': shape ", shape, " of ",
           tidemark::name_of(dtype), " needs ", count, " × ", size_of(dtype), " bytes; ",
           bytes.size(), " were given");
  }
  Tensor out = Tensor::uninitialized(dtype, shape);
  auto* to = static_cast<char*>(out.mutable_raw_data());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  for (size_t i = 0; dtype == DType::bool_ && i < bytes.size(); ++i) to[i] = to[i] != 0;
  return out;
}

void put_bytes(std::string& out, const Tensor& t) {
  if (t.dtype() != DType::string) {
    out.append(static_cast<const char*>(t.raw_data()), t.nbytes());
    return;
  }
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const std::string_view text = t.string_at(i);
    const auto length = static_cast<uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof(length));
    out.append(text);
  }
}

size_t binary_bytes(const Tensor& t) {
  if (t.dtype() != DType::string) return t.nbytes();
  size_t bytes = 0;
  for (int64_t i = 0; i < t.num_elements(); ++i) bytes += sizeof(uint32_t) + t.string_at(i).size();
  return bytes;
}

int64_t version_from_text(std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    refuse(Code::invalid_argument, "'", text, "' is no version");
  }
  return number;
}

}  // namespace tidemark::serve
