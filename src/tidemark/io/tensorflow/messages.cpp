#include "tidemark/io/tensorflow/messages.h"

#include <algorithm>
#include <string>

#include "tidemark/base/wire.h"
#include "tidemark/io/input_file.h"

namespace tidemark::io::tensorflow {

namespace {

/// Calls `take` for each field that holds bytes; numbers of others are given with empty bytes.
template <class Take>
void for_fields(std::string_view bytes, std::string_view what, Take take) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) take(field);
  if (!reader.ok()) fail_malformed(what);
}

OpMessage::Argument read_argument(std::string_view bytes) {
  OpMessage::Argument out;
  for_fields(bytes, "an argument of an op", [&](const WireField& field) {
    if (field.number == 1) out.name = field.bytes;
    if (field.number == 5) out.number_attr = field.bytes;
    if (field.number == 6) out.type_list_attr = field.bytes;
  });
  return out;
}

void read_default(std::string_view bytes, OpMessage& out) {
  std::string_view name, value;
  bool has_value = false;
  for_fields(bytes, "an attribute of an op", [&](const WireField& field) {
    if (field.number == 1) name = field.bytes;
    if (field.number == 3 && field.is_bytes()) value = field.bytes, has_value = true;
  });
  if (has_value) out.defaults[name] = value;
}

OpMessage read_op(std::string_view bytes) {
  OpMessage out;
  for_fields(bytes, "an op's definition", [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == 1) out.name = field.bytes;
    if (field.number == 2) out.inputs.push_back(read_argument(field.bytes));
    if (field.number == 3) out.outputs.push_back(read_argument(field.bytes));
    if (field.number == 4) read_default(field.bytes, out);
  });
  return out;
}

NodeMessage read_node(std::string_view bytes) {
  NodeMessage out;
  for_fields(bytes, "a node", [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == 1) out.name = field.bytes;
    if (field.number == 2) out.op = field.bytes;
    if (field.number == 3) out.inputs.push_back(field.bytes);
    if (field.number == 5) out.attrs.push_back(read_entry(field.bytes));
  });
  return out;
}

void read_library(std::string_view bytes, GraphMessage& out) {
  for_fields(bytes, "the library of functions", [&](const WireField& field) {
    if (field.number != 1 || !field.is_bytes()) return;
    std::string_view name;
    for_fields(field.bytes, "a function", [&](const WireField& inner) {
      if (inner.number != 1 || !inner.is_bytes()) return;
      for_fields(inner.bytes, "a function's signature", [&](const WireField& part) {
        if (part.number == 1) name = part.bytes;
      });
    });
    if (name.empty()) fail_malformed("a function without a name");
    if (!out.functions.emplace(name, field.bytes).second) fail_malformed("a function stands twice");
  });
}

TensorInfoMessage read_tensor_info(std::string_view name, std::string_view bytes) {
  TensorInfoMessage out;
  out.name = name;
  for_fields(bytes, "an input or output of a signature", [&](const WireField& field) {
    if (field.number == 1) out.tensor = field.bytes;
    if (field.number == 2 && field.is_varint()) out.dtype = field.value;
    if (field.number == 3 && field.is_bytes()) out.shape = field.bytes, out.has_shape = true;
  });
  return out;
}

SignatureMessage read_signature(std::string_view entry) {
  SignatureMessage out;
  const auto [name, bytes] = read_entry(entry);
  out.name = name;
  BytesByName inputs, outputs;
  for_fields(bytes, "a signature", [&](const WireField& field) {
    if (field.number != 1 && field.number != 2) return;
    const auto [key, value] = read_entry(field.bytes);
    (field.number == 1 ? inputs : outputs)[key] = value;
  });
  for (const auto& [key, value] : inputs) out.inputs.push_back(read_tensor_info(key, value));
  for (const auto& [key, value] : outputs) out.outputs.push_back(read_tensor_info(key, value));
  return out;
}

AssetMessage read_asset(std::string_view bytes) {
  AssetMessage out;
  for_fields(bytes, "an asset", [&](const WireField& field) {
    if (field.number == 1) out.tensor = read_tensor_info({}, field.bytes).tensor;
    if (field.number == 2) out.file = field.bytes;
  });
  return out;
}

