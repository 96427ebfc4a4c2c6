// <tidemark/keras.h>: a model's layers, and in which order they call each other.

#include <tidemark/call.h>
#include <tidemark/keras.h>

#include <algorithm>
#include <map>

#include "tidemark/io/keras/description.h"
#include "tidemark/io/keras/layers.h"
#include "tidemark/io/keras/weights.h"
#include "tidemark/memory/context.h"
#include "tidemark/nn/kind_names.h"
#include "tidemark/trace/builder.h"

namespace tidemark::keras {

namespace {

using io::keras::Json;
using io::keras::LayerCall;

/// An output of a layer's call: the layer, which of its calls, which tensor of that.
struct Source {
  size_t layer = 0;
  int64_t call = 0, tensor = 0;
  auto operator<=>(const Source&) const = default;
};

struct Call {
  std::vector<Source> inputs;
  Json named;
};

struct Layer {
  std::string name;   // Keras's, and the member's
  std::string place;  // in files: "dense_1"
  LayerCall call;     // none: an input
  std::vector<Call> calls;
  DType dtype = DType::float32;  // of an input
  Shape shape;
};

}  // namespace

struct Model::State {
  std::string name;
  std::vector<Layer> layers;
  std::vector<Source> inputs, outputs;
  std::map<std::string, Model> inner;  // layers that are models, by name

  size_t find(std::string_view name_of_layer) const {
    for (size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].name == name_of_layer) return i;
    }
    std::string names;
    for (const Layer& one : layers) names += (names.empty() ? "" : ", ") + one.name;
    fail<NotFoundError>("[", name, "] there is no layer \"", name_of_layer,
                        "\"; there are: ", names);
  }
  std::vector<Tensor> run(const std::vector<Tensor>& given, std::span<const Source> wanted) const;
  const Tensor& make(const Source& source, std::map<Source, Tensor>& made, int depth) const;
};

const Tensor& Model::State::make(const Source& source, std::map<Source, Tensor>& made,
                                 int depth) const {
  const auto known = made.find(source);
  if (known != made.end()) return known->second;
  const Layer& layer = layers[source.layer];
  const auto at = static_cast<size_t>(source.call);
  if (depth > 10'000 || !layer.call || at >= layer.calls.size() || source.tensor != 0) {
    fail<InvalidArgumentError>("[", name, "] the layer \"", layer.name,
                               "\" needs an input that is not given");
  }
  std::vector<Tensor> inputs;
  for (const Source& one : layer.calls[at].inputs) inputs.push_back(make(one, made, depth + 1));
  if (inputs.empty())
    fail<DataLossError>("the layer \"", layer.name, "\" is called without inputs");
  return made.emplace(source, layer.call(inputs, layer.calls[at].named)).first->second;
}

std::vector<Tensor> Model::State::run(const std::vector<Tensor>& given,
                                      std::span<const Source> wanted) const {
  if (given.size() != inputs.size()) {
    fail("[", name, "] the model has ", inputs.size(), " inputs; ", given.size(), " were given");
  }
  std::map<Source, Tensor> made;
  for (size_t i = 0; i < given.size(); ++i) made.emplace(inputs[i], given[i]);
  std::vector<Tensor> out;
  // In the order of the file first, so that long models do not go deep.
  for (size_t i = 0; i < layers.size() && wanted.size() > 0; ++i) {
    const bool ends_here =
        std::all_of(wanted.begin(), wanted.end(), [&](const Source& one) { return one.layer < i; });
    if (ends_here) break;
    for (size_t call = 0; call < layers[i].calls.size(); ++call) {
      make({i, static_cast<int64_t>(call), 0}, made, 0);
    }
  }
  for (const Source& one : wanted) out.push_back(make(one, made, 0));
  return out;
}

Model::Model(std::shared_ptr<State> state) : Module("Model"), state_(std::move(state)) {}

std::vector<Tensor> Model::operator()(const std::vector<Tensor>& inputs) const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return state_->run(inputs, state_->outputs);
}

Tensor Model::operator()(const Tensor& x) const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  if (state_->outputs.size() != 1) {
    fail("[", state_->name, "] the model has ", state_->outputs.size(),
         " outputs: call it with a list of inputs");
  }
  return state_->run({x}, state_->outputs)[0];
}

Tensor Model::up_to(std::string_view layer, const Tensor& x) const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Source wanted{state_->find(layer), 0, 0};
  return state_->run({x}, {&wanted, 1})[0];
}

