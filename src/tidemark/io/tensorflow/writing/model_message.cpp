// A model as a SavedModel: a graph with a function for each signature, and objects that say which
// variables these are given. The root has two parts: `variables` and `signatures`.
#include <tidemark/handler.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "tidemark/io/bundle_writer.h"
#include "tidemark/io/folder_writer.h"
#include "tidemark/io/model_folder.h"
#include "tidemark/io/object_graph.h"
#include "tidemark/io/tensorflow/model.h"
#include "tidemark/io/tensorflow/writing/graph_def.h"
#include "tidemark/io/tensorflow/writing/node_writer.h"

namespace tidemark::io::tensorflow {

namespace {

constexpr uint64_t kProducer = 1987;                // a version of graphs that TensorFlow 2 reads
constexpr std::string_view kTensorFlow = "2.21.0";  // whose ops these are
constexpr std::string_view kPredict = "tensorflow/serving/predict";
constexpr std::string_view kStart = "__saved_model_init_op";

enum MetaField : uint32_t {
  kInfo = 1,
  kGraph = 2,
  kSaver = 3,
  kCollection = 4,
  kSignature = 5,
  kObjects = 7,
};

std::string graph_bytes(const NodeWriter& writer) {
  BytesSink out, library, versions;
  for (const WrittenNode& node : writer.nodes()) put_bytes_field(out, 1, bytes_of(node));
  for (const std::string& one : writer.library.functions()) put_bytes_field(library, 1, one);
  if (!library.bytes.empty()) put_bytes_field(out, 2, library.bytes);
  put_varint_field(versions, 1, kProducer);
  put_bytes_field(out, 4, versions.bytes);
  return std::move(out.bytes);
}

/// A name as nodes may have it.
std::string plain(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!is_fine) c = '_';
  }
  return out.empty() || out[0] == '_' || out[0] == '.' ? "x" + out : out;
}

/// Places of the names in alphabetical order.
std::vector<size_t> sorted_places(const Names& names) {
  std::vector<size_t> out(names.size());
  std::iota(out.begin(), out.end(), size_t{0});
  std::sort(out.begin(), out.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
  return out;
}

// --- objects
// --------------------------------------------------------------------------------------

/// StructuredValue: {name: spec} by names.
std::string dictionary_of(const Names& names, std::span<const Tensor> tensors) {
  BytesSink fields, out;
  for (const size_t at : sorted_places(names)) {
    BytesSink spec, value;
    put_bytes_field(spec, 1, names[at]);
    put_bytes_field(spec, 2, bytes_of(tensors[at].shape()));
    put_varint_field(spec, 3, static_cast<uint64_t>(tensors[at].dtype()));
    put_bytes_field(value, 33, spec.bytes);
    put_entry(fields, 1, names[at], value.bytes);
  }
  put_bytes_field(out, 53, fields.bytes);
  return std::move(out.bytes);
}

/// StructuredValue: ((), {name: spec}), positional arguments and those by name.
std::string arguments_of(const Names& names, std::span<const Tensor> tensors) {
  BytesSink nothing, pair, out;
  put_bytes_field(nothing, 52, "");
  put_bytes_field(pair, 1, nothing.bytes);
  put_bytes_field(pair, 1, dictionary_of(names, tensors));
  put_bytes_field(out, 52, pair.bytes);
  return std::move(out.bytes);
}

/// The objects, numbered: the root, the list of variables, the map of signatures, then those.
class Objects {
 public:
  explicit Objects(const std::vector<Variable>& variables, const std::vector<WrittenSignature>& all)
      : nodes_(3 + variables.size() + all.size()) {
    nodes_[kRoot].children = {{"variables", kVariables}, {"signatures", kSignatures}};
    for (size_t i = 0; i < variables.size(); ++i) {
      nodes_[kVariables].children.push_back({message(i), number_of_variable(i)});
      nodes_[number_of_variable(i)].attributes.push_back(
          {"VARIABLE_VALUE", variables[i].name(), key_of(i)});
    }
    for (size_t i = 0; i < all.size(); ++i) {
      nodes_[kSignatures].children.push_back({all[i].name, 3 + variables.size() + i});
    }
  }
  static uint64_t number_of_variable(size_t i) { return 3 + i; }
  static std::string key_of(size_t variable) {
    return message("variables/", variable, "/.ATTRIBUTES/VARIABLE_VALUE");
  }
  const std::vector<ObjectNode>& nodes() const { return nodes_; }

  /// SavedObjectGraph. `functions`: those of the signatures; `described`: its entries for them.
  std::string bytes(const std::vector<Variable>& variables,
                    const std::vector<WrittenSignature>& signatures, const Names& functions,
                    const std::string& described) const {
    BytesSink out;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      BytesSink node;
      for (const ObjectNode::Child& child : nodes_[i].children) {
        BytesSink link;
        put_varint_field(link, 1, child.node);
        put_bytes_field(link, 2, child.name);
        put_bytes_field(node, 1, link.bytes);
      }
      if (i < 3) {
        constexpr std::string_view kinds[] = {"_generic_user_object", "trackable_list_wrapper",
                                              "signature_map"};
        put_bytes_field(node, 4, user_object(kinds[i]));
      } else if (i < 3 + variables.size()) {
        put_bytes_field(node, 7, variable_object(variables[i - 3]));
      } else {
        const size_t at = i - 3 - variables.size();
        BytesSink function;
        put_bytes_field(function, 1, functions[at]);
        for (const size_t input : sorted_places(signatures[at].inputs)) {
          put_bytes_field(function, 2, signatures[at].inputs[input]);
        }
        put_bytes_field(node, 8, function.bytes);
      }
      put_bytes_field(out, 1, node.bytes);
    }
    out.append(described);
    return std::move(out.bytes);
  }

 private:
  enum Number : uint64_t { kRoot = 0, kVariables = 1, kSignatures = 2 };

  static std::string user_object(std::string_view kind) {
    BytesSink version, out;
    put_varint_field(version, 1, 1);
    put_varint_field(version, 2, 1);
    put_bytes_field(out, 1, kind);
    put_bytes_field(out, 2, version.bytes);
    return std::move(out.bytes);
  }
  static std::string variable_object(const Variable& variable) {
    BytesSink out;
    put_varint_field(out, 1, static_cast<uint64_t>(variable.dtype()));
    put_bytes_field(out, 2, bytes_of(variable.shape()));
    put_varint_field(out, 3, variable.trainable());
    put_bytes_field(out, 6, variable.name());
    return std::move(out.bytes);
  }

  std::vector<ObjectNode> nodes_;
};

