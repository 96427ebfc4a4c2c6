#include "tidemark/io/onnx/messages.h"

#include <bit>
#include <set>

#include "tidemark/io/input_file.h"

namespace tidemark::io::onnx {

namespace {

constexpr int kDeepest = 64;  // graphs in attributes of nodes, types in types

[[noreturn]] void malformed(std::string_view what) {
  fail<DataLossError>("this is no ONNX model, or a damaged one: ", what);
}

/// Calls `use` for each field, and fails where the message is cut short or malformed.
template <class Use>
void each_field(std::string_view bytes, std::string_view what, const Use& use) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) use(field);
  if (!reader.ok()) malformed(what);
}

std::string_view text_of(const WireField& field) {
  if (!field.is_bytes()) malformed("a number stands where a text or message is due");
  return field.bytes;
}

int64_t number_of(const WireField& field) {
  if (field.is_bytes()) malformed("a text stands where a number is due");
  return static_cast<int64_t>(field.value);
}

/// Repeated integers, packed or not.
void take_ints(const WireField& field, Ints& out) {
  if (!field.is_bytes()) return out.push_back(number_of(field));
  std::string_view rest = field.bytes;
  for (uint64_t value = 0; !rest.empty();) {
    if (!take_varint(rest, value)) malformed("a list of integers");
    out.push_back(static_cast<int64_t>(value));
  }
}

void take_floats(const WireField& field, std::vector<float>& out) {
  if (!field.is_bytes()) {
    return out.push_back(std::bit_cast<float>(static_cast<uint32_t>(field.value)));
  }
  std::string_view rest = field.bytes;
  for (float value = 0; !rest.empty();) {
    if (!take_fixed(rest, value)) malformed("a list of numbers");
    out.push_back(value);
  }
}

std::pair<std::string_view, std::string_view> read_entry(std::string_view bytes) {
  std::pair<std::string_view, std::string_view> out;
  each_field(bytes, "an entry", [&](const WireField& f) {
    if (f.number == 1) out.first = text_of(f);
    if (f.number == 2) out.second = text_of(f);
  });
  return out;
}

Element element_of(int64_t number) {
  if (number < 0 || number >= kElements) {
    malformed(message("element type ", number, " is none of ONNX's"));
  }
  return static_cast<Element>(number);
}

TensorMessage read_tensor(std::string_view bytes) {
  TensorMessage out;
  each_field(bytes, "a tensor", [&](const WireField& f) {
    switch (f.number) {
      case 1:
        take_ints(f, out.dims);
        break;
      case 2:
        out.element = element_of(number_of(f));
        break;
      case 3:
        malformed("a tensor in segments");
      case 4:
      case 5:
      case 7:
      case 10:
      case 11:
        out.numbers.push_back(f);
        break;
      case 6:
        out.strings.push_back(text_of(f));
        break;
      case 8:
        out.name = text_of(f);
        break;
      case 9:
        out.raw = text_of(f);
        out.has_raw = true;
        break;
      case 13:
        out.external.push_back(read_entry(text_of(f)));
        break;
      case 14:
        out.is_external = number_of(f) == 1;
        break;
      default:
        break;
    }
  });
  for (const int64_t dim : out.dims) {
    if (dim < 0) malformed("a tensor with a negative size");
  }
  if (out.dims.size() > 64) malformed("a tensor of more than 64 dimensions");
  return out;
}

SparseMessage read_sparse(std::string_view bytes) {
  SparseMessage out;
  each_field(bytes, "a sparse tensor", [&](const WireField& f) {
    if (f.number == 1) out.values = read_tensor(text_of(f));
    if (f.number == 2) out.indices = read_tensor(text_of(f));
    if (f.number == 3) take_ints(f, out.dims);
  });
  for (const int64_t dim : out.dims) {
    if (dim < 0) malformed("a tensor with a negative size");
  }
  return out;
}

void read_dims(std::string_view bytes, Type& out) {
  out.has_shape = true;
  each_field(bytes, "a shape", [&](const WireField& f) {
    if (f.number != 1) return;
    int64_t size = -1;
    std::string_view name;
    each_field(text_of(f), "a size", [&](const WireField& g) {
      if (g.number == 1) size = number_of(g);
      if (g.number == 2) name = text_of(g);
    });
    out.dims.push_back(size < 0 ? -1 : size);
    out.names.push_back(name);
  });
  if (out.dims.size() > 64) malformed("a shape of more than 64 dimensions");
}

Type read_type(std::string_view bytes, int depth) {
  if (depth > kDeepest) malformed("types are nested too deeply");
  Type out;
  each_field(bytes, "a type", [&](const WireField& f) {
    if (f.number == 1) {
      out.kind = Type::Kind::tensor;
      each_field(text_of(f), "a type", [&](const WireField& g) {
        if (g.number == 1) out.element = element_of(number_of(g));
        if (g.number == 2) read_dims(text_of(g), out);
      });
    } else if (f.number == 4 || f.number == 9) {
      out.kind = f.number == 4 ? Type::Kind::sequence : Type::Kind::optional;
      out.inner = std::make_shared<Type>();
      each_field(text_of(f), "a type", [&](const WireField& g) {
        if (g.number == 1) *out.inner = read_type(text_of(g), depth + 1);
      });
      out.element = out.inner->element;
    } else if (f.number == 5 || f.number == 8) {
      out.kind = Type::Kind::other;
    }
  });
  return out;
}