std::vector<std::string> Model::layers() const {
  std::vector<std::string> out;
  for (const Layer& one : state_->layers) out.push_back(one.name);
  return out;
}

/// Makes a model of its description.
struct ModelMaker {
  static Model make(const Json& description, int depth);
  static void load_weights(const Model& model, const io::keras::Hdf5File& file);

 private:
  static void add_layer(const Model& model, const Json& entry,
                        std::map<std::string, int64_t>& kinds, int depth);
  static void read_calls(const Json& entry, Layer& layer, const Model::State& state);
  static std::string place_of(const Model& model, const std::string& owner);
  static std::string old_place_of(const Model& model, const std::string& owner);
};

namespace {

Shape shape_of(const Json& sizes) {
  Shape out;
  for (const Json& one : sizes.as_list()) out.push_back(one.is_null() ? kUnknownDim : one.as_int());
  return out;
}

Source source_of(const Json& history, const Model::State& state) {
  const Json::List& parts = history.as_list();
  // Keras 2 put the call's other arguments behind.
  const bool is_old = parts.size() == 4 && parts[3].is_object() && parts[3].as_object().empty();
  if (parts.size() != 3 && !is_old) {
    fail<UnimplementedError>("the model's description has a tensor with arguments of its own");
  }
  return {state.find(parts[0].as_text()), parts[1].as_int(), parts[2].as_int()};
}

/// All tensors that stand in the arguments of a call, in order.
void collect_tensors(const Json& from, const Model::State& state, std::vector<Source>& out) {
  if (from.is_list()) {
    for (const Json& one : from.as_list()) collect_tensors(one, state, out);
  } else if (from.is_object()) {
    const Json* kind = from.find("class_name");
    if (kind && kind->is_text() && kind->as_text() == "__keras_tensor__") {
      out.push_back(source_of(from.at("config").at("keras_history"), state));
    }
  }
}

/// `["dense", 0, 0]`, or a list of such.
std::vector<Source> sources_of(const Json& from, const Model::State& state) {
  const Json::List& list = from.as_list();
  if (!list.empty() && list[0].is_text()) return {source_of(from, state)};
  std::vector<Source> out;
  for (const Json& one : list) out.push_back(source_of(one, state));
  return out;
}

bool is_functional(const std::string& kind) { return kind == "Functional" || kind == "Model"; }
bool is_model(const std::string& kind) { return kind == "Sequential" || is_functional(kind); }

}  // namespace

void ModelMaker::read_calls(const Json& entry, Layer& layer, const Model::State& state) {
  for (const Json& node : entry.at("inbound_nodes").as_list()) {
    Call call;
    if (node.is_list()) {  // Keras 2's: the tensors alone
      call.inputs = sources_of(node, state);
      layer.calls.push_back(std::move(call));
      continue;
    }
    collect_tensors(node.at("args"), state, call.inputs);
    call.named = node.at("kwargs");
    for (const auto& [name, value] : call.named.as_object()) {
      std::vector<Source> among;
      collect_tensors(value, state, among);
      if (!among.empty()) {
        fail<UnimplementedError>("the layer \"", layer.name, "\" is called with the tensor `", name,
                                 "` by name, which is not known here");
      }
    }
    layer.calls.push_back(std::move(call));
  }
}

void ModelMaker::add_layer(const Model& model, const Json& entry,
                           std::map<std::string, int64_t>& kinds, int depth) {
  const std::string& kind = entry.at("class_name").as_text();
  const Json& config = entry.at("config");
  Layer layer;
  layer.name = config.at("name").as_text();
  layer.place = nn::numbered_name(kinds, kind);
  std::string member = layer.name;
  std::replace(member.begin(), member.end(), '.', '_');
  if (kind == "InputLayer") {
    const Json* shape = config.find("batch_shape");
    layer.shape = shape_of(shape ? *shape : config.at("batch_input_shape"));
    layer.dtype = dtype_from_name(config.at("dtype").as_text());
  } else if (is_model(kind)) {
    Model inner = make(entry, depth + 1);
    model.add(member, inner);
    model.state_->inner.emplace(layer.name, inner);
    layer.call = [inner](const std::vector<Tensor>& inputs, const Json&) {
      return inner(inputs).at(0);
    };
  } else {
    io::keras::MadeLayer made = io::keras::make_layer(entry);
    if (made.module) model.add(member, *made.module);
    layer.call = std::move(made.call);
  }
  model.state_->layers.push_back(std::move(layer));
}