// --- the graph
// ------------------------------------------------------------------------------------

std::string tensor_info(const std::string& name, DType dtype, const Shape& shape) {
  BytesSink out;
  put_bytes_field(out, 1, name);
  put_varint_field(out, 2, static_cast<uint64_t>(dtype));
  put_bytes_field(out, 3, bytes_of(shape));
  return std::move(out.bytes);
}

/// The parts of a meta graph that come up while functions are written.
struct Parts {
  NodeWriter& writer;
  Names handles;  // of all variables
  BytesSink signatures, described;
  Names functions;
};

/// A function that takes its inputs and gives its outputs in the order of names, then variables.
void add_signature(Parts& parts, const WrittenSignature& signature,
                   const std::vector<Variable>& all) {
  const graph::Graph& graph = *signature.graph;
  const std::vector<NamedVariable> used = variables_of(graph);
  const std::vector<size_t> inputs = sorted_places(signature.inputs),
                            outputs = sorted_places(signature.outputs);
  std::vector<DType> types, made;
  std::vector<size_t> places(inputs.size());
  for (size_t at = 0; at < inputs.size(); ++at) {
    types.push_back(graph.inputs()[inputs[at]].dtype());
    places[inputs[at]] = at;
  }
  std::vector<Tensor> results;
  for (const size_t at : outputs) {
    results.push_back(graph.outputs()[at]);
    made.push_back(results.back().dtype());
  }
  FunctionWriter function(parts.writer.library, "__inference_" + plain(signature.name), types,
                          used);
  function.write_graph(graph, places);
  function.finish(function.write_results(results), made);
  parts.functions.push_back(function.name());

  BytesSink concrete, packed, entry;
  Given given(Names{}, std::vector<DType>{});
  for (const size_t at : inputs) {
    const Tensor& t = graph.inputs()[at];
    const std::string label =
        parts.writer.fresh(message(plain(signature.name), "_", plain(signature.inputs[at])));
    parts.writer.add(label, "Placeholder", {},
                     {{"dtype", type_attr(t.dtype())}, {"shape", shape_attr(t.shape())}});
    given.references.push_back(label);
    given.dtypes.push_back(t.dtype());
    put_entry(entry, 1, signature.inputs[at], tensor_info(label + ":0", t.dtype(), t.shape()));
  }
  for (const NamedVariable& variable : used) {
    const auto at = static_cast<size_t>(
        std::find_if(all.begin(), all.end(),
                     [&](const Variable& one) { return one.id() == variable.id; }) -
        all.begin());
    put_varint(packed, Objects::number_of_variable(at));
    given.references.push_back(parts.handles.at(at));
    given.dtypes.push_back(kResource);
  }
  if (!used.empty()) put_bytes_field(concrete, 2, packed.bytes);
  put_bytes_field(concrete, 3, arguments_of(signature.inputs, graph.inputs()));
  put_bytes_field(concrete, 4, dictionary_of(signature.outputs, graph.outputs()));
  put_entry(parts.described, 2, function.name(), concrete.bytes);

  const std::string call = parts.writer.fresh("StatefulPartitionedCall");
  parts.writer.add(call, function.is_stateful() ? "StatefulPartitionedCall" : "PartitionedCall",
                   {given}, {{"Tout", types_attr(made)}, {"f", function_attr(function.name())}});
  for (size_t i = 0; i < outputs.size(); ++i) {
    put_entry(entry, 2, signature.outputs[outputs[i]],
              tensor_info(message(call, ":", i), made[i], results[i].shape()));
  }
  put_bytes_field(entry, 3, kPredict);
  put_entry(parts.signatures, kSignature, signature.name, entry.bytes);
}