void read_info(std::string_view bytes, MetaGraphMessage& out) {
  for_fields(bytes, "what the file says of itself", [&](const WireField& field) {
    if (field.number == 2) {
      for_fields(field.bytes, "the list of ops", [&](const WireField& op) {
        if (op.number != 1) return;
        OpMessage made = read_op(op.bytes);
        out.ops[made.name] = std::move(made);
      });
    }
    if (field.number == 4) out.tags.push_back(field.bytes);
    if (field.number == 5) out.version = field.bytes;
    if (field.number == 8) out.function_aliases.insert(read_entry(field.bytes));
  });
}

void read_collection(std::string_view entry, MetaGraphMessage& out) {
  const auto [name, bytes] = read_entry(entry);
  Texts& nodes = out.collections[name];
  for_fields(bytes, "a collection", [&](const WireField& field) {
    if (field.number != 1) return;
    for_fields(field.bytes, "a collection", [&](const WireField& node) {
      if (node.number == 1) nodes.push_back(node.bytes);
    });
  });
}

void read_saver(std::string_view bytes, MetaGraphMessage& out) {
  for_fields(bytes, "the saver", [&](const WireField& field) {
    if (field.number == 1) out.filename_tensor = field.bytes;
    if (field.number == 3) out.restore_op = field.bytes;
  });
}

}  // namespace

void fail_malformed(std::string_view what) {
  fail<DataLossError>("the saved model is damaged: ", what);
}

const std::string_view* NodeMessage::find(std::string_view attr) const {
  for (const auto& [name, value] : attrs) {
    if (name == attr) return &value;
  }
  return nullptr;
}

std::pair<std::string_view, std::string_view> read_entry(std::string_view bytes) {
  std::pair<std::string_view, std::string_view> out;
  for_fields(bytes, "an entry of a map", [&](const WireField& field) {
    if (field.number == 1) out.first = field.bytes;
    if (field.number == 2) out.second = field.bytes;
  });
  return out;
}

std::vector<std::string_view> read_meta_graphs(std::string_view saved_model) {
  std::vector<std::string_view> out;
  for_fields(saved_model, "saved_model.pb", [&](const WireField& field) {
    if (field.number == 1 && field.is_varint() && field.value != 1) {
      fail<UnimplementedError>("the saved model has version ", field.value, " of its format; ",
                               "version 1 is read");
    }
    if (field.number == 2 && field.is_bytes()) out.push_back(field.bytes);
  });
  return out;
}

MetaGraphMessage read_meta_graph(std::string_view bytes) {
  MetaGraphMessage out;
  for_fields(bytes, "a meta graph", [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == 1) read_info(field.bytes, out);
    if (field.number == 2) out.graph = field.bytes;
    if (field.number == 3) read_saver(field.bytes, out);
    if (field.number == 4) read_collection(field.bytes, out);
    if (field.number == 5) out.signatures.push_back(read_signature(field.bytes));
    if (field.number == 6) out.assets.push_back(read_asset(field.bytes));
    if (field.number == 7) out.objects = field.bytes, out.has_objects = true;
  });
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(out.signatures.begin(), out.signatures.end(), by_name);
  for (size_t i = 1; i < out.signatures.size(); ++i) {
    if (out.signatures[i].name == out.signatures[i - 1].name) {
      fail_malformed("a signature stands twice");
    }
  }
  return out;
}

GraphMessage read_graph_message(std::string_view bytes) {
  GraphMessage out;
  for_fields(bytes, "the graph", [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == 1) out.nodes.push_back(read_node(field.bytes));
    if (field.number == 2) read_library(field.bytes, out);
  });
  return out;
}

FunctionMessage read_function(std::string_view bytes) {
  FunctionMessage out;
  for_fields(bytes, "a function", [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == 1) out.signature = read_op(field.bytes);
    if (field.number == 3) out.nodes.push_back(read_node(field.bytes));
    if (field.number == 4) out.results.insert(read_entry(field.bytes));
    if (field.number == 6) out.control_results.push_back(read_entry(field.bytes).second);
  });
  return out;
}

}  // namespace tidemark::io::tensorflow
