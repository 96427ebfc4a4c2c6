#include "tidemark/io/onnx/writer.h"

#include <tidemark/call.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <utility>

#include "tidemark/graph/specials.h"
#include "tidemark/io/file_writer.h"
#include "tidemark/io/mapped_file.h"
#include "tidemark/io/onnx/emitter.h"
#include "tidemark/io/onnx/messages.h"

namespace tidemark::io::onnx {

namespace {

constexpr uint32_t kInitializer = 5, kGraphOfModel = 7, kRawData = 9, kExternalData = 13;
constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);
// Weights beside the model begin at multiples of a page, so that readers can map them; smaller ones
// stay in it.
constexpr uint64_t kPage = 4096;

/// Whether every attribute that has no place there has its default.
bool says_all(const graph::Node& node, const ForeignOp& foreign) {
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const Param& param = node.op->params()[static_cast<size_t>(node.op->attrs()[i])];
    bool is_said = node.attrs[i] == param.fallback || (node.attrs[i].is_none() && param.optional);
    for (const auto& [theirs, ours] : foreign.attrs) is_said |= ours == param.name;
    for (const std::string& input : foreign.inputs) is_said |= input == param.name;
    if (!is_said) return false;
  }
  return true;
}

bool is_control(const graph::Node& node) {
  return node.special && !node.special->inner_graphs().empty() && !node.special->recording();
}

/// What only looks at values is left out: prints and checks.
bool is_left_out(const graph::Node& node) {
  return node.special && node.outputs.empty() && !node.special->update() &&
         node.special->inner_graphs().empty();
}

bool is_written(const graph::Node& node) {
  if (!node.op) {
    return graph::is_constant(node) || graph::is_placeholder(node) || is_left_out(node) ||
           is_control(node) || node.special->shown_variable() ||
           node.special->passed_inputs_at().has_value();
  }
  if (find_emit(node.op->name())) return true;
  const ForeignOp* foreign = node.op->foreign(Vocabulary::onnx);
  return foreign && says_all(node, *foreign);
}

/// An attribute of ours that is an input there.
std::string attr_as_input(Emitter& out, const Attr& attr) {
  if (attr.is_none()) return {};
  if (attr.kind() == AttrKind::ints) return out.ints(attr.as_ints());
  return out.constant(
      Tensor(attr.kind() == AttrKind::boolean ? int64_t{attr.as_bool()} : attr.as_int()));
}

Names put_one_to_one(Emitter& out, const graph::Node& node) {
  const OpDef& op = *node.op;
  const ForeignOp& foreign = *op.foreign(Vocabulary::onnx);
  Names inputs;
  for (const std::string& name : foreign.inputs) {
    if (const int attr = op.attr_index(name); attr >= 0) {
      inputs.push_back(attr_as_input(out, node.attrs[static_cast<size_t>(attr)]));
      continue;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (op.input_param(static_cast<int>(i)).name == name)
        inputs.push_back(out.name_of(node.inputs[i]));
    }
  }
  std::vector<Given> attrs;
  for (const auto& [theirs, ours] : foreign.attrs) {
    Attr value = node.attrs[static_cast<size_t>(op.attr_index(ours))];
    if (value.is_none() && op.is_along_axis()) value = Attr(int64_t{op.axis_unless_given()});
    attrs.push_back({theirs, std::move(value)});
  }
  Names outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) outputs.push_back(out.fresh());
  out.put_all(foreign.name, inputs, outputs, attrs);
  return outputs;
}

void name_all(Emitter& out, const graph::Node& node, const Names& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    out.set_name(node, static_cast<uint32_t>(i), names[i]);
  }
}

void put_node(Emitter& out, const graph::Node& node) {
  if (node.op) {
    const Emit emit = find_emit(node.op->name());
    return name_all(out, node, emit ? emit({out, node}) : put_one_to_one(out, node));
  }
  if (graph::is_constant(node)) return out.set_name(node, 0, out.name_of(node.inputs[0]));
  if (is_control(node)) return name_all(out, node, emit_control(out, node));
  if (const Variable* variable = node.special->shown_variable()) {
    const NoHandlers now;
    return out.set_name(node, 0, out.constant(variable->value(), variable->name()));
  }
  if (const auto first = node.special->passed_inputs_at()) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      out.set_name(node, static_cast<uint32_t>(i), out.name_of(node.inputs[*first + i]));
    }
  }
}