/// Nodes that save and restore the variables; SaverDef.
std::string add_saver(Parts& parts, const std::vector<Variable>& variables) {
  NodeWriter& w = parts.writer;
  const std::string prefix =
      w.add(w.fresh("saver_filename"), "Placeholder", {},
            {{"dtype", type_attr(DType::string)}, {"shape", shape_attr(Shape{})}});
  Names keys, restored;
  std::vector<DType> types;
  Given values(Names{}, std::vector<DType>{});
  for (size_t i = 0; i < variables.size(); ++i) {
    const DType dtype = variables[i].dtype();
    keys.push_back(Objects::key_of(i));
    types.push_back(dtype);
    values.dtypes.push_back(dtype);
    values.references.push_back(w.add(w.fresh(message("save/", parts.handles[i])), "ReadVariableOp",
                                      {{parts.handles[i], kResource}},
                                      {{"dtype", type_attr(dtype)}}));
  }
  const Given file(prefix, DType::string);
  const Given names(w.constant("save/tensor_names", string_vector(keys)), DType::string);
  const Given slices(w.constant("save/shape_and_slices", string_vector(Names(keys.size()))),
                     DType::string);
  const std::string saved = w.add("save/SaveV2", "SaveV2", {file, names, slices, values},
                                  {{"dtypes", types_attr(types)}});
  const std::string read =
      w.add("save/RestoreV2", "RestoreV2", {file, names, slices}, {{"dtypes", types_attr(types)}});
  for (size_t i = 0; i < variables.size(); ++i) {
    const Given value(i == 0 ? read : message(read, ":", i), types[i]);
    restored.push_back(w.add(w.fresh(message("save/Assign_", i)), "AssignVariableOp",
                             {{parts.handles[i], kResource}, value}));
  }
  const std::string done = w.add("save/Identity", "Identity", {file}, {}, {saved});
  BytesSink out;
  put_bytes_field(out, 1, prefix + ":0");
  put_bytes_field(out, 2, done + ":0");
  put_bytes_field(out, 3, w.add("save/restore_all", "NoOp", {}, {}, restored));
  put_varint_field(out, 7, 2);  // the version of its checkpoints
  return std::move(out.bytes);
}

