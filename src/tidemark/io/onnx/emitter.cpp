#include "tidemark/io/onnx/emitter.h"

#include <tidemark/call.h>

#include <bit>

namespace tidemark::io::onnx {

namespace {

enum AttributeField : uint32_t {
  kName = 1,
  kReal = 2,
  kInt = 3,
  kText = 4,
  kGraph = 6,
  kInts = 8,
  kKind = 20
};
enum AttributeKind : uint64_t { kIsReal = 1, kIsInt = 2, kIsText = 3, kIsGraph = 5, kIsInts = 7 };

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

void Emitter::put_with_graphs(std::string_view op, const Names& inputs, const Names& outputs,
                              const std::vector<std::pair<std::string_view, std::string>>& graphs) {
  BytesSink node;
  for (const std::string& name : inputs) put_bytes_field(node, 1, name);
  for (const std::string& name : outputs) put_bytes_field(node, 2, name);
  put_bytes_field(node, 4, op);
  for (const auto& [name, fields] : graphs) {
    BytesSink given;
    put_bytes_field(given, kName, name);
    put_bytes_field(given, kGraph, fields);
    put_varint_field(given, kKind, kIsGraph);
    put_bytes_field(node, 5, given.bytes);
  }
  add_field(nodes, 1, node.bytes);
}

std::string value_info(const std::string& name, DType dtype, const Shape& dims) {
  BytesSink shape, tensor, type, out;
  for (int i = 0; dims.has_rank() && i < dims.rank(); ++i) {
    BytesSink dim;
    if (dims[i] == kUnknownDim) {
      put_bytes_field(dim, 2, message(name, "_", i));
    } else {
      put_varint_field(dim, 1, static_cast<uint64_t>(dims[i]));
    }
    put_bytes_field(shape, 1, dim.bytes);
  }
  put_varint_field(tensor, 1, static_cast<uint64_t>(element_of(dtype)));
  if (dims.has_rank()) put_bytes_field(tensor, 2, shape.bytes);
  put_bytes_field(type, 1, tensor.bytes);
  put_bytes_field(out, 1, name);
  put_bytes_field(out, 2, type.bytes);
  return std::move(out.bytes);
}

std::string Emitter::fresh(std::string_view kind) {
  for (;;) {
    std::string name = message(kind, count_++);
    if (taken_.insert(name).second) return name;
  }
}

std::string Emitter::constant(const Tensor& value, const std::string& wanted) {
  const auto found = name_of_constant_.find(value.impl());
  if (found != name_of_constant_.end()) return found->second;
  const bool is_free = !wanted.empty() && taken_.insert(wanted).second;
  std::string name = is_free ? wanted : fresh("c");
  constants_.emplace_back(name, value.to(Device()));
  held_.push_back(value);
  name_of_constant_.emplace(value.impl(), name);
  return name;
}

std::string Emitter::ints(const Ints& values) {
  const NoHandlers now;
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

std::string Emitted::sizes(size_t i, int64_t from, int64_t to) const {
  const std::string all = put("Shape", {in(i)});
  if (from == 0 && to == kLast) return all;
  return put("Slice", {all, out.ints({from}), out.ints({to})});
}

std::string Emitted::as_int64(size_t i) const {
  if (tensor(i).dtype() == DType::int64) return in(i);
  return out.put("Cast", {in(i)}, {{"to", DType::int64}});
}

}  // namespace tidemark::io::onnx