void throw_missing(const Emitter& out) {
  if (out.missing.empty()) return;
  std::string text = "the function uses what has no form in ONNX yet:";
  for (const auto& [what, line] : out.missing) {
    text += "\n  " + what;
    if (!line.empty()) text += ", " + line;
  }
  throw UnimplementedError(text);
}

void put_place(BytesSink& out, std::string_view key, std::string_view value) {
  BytesSink entry;
  put_bytes_field(entry, 1, key);
  put_bytes_field(entry, 2, value);
  put_bytes_field(out, kExternalData, entry.bytes);
}

BytesSink naming(const std::string& name, const Tensor& t) {
  BytesSink out;
  for (const int64_t dim : t.shape()) put_varint_field(out, 1, static_cast<uint64_t>(dim));
  put_varint_field(out, 2, static_cast<uint64_t>(element_of(t.dtype())));
  put_bytes_field(out, 8, name);
  return out;
}

/// The message of a tensor whose elements lie in a file beside the model.
std::string message_of(const std::string& name, const Tensor& t, const std::string& file,
                       uint64_t offset) {
  BytesSink out = naming(name, t);
  put_place(out, "location", file);
  put_place(out, "offset", message(offset));
  put_place(out, "length", message(t.nbytes()));
  put_varint_field(out, 14, 1);
  return std::move(out.bytes);
}

/// A tensor's message but for its elements, which stand last in it.
std::string head_of(const std::string& name, const Tensor& t) {
  BytesSink out = naming(name, t);
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) put_bytes_field(out, 6, t.string_at(i));
  } else {
    put_varint(out, kRawData << 3 | 2);
    put_varint(out, t.nbytes());
  }
  return std::move(out.bytes);
}

std::string_view elements_of(const Tensor& t) {
  if (t.dtype() == DType::string) return {};
  return {static_cast<const char*>(t.raw_data()), t.nbytes()};
}

/// A field's number and length; its bytes follow.
std::string field_head(uint32_t number, uint64_t length) {
  BytesSink out;
  put_varint(out, uint64_t{number} << 3 | 2);
  put_varint(out, length);
  return std::move(out.bytes);
}

/// The versions of the format that came with versions of the ops.
uint64_t ir_version(int64_t opset) {
  return opset <= 18 ? 8 : opset <= 20 ? 9 : opset <= 22 ? 10 : opset == 23 ? 11 : 12;
}

}  // namespace

void emit_graph(Emitter& out, const graph::Graph& graph) {
  for (const graph::Node* node : graph.nodes()) {
    if (graph::is_placeholder(*node)) continue;
    std::string why;
    if (is_written(*node)) {
      try {
        put_node(out, *node);
        continue;
      } catch (const UnimplementedError& error) {
        why = error.what();
      }
    } else {
      why = graph::kind_of(*node);
    }
    out.missing.emplace(why, node->site ? memory::describe(*node->site) : std::string());
    name_all(out, *node, Names(node->outputs.size(), "missing"));
  }
}

struct ModelMessage::Parts {
  Emitter emitter;
  BytesSink body;  // of the graph, but for its tensors
  int64_t opset = 0;

  const std::vector<std::pair<std::string, Tensor>>& tensors() const { return emitter.constants(); }
};

ModelMessage::ModelMessage(const graph::Graph& graph, std::span<const std::string> inputs,
                           std::span<const std::string> outputs, int64_t opset) {
  if (opset < kOldestWritten) {
    fail("ONNX models are written for opset ", kOldestWritten, " and later; ", opset, " was asked");
  }
  if (inputs.size() != graph.inputs().size() || outputs.size() != graph.outputs().size()) {
    fail("the function has ", graph.inputs().size(), " inputs and ", graph.outputs().size(),
         " outputs; ", inputs.size(), " and ", outputs.size(), " names were given");
  }
  auto parts = std::make_unique<Parts>();
  parts->opset = opset;
  Emitter& out = parts->emitter;
  for (const std::span<const std::string> names : {inputs, outputs}) {
    for (const std::string& name : names) out.reserve(name);
  }
  BytesSink ports;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = graph.inputs()[i];
    out.set_name(graph::node_of(t), 0, inputs[i]);
    put_bytes_field(ports, 11, value_info(inputs[i], t.dtype(), t.shape()));
  }
  emit_graph(out, graph);
  throw_missing(out);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = graph.outputs()[i];
    out.put_all("Identity", {out.name_of(t)}, {outputs[i]}, {});
    put_bytes_field(ports, 12, value_info(outputs[i], t.dtype(), t.shape()));
  }
  parts->body.append(out.nodes);
  put_bytes_field(parts->body, 2, graph.name());
  parts->body.append(ports.bytes);
  parts_ = std::move(parts);
}

