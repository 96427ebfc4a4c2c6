#include "tidemark/io/onnx/emitter.h"

#include <tidemark/call.h>

#include <bit>

namespace tidemark::io::onnx {

namespace {

enum AttributeField : uint32_t { kName = 1, kReal = 2, kInt = 3, kText = 4, kInts = 8, kKind = 20 };
enum AttributeKind : uint64_t { kIsReal = 1, kIsInt = 2, kIsText = 3, kIsInts = 7 };

void put_real(BytesSink& out, double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  put_varint(out, kReal << 3 | 5);
  for (int i = 0; i < 4; ++i) out.append(static_cast<char>(bits >> (8 * i)));
  put_varint_field(out, kKind, kIsReal);
}

void put_int(BytesSink& out, int64_t value) {
  put_varint_field(out, kInt, static_cast<uint64_t>(value));
  put_varint_field(out, kKind, kIsInt);
}

std::string attribute(const Given& given) {
  BytesSink out;
  put_bytes_field(out, kName, given.name);
  switch (given.value.kind()) {
    case AttrKind::boolean:
      put_int(out, given.value.as_bool());
      break;
    case AttrKind::integer:
      put_int(out, given.value.as_int());
      break;
    case AttrKind::dtype:
      put_int(out, static_cast<int64_t>(element_of(given.value.as_dtype())));
      break;
    case AttrKind::real:
      put_real(out, given.value.as_real());
      break;
    case AttrKind::string:
      put_bytes_field(out, kText, given.value.as_string());
      put_varint_field(out, kKind, kIsText);
      break;
    case AttrKind::ints:
      for (const int64_t value : given.value.as_ints()) {
        put_varint_field(out, kInts, static_cast<uint64_t>(value));
      }
      put_varint_field(out, kKind, kIsInts);
      break;
  }
  return std::move(out.bytes);
}

std::string tensor_message(const std::string& name, const Tensor& t) {
  BytesSink out;
  for (const int64_t dim : t.shape()) put_varint_field(out, 1, static_cast<uint64_t>(dim));
  put_varint_field(out, 2, static_cast<uint64_t>(element_of(t.dtype())));
  put_bytes_field(out, 8, name);
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) put_bytes_field(out, 6, t.string_at(i));
  } else {
    put_bytes_field(out, 9, {static_cast<const char*>(t.raw_data()), t.nbytes()});
  }
  return std::move(out.bytes);
}

void add_field(std::string& to, uint32_t number, std::string_view bytes) {
  BytesSink out;
  put_bytes_field(out, number, bytes);
  to += out.bytes;
}

}  // namespace

void Emitter::put_all(std::string_view op, const Names& inputs, const Names& outputs,
                      std::span<const Given> attrs) {
  BytesSink node;
  for (const std::string& name : inputs) put_bytes_field(node, 1, name);
  for (const std::string& name : outputs) put_bytes_field(node, 2, name);
  put_bytes_field(node, 4, op);
  for (const Given& given : attrs) {
    if (!given.value.is_none()) put_bytes_field(node, 5, attribute(given));
  }
  add_field(nodes, 1, node.bytes);
}

std::string Emitter::put(std::string_view op, const Names& inputs, std::span<const Given> attrs) {
  std::string name = fresh();
  put_all(op, inputs, {name}, attrs);
  return name;
}

std::string Emitter::constant(const Tensor& value) {
  const auto found = constants_.find(value.impl());
  if (found != constants_.end()) return found->second;
  std::string name = message("c", count_++);
  add_field(initializers, 5, tensor_message(name, value.to(Device())));
  held_.push_back(value);
  constants_.emplace(value.impl(), name);
  return name;
}

std::string Emitter::ints(const Ints& values) {
  return constant(Tensor::of<int64_t>(values, Shape{static_cast<int64_t>(values.size())}));
}

std::string Emitter::real(double value, DType dtype) {
  const NoHandlers now;
  return constant(call("cast", {Tensor(value)}, {{"dtype", dtype}}));
}

std::string Emitter::name_of(const Tensor& t) {
  if (!t.is_symbolic()) return constant(t);
  return names_.at({&graph::node_of(t), graph::symbolic(t).index});
}

int Emitted::rank(size_t i) const {
  if (!tensor(i).shape().has_rank()) {
    fail<UnimplementedError>("[", node.op->name(),
                             "] of a tensor of unknown rank has no form in ONNX");
  }
  return tensor(i).rank();
}

std::string Emitted::as_int64(size_t i) const {
  if (tensor(i).dtype() == DType::int64) return in(i);
  return out.put("Cast", {in(i)}, {{"to", DType::int64}});
}

}  // namespace tidemark::io::onnx