Model ModelMaker::make(const Json& description, int depth) {
  const std::string& kind = description.at("class_name").as_text();
  if (depth > 20 || !is_model(kind)) {
    fail<UnimplementedError>("a model of class ", kind, " has code of its own, which is Python; ",
                             "write it in C++ and use td::keras::load_weights");
  }
  const Json& config = description.at("config");
  auto state = std::make_shared<Model::State>();
  state->name = config.at("name").as_text();
  Model model(state);
  std::map<std::string, int64_t> kinds;
  const Json::List& entries = config.at("layers").as_list();
  for (const Json& entry : entries) add_layer(model, entry, kinds, depth);
  if (is_functional(kind)) {
    for (size_t i = 0; i < entries.size(); ++i) read_calls(entries[i], state->layers[i], *state);
    state->inputs = sources_of(config.at("input_layers"), *state);
    state->outputs = sources_of(config.at("output_layers"), *state);
    if (state->outputs.empty())
      fail<DataLossError>("the model \"", state->name, "\" has no outputs");
    return model;
  }
  if (state->layers.empty() || state->layers[0].call) {
    const Json* built = config.find("build_input_shape");
    if (!built && !entries.empty()) built = entries[0].at("config").find("batch_input_shape");
    if (!built || built->is_null()) {
      fail<UnimplementedError>("the model \"", state->name,
                               "\" was saved before it was called, so ",
                               "its weights have no sizes; call it once in Keras");
    }
    Layer input;
    input.name = "input";
    input.shape = shape_of(*built);
    state->layers.insert(state->layers.begin(), std::move(input));
  }
  state->inputs = {{0, 0, 0}};
  for (size_t i = 1; i < state->layers.size(); ++i) {
    state->layers[i].calls.push_back({{{i - 1, 0, 0}}, Json()});
  }
  state->outputs = {{state->layers.size() - 1, 0, 0}};
  return model;
}

/// "layers/sequential/layers/dense_1" for "features.head", by the layers' names.
std::string ModelMaker::place_of(const Model& model, const std::string& owner) {
  const size_t dot = std::min(owner.find('.'), owner.size());
  const std::string name = owner.substr(0, dot);
  for (const Layer& layer : model.state_->layers) {
    std::string member = layer.name;
    std::replace(member.begin(), member.end(), '.', '_');
    if (member != name) continue;
    const std::string here = "layers/" + layer.place;
    const auto inner = model.state_->inner.find(layer.name);
    if (dot == owner.size() || inner == model.state_->inner.end()) return here;
    return here + "/" + place_of(inner->second, owner.substr(dot + 1));
  }
  fail<InternalError>("no layer is called ", owner);
}

/// Where a file of Keras 2's has the layer's weights: by the name alone.
std::string ModelMaker::old_place_of(const Model& model, const std::string& owner) {
  for (const Layer& layer : model.state_->layers) {
    std::string member = layer.name;
    std::replace(member.begin(), member.end(), '.', '_');
    if (member == owner) return layer.name;
  }
  fail<UnimplementedError>("the layer ", owner, " lies in another model; Keras 2's files of such ",
                           "models are not read: load it in Python and save it as .keras");
}

void ModelMaker::load_weights(const Model& model, const io::keras::Hdf5File& file) {
  {
    // Traced and never run: layers learn the sizes of their inputs and make their weights.
    trace::GraphBuilder never_run(model.state_->name);
    std::vector<Tensor> inputs;
    for (const Source& one : model.state_->inputs) {
      const Layer& layer = model.state_->layers[one.layer];
      Shape shape = layer.shape;
      if (shape.rank() > 0 && shape[0] == kUnknownDim) shape[0] = 1;  // any batch does
      inputs.push_back(never_run.add_input(layer.dtype, shape));
    }
    const trace::TraceScope scope(never_run);
    model(inputs);
  }
  io::keras::assign_weights(file, model, [&](const std::string& owner) {
    return io::keras::is_of_keras_2(file) ? old_place_of(model, owner) : place_of(model, owner);
  });
}

Model load_model(const std::string& path) {
  const NoHandlers outside;
  const io::keras::Hdf5File weights = io::keras::open_weights(path);
  const std::optional<Json> description = io::keras::find_description(weights);
  if (!description) {
    fail(path, " holds weights alone; make the module and use td::keras::load_weights");
  }
  const Model model = ModelMaker::make(*description, 0);
  ModelMaker::load_weights(model, weights);
  model.eval();
  return model;
}

}  // namespace tidemark::keras
