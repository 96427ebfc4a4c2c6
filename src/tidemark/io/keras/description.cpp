#include "tidemark/io/keras/description.h"

#include "tidemark/io/keras/archive.h"

namespace tidemark::io::keras {

namespace {

const Json* find(const Json& in, std::string_view name) {
  return in.is_object() ? in.find(name) : nullptr;
}

std::string text_of(const Json* one) { return one && one->is_text() ? one->as_text() : ""; }

/// The layers of what is a model, null for others.
const Json::List* layers_of(const Json& entry) {
  const Json* config = find(entry, "config");
  const Json* layers = config ? find(*config, "layers") : nullptr;
  return layers && layers->is_list() ? &layers->as_list() : nullptr;
}

/// A call of a layer names what it takes as [layer, call, tensor, …], more or less deep inside.
void add_sources(const Json& nodes, std::vector<std::string>& out) {
  if (nodes.is_object()) {
    for (const auto& [name, inner] : nodes.as_object()) add_sources(inner, out);
  }
  if (!nodes.is_list()) return;
  const Json::List& list = nodes.as_list();
  if (list.size() >= 3 && list[0].is_text() && list[1].is_number() && list[2].is_number()) {
    out.push_back(list[0].as_text());
    return;
  }
  for (const Json& inner : list) add_sources(inner, out);
}

Shape shape_of(const Json* sizes) {
  if (!sizes || !sizes->is_list() || sizes->as_list().size() > Shape::kMaxRank) {
    return Shape::unknown();
  }
  Shape out;
  for (const Json& size : sizes->as_list()) {
    out.push_back(size.is_number() && size.as_int() >= 0 ? size.as_int() : kUnknownDim);
  }
  return out;
}

DType dtype_of(const Json* given) {
  if (given && given->is_object()) given = find(*given, "config");
  if (given && given->is_object()) given = find(*given, "name");
  try {
    return dtype_from_name(text_of(given));
  } catch (const Error&) {
    return DType::float32;  // a policy of several, or none: what Keras takes then
  }
}

class Description {
 public:
  explicit Description(Inspection& out) : out_(out) {}

  void look_at(const Json& entry, const std::string& inside) {
    const Json::List* layers = layers_of(entry);
    if (!layers) return;
    std::string before;
    for (const Json& layer : *layers) {
      const Json* config = find(layer, "config");
      std::string name = text_of(config ? find(*config, "name") : nullptr);
      const std::string kind = text_of(find(layer, "class_name"));
      if (inside.empty()) add_input(config, name);
      note_if_code(layer, kind, inside + name);
      if (layers_of(layer)) {
        look_at(layer, inside + name + "/");
      } else {
        ++out_.ops[kind];
      }
      if (!inside.empty()) continue;
      Inspection::Step step{kind, name, {}, {name}};
      if (const Json* nodes = find(layer, "inbound_nodes")) {
        add_sources(*nodes, step.inputs);
      } else if (!before.empty()) {
        step.inputs.push_back(before);
      }
      out_.steps.push_back(std::move(step));
      before = std::move(name);
    }
  }

 private:
  void add_input(const Json* config, const std::string& name) {
    if (!config) return;
    const Json* sizes = find(*config, "batch_shape");
    if (!sizes) sizes = find(*config, "batch_input_shape");
    if (!sizes) return;
    if (out_.signatures.empty()) out_.signatures.push_back({"serving_default", {}, {}});
    out_.signatures[0].inputs.push_back({name, dtype_of(find(*config, "dtype")), shape_of(sizes)});
  }

  void note_if_code(const Json& layer, const std::string& kind, const std::string& name) {
    const std::string module = text_of(find(layer, "module"));
    if (kind == "Lambda") {
      out_.not_read.push_back(message("the layer '", name, "' holds code, which is not run"));
    } else if (!module.empty() && module != "keras" && !module.starts_with("keras.")) {
      out_.not_read.push_back(message("the layer '", name, "' is a ", kind, " of ", module,
                                      ", whose code is not in the file"));
    }
  }

  Inspection& out_;
};

}  // namespace

std::optional<Json> find_description(const Hdf5File& weights) {
  const InputFile file(weights.path());
  if (!file.has(0, 2) || file.read(0, 2) != "PK") {
    const std::vector<std::string>* texts = weights.texts("", "model_config");
    if (!texts || texts->size() != 1) return std::nullopt;
    return read_json(file.path(), (*texts)[0]);
  }
  const std::optional<Member> config = find_member(file, "config.json");
  if (!config) return std::nullopt;
  return read_json(file.path(), file.read(config->offset, config->bytes));
}

void describe(const Json& description, Inspection& out) {
  Description(out).look_at(description, "");
}

}  // namespace tidemark::io::keras