ModelMessage::~ModelMessage() = default;

bool ModelMessage::fits_one_file() const {
  uint64_t length = parts_->body.bytes.size();
  for (const auto& [name, tensor] : parts_->tensors()) {
    length += head_of(name, tensor).size() + elements_of(tensor).size();
  }
  return length <= kMostBytes - (uint64_t{1} << 20);
}

void ModelMessage::write(const WriteBytes& write, const WeightsBeside* beside) const {
  const BytesSink& body = parts_->body;
  uint64_t length = body.bytes.size(), offset = 0;
  std::vector<std::string> heads;
  std::vector<std::pair<uint64_t, std::string_view>> outside;  // where each begins
  std::vector<std::string_view> inside;
  for (const auto& [name, tensor] : parts_->tensors()) {
    std::string_view elements = elements_of(tensor);
    std::string own;
    if (beside && elements.size() >= kPage) {
      own = message_of(name, tensor, beside->name, offset);
      outside.emplace_back(offset, std::exchange(elements, {}));
      offset += (tensor.nbytes() + kPage - 1) / kPage * kPage;
    } else {
      own = head_of(name, tensor);
    }
    heads.push_back(field_head(kInitializer, own.size() + elements.size()) + own);
    inside.push_back(elements);
    length += heads.back().size() + elements.size();
  }
  if (length > kMostBytes) {
    fail<UnimplementedError>("the model takes ", length, " bytes; files of ONNX hold ", kMostBytes,
                             " at the most");
  }
  uint64_t written = 0;
  for (const auto& [begin, elements] : outside) {
    beside->write(std::string(begin - written, '\0'));
    beside->write(elements);
    written = begin + elements.size();
  }
  BytesSink version, head, tail;
  put_varint_field(head, 1, ir_version(parts_->opset));
  put_bytes_field(head, 2, "tidemark");
  write(head.bytes + field_head(kGraphOfModel, length) + body.bytes);
  for (size_t i = 0; i < heads.size(); ++i) {
    write(heads[i]);
    write(inside[i]);
  }
  put_bytes_field(version, 1, "");
  put_varint_field(version, 2, static_cast<uint64_t>(parts_->opset));
  put_bytes_field(tail, 8, version.bytes);
  write(tail.bytes);
}

namespace {

/// Which of the files the model at the path has its weights in; empty: in none of them.
std::string weights_of(const std::string& path, std::initializer_list<std::string> files) {
  if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored)) return {};
  try {
    const auto file = MappedFile::open(path, MappedFile::How::mapped);
    const Model model = read_model(file->bytes());
    for (const TensorMessage& tensor : model.graph.initializers) {
      for (const auto& [key, value] : tensor.external) {
        for (const std::string& one : files) {
          if (key == "location" && value == std::filesystem::path(one).filename()) return one;
        }
      }
    }
  } catch (const Error&) {
    // It is no model: nothing belongs to it.
  }
  return {};
}

}  // namespace

void ModelMessage::save(const std::string& path, bool weights_beside) const {
  remove_abandoned(path);
  const std::string first = path + ".data", second = path + ".data-2";
  // The model that is there keeps its weights until the new one has its place.
  const std::string before = weights_of(path, {first, second});
  FileWriter file(path);
  const auto into_file = [&](std::string_view bytes) { file.write(bytes); };
  if (!weights_beside && fits_one_file()) {
    write(into_file);
    file.commit();
  } else {
    const std::string place = before == first ? second : first;
    FileWriter weights(place);
    const WeightsBeside beside{std::filesystem::path(place).filename().string(),
                               [&](std::string_view bytes) { weights.write(bytes); }};
    write(into_file, &beside);
    weights.commit();
    try {
      file.commit();
    } catch (...) {
      ::unlink(place.c_str());  // nothing names them
      throw;
    }
  }
  if (!before.empty()) ::unlink(before.c_str());
}

}  // namespace tidemark::io::onnx