/// OpDef, of the table.
std::string op_def(const OpForm& form) {
  const auto argument = [&](const OpArgument& one) {
    BytesSink out;
    put_bytes_field(out, 1, one.name);
    if (one.is_list) {
      put_bytes_field(out, 6, one.kind);
      return std::move(out.bytes);
    }
    if (form.find(one.kind)) {
      put_bytes_field(out, 4, one.kind);
    } else {
      const DType dtype = one.kind == "resource" ? kResource : dtype_from_name(one.kind);
      put_varint_field(out, 3, static_cast<uint64_t>(dtype));
    }
    if (!one.number.empty()) put_bytes_field(out, 5, one.number);
    return std::move(out.bytes);
  };
  BytesSink out;
  put_bytes_field(out, 1, form.name);
  for (const OpArgument& one : form.inputs) put_bytes_field(out, 2, argument(one));
  for (const OpArgument& one : form.outputs) put_bytes_field(out, 3, argument(one));
  for (const OpAttribute& one : form.attrs) {
    BytesSink attr;
    put_bytes_field(attr, 1, one.name);
    put_bytes_field(attr, 2, one.kind);
    put_bytes_field(out, 4, attr.bytes);
  }
  return std::move(out.bytes);
}

std::string info(Library& library) {
  BytesSink ops, out;
  for (const std::string& op : library.used_ops) {
    if (const OpForm* form = library.ops.find(op)) put_bytes_field(ops, 1, op_def(*form));
  }
  put_bytes_field(out, 2, ops.bytes);
  put_bytes_field(out, 4, "serve");
  put_bytes_field(out, 5, kTensorFlow);
  return std::move(out.bytes);
}

}  // namespace

std::string graph_def_of(const graph::Graph& graph) {
  const NoHandlers now;
  Library library;
  NodeWriter writer(library);
  const std::vector<graph::NodeRef> nodes = graph.named_nodes();
  for (const graph::NodeRef& node : nodes) writer.reserve(node->label);
  for (const graph::NodeRef& node : nodes) writer.write(*node);
  return graph_bytes(writer);
}

ModelMessage::ModelMessage(const std::vector<WrittenSignature>& signatures,
                           const std::vector<Variable>& variables)
    : variables_(variables) {
  const NoHandlers now;
  Library library;
  library.notes_ours = true;
  NodeWriter writer(library);
  Parts parts{writer, {}, {}, {}, {}};
  for (const Variable& variable : variables) {
    const std::string name = writer.fresh(plain(variable.name()));
    parts.handles.push_back(writer.add(name, "VarHandleOp", {},
                                       {{"dtype", type_attr(variable.dtype())},
                                        {"shape", shape_attr(variable.shape())},
                                        {"shared_name", text_attr(name)}}));
  }
  for (const WrittenSignature& one : signatures) add_signature(parts, one, variables);
  BytesSink meta, nodes, list;
  const std::string saver = variables.empty() ? std::string() : add_saver(parts, variables);
  const std::string begin = writer.add(writer.fresh("NoOp"), "NoOp");
  BytesSink as_output;  // what runs at the start is an output of a signature of its own
  put_entry(as_output, 2, kStart, tensor_info(begin, DType::invalid, Shape::unknown()));
  put_bytes_field(nodes, 1, begin);
  put_bytes_field(list, 1, nodes.bytes);
  put_bytes_field(meta, kInfo, info(library));
  put_bytes_field(meta, kGraph, graph_bytes(writer));
  if (!saver.empty()) put_bytes_field(meta, kSaver, saver);
  put_entry(meta, kCollection, "saved_model_main_op", list.bytes);
  meta.append(parts.signatures.bytes);
  put_entry(meta, kSignature, kStart, as_output.bytes);
  put_bytes_field(meta, kObjects,
                  Objects(variables, signatures)
                      .bytes(variables, signatures, parts.functions, parts.described.bytes));
  BytesSink model;
  put_varint_field(model, 1, 1);
  put_bytes_field(model, 2, meta.bytes);
  bytes_ = std::move(model.bytes);
  missing_ = std::move(library.foreign);
}

void ModelMessage::write(const std::string& folder) const {
  namespace fs = std::filesystem;
  FolderWriter place(folder, files_of_models());
  const fs::path path(place.path());
  fs::create_directory(path / "variables");
  fs::create_directory(path / "assets");
  BundleWriter bundle((path / "variables" / "variables").string());
  for (size_t i = 0; i < variables_.size(); ++i) {
    bundle.add(Objects::key_of(i), variables_[i].operand());
  }
  const std::string objects = write_object_graph(Objects(variables_, {}).nodes());
  const std::string_view text = objects;
  bundle.add(std::string(kObjectGraphKey), Tensor::of_strings({&text, 1}, {}));
  bundle.finish();
  FileWriter file((path / kModelFile).string());
  file.write(bytes_);
  file.commit();
  place.commit();
}

}  // namespace tidemark::io::tensorflow