ValueInfo read_value_info(std::string_view bytes) {
  ValueInfo out;
  each_field(bytes, "a value", [&](const WireField& f) {
    if (f.number == 1) out.name = text_of(f);
    if (f.number == 2) out.type = read_type(text_of(f), 0);
  });
  return out;
}

Graph read_graph(std::string_view bytes, int depth);

Attribute read_attribute(std::string_view bytes, int depth) {
  Attribute out;
  each_field(bytes, "an attribute", [&](const WireField& f) {
    switch (f.number) {
      case 1:
        out.name = text_of(f);
        break;
      case 2:
        out.real = std::bit_cast<float>(static_cast<uint32_t>(number_of(f)));
        break;
      case 3:
        out.integer = number_of(f);
        break;
      case 4:
        out.text = text_of(f);
        break;
      case 5:
        out.tensor = std::make_shared<TensorMessage>(read_tensor(text_of(f)));
        break;
      case 6:
        out.graph = std::make_shared<Graph>(read_graph(text_of(f), depth + 1));
        break;
      case 7:
        take_floats(f, out.reals);
        break;
      case 8:
        take_ints(f, out.integers);
        break;
      case 9:
        out.texts.push_back(text_of(f));
        break;
      case 10:
        out.tensors.push_back(read_tensor(text_of(f)));
        break;
      case 14:
        out.type = std::make_shared<Type>(read_type(text_of(f), 0));
        break;
      case 20:
        out.kind = number_of(f);
        break;
      case 21:
        out.refers_to = text_of(f);
        break;
      case 22:
        out.sparse = std::make_shared<SparseMessage>(read_sparse(text_of(f)));
        break;
      default:
        break;
    }
  });
  return out;
}

Node read_node(std::string_view bytes, int depth) {
  Node out;
  each_field(bytes, "a node", [&](const WireField& f) {
    if (f.number == 1) out.inputs.push_back(text_of(f));
    if (f.number == 2) out.outputs.push_back(text_of(f));
    if (f.number == 3) out.name = text_of(f);
    if (f.number == 4) out.op = text_of(f);
    if (f.number == 5) out.attributes.push_back(read_attribute(text_of(f), depth));
    if (f.number == 7) out.domain = plain_domain(text_of(f));
    if (f.number == 8) out.overload = text_of(f);
  });
  return out;
}

Graph read_graph(std::string_view bytes, int depth) {
  if (depth > kDeepest) malformed("graphs are nested too deeply");
  Graph out;
  each_field(bytes, "a graph", [&](const WireField& f) {
    if (f.number == 1) out.nodes.push_back(read_node(text_of(f), depth));
    if (f.number == 2) out.name = text_of(f);
    if (f.number == 5) out.initializers.push_back(read_tensor(text_of(f)));
    if (f.number == 11) out.inputs.push_back(read_value_info(text_of(f)));
    if (f.number == 12) out.outputs.push_back(read_value_info(text_of(f)));
    if (f.number == 15) out.sparse_initializers.push_back(read_sparse(text_of(f)));
  });
  return out;
}

void read_opset(std::string_view bytes, Opsets& out) {
  std::string_view domain;
  int64_t version = 0;
  each_field(bytes, "an opset", [&](const WireField& f) {
    if (f.number == 1) domain = plain_domain(text_of(f));
    if (f.number == 2) version = number_of(f);
  });
  out[domain] = version;
}

Function read_function(std::string_view bytes) {
  Function out;
  each_field(bytes, "a function", [&](const WireField& f) {
    if (f.number == 1) out.name = text_of(f);
    if (f.number == 4) out.inputs.push_back(text_of(f));
    if (f.number == 5) out.outputs.push_back(text_of(f));
    if (f.number == 6) out.attributes.push_back(text_of(f));
    if (f.number == 7) out.nodes.push_back(read_node(text_of(f), 0));
    if (f.number == 9) read_opset(text_of(f), out.opsets);
    if (f.number == 10) out.domain = plain_domain(text_of(f));
    if (f.number == 11) out.defaults.push_back(read_attribute(text_of(f), 0));
    if (f.number == 13) out.overload = text_of(f);
  });
  return out;
}

}  // namespace

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

Model read_model(std::string_view bytes) {
  Model out;
  bool has_graph = false;
  each_field(bytes, "the model", [&](const WireField& f) {
    if (f.number == 1) out.ir_version = number_of(f);
    if (f.number == 2) out.producer = text_of(f);
    if (f.number == 7) {
      if (has_graph) malformed("it holds two graphs");
      out.graph = read_graph(text_of(f), 0);
      has_graph = true;
    }
    if (f.number == 8) read_opset(text_of(f), out.opsets);
    if (f.number == 25) out.functions.push_back(read_function(text_of(f)));
  });
  if (!has_graph) malformed("there is no graph");
  if (out.opsets.empty()) out.opsets[""] = 1;
  return out;
}

}  // namespace tidemark::io::onnx
