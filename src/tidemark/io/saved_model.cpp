#include <tidemark/saved_model.h>

#include <algorithm>
#include <filesystem>

#include "tidemark/exec/executable.h"
#include "tidemark/exec/program.h"
#include "tidemark/graph/effects.h"
#include "tidemark/graph/graph.h"
#include "tidemark/graph/node.h"
#include "tidemark/io/model_folder.h"
#include "tidemark/io/model_reader.h"
#include "tidemark/io/model_writer.h"
#include "tidemark/io/onnx/served.h"
#include "tidemark/io/tensorflow/model.h"
#include "tidemark/io/tensorflow/writing/graph_def.h"
#include "tidemark/memory/context.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"

namespace tidemark {

struct SavedModel::State {
  io::GraphParts parts;
  std::vector<SignatureSpec> signatures;
  std::vector<std::shared_ptr<const exec::Program>> programs;  // one each signature
  size_t weight_bytes = 0;
  bool changes_state = false;
};

namespace {

TensorSpec spec_of(const std::string& name, const Tensor& t) {
  return {name, t.dtype(), t.shape()};
}

std::string names_of(const std::vector<TensorSpec>& specs) {
  std::string out;
  for (const TensorSpec& spec : specs) out += (out.empty() ? "" : ", ") + spec.name;
  return out;
}

void check_input(const SignatureSpec& signature, const TensorSpec& wanted, const Tensor& given) {
  if (!given) fail("signature '", signature.name, "': input '", wanted.name, "' is empty");
  if (given.dtype() != wanted.dtype) {
    fail("signature '", signature.name, "': input '", wanted.name, "' must be ",
         name_of(wanted.dtype), "; ", name_of(given.dtype()), " was given");
  }
  if (!trace::is_within(given.shape(), wanted.shape)) {
    fail("signature '", signature.name, "': input '", wanted.name, "' must have shape ",
         wanted.shape, "; ", given.shape(), " was given");
  }
}

bool leaves_something(const graph::Graph& graph) {
  for (const graph::Node* node : graph.nodes()) {
    const graph::Effects effects = graph::effects_of(*node);
    if (effects.must_run || !effects.writes.empty()) return true;
    if (!node->special) continue;
    for (const graph::InnerGraph& inner : node->special->inner_graphs()) {
      if (leaves_something(*inner.graph)) return true;
    }
  }
  return false;
}

/// A folder with one model of ONNX or TFLite and none of ours: its graph is the only signature.
std::shared_ptr<const SavedModel::State> load_graph(const std::string& path,
                                                    const CheckModel& check) {
  const io::onnx::File file(io::MappedFile::open(path, io::MappedFile::How::copied), {});
  const io::onnx::TracedFile traced = io::onnx::trace_file(file);
  auto state = std::make_shared<SavedModel::State>();
  state->weight_bytes = file.weight_bytes();
  state->changes_state = leaves_something(*traced.graph);
  SignatureSpec spec{"serving_default", {}, {}};
  for (size_t i = 0; i < traced.inputs.size(); ++i) {
    spec.inputs.push_back(spec_of(traced.inputs[i], traced.graph->inputs()[i]));
  }
  for (size_t i = 0; i < traced.outputs.size(); ++i) {
    spec.outputs.push_back(spec_of(traced.outputs[i], traced.graph->outputs()[i]));
  }
  state->signatures.push_back(std::move(spec));
  state->programs.push_back(exec::Program::build(*traced.graph));
  if (check) check(SavedModel(state));
  return state;
}

std::shared_ptr<const SavedModel::State> load(const std::string& folder, const CheckModel& check) {
  const io::ModelReader reader(folder);
  auto state = std::make_shared<SavedModel::State>();
  io::GraphParts& parts = state->parts;
  for (size_t i = 0; i < reader.variables().size(); ++i) {
    parts.variables.push_back(reader.declare_variable(i));
    state->weight_bytes += parts.variables.back().operand().nbytes();
  }
  for (size_t i = 0; i < reader.tables().size(); ++i) {
    parts.tables.push_back(reader.declare_table(i));
  }
  parts.constants = reader.read_constants();
  for (const Tensor& t : parts.constants) state->weight_bytes += t.nbytes();
  std::map<uint64_t, std::pair<std::shared_ptr<graph::Graph>, std::shared_ptr<const exec::Program>>>
      made;
  for (const io::ModelReader::SignatureInfo& info : reader.signatures()) {
    auto& [graph, program] = made[info.function];
    if (!graph) {
      graph = reader.read_function(info.function, parts).graph;
      program = exec::Program::build(*graph);
      state->changes_state |= leaves_something(*graph);
    }
    reader.check(info, *graph);
    SignatureSpec spec{info.name, {}, {}};
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      spec.inputs.push_back(spec_of(info.inputs[i], graph->inputs()[i]));
    }
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      spec.outputs.push_back(spec_of(info.outputs[i], graph->outputs()[i]));
    }
    state->signatures.push_back(std::move(spec));
    state->programs.push_back(program);
  }
  parts.constants.clear();  // programs keep those they use
  if (check) check(SavedModel(state));
  for (size_t i = 0; i < parts.variables.size(); ++i) reader.fill_variable(i, parts.variables[i]);
  for (size_t i = 0; i < parts.tables.size(); ++i) {
    reader.fill_table(i, *parts.tables[i]);
    state->weight_bytes += static_cast<size_t>(parts.tables[i]->nbytes());
  }
  return state;
}

/// One that TensorFlow wrote.
std::shared_ptr<const SavedModel::State> load_tensorflow(const std::string& folder,
                                                         const CheckModel& check) {
  io::tensorflow::Model model(folder, {});
  model.check_signatures();
  auto state = std::make_shared<SavedModel::State>();
  for (const io::tensorflow::SignatureMessage& signature : model.signatures()) {
    const std::shared_ptr<graph::Graph> graph = model.read_signature(signature).graph;
    SignatureSpec spec{std::string(signature.name), {}, {}};
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      spec.inputs.push_back(spec_of(std::string(signature.inputs[i].name), graph->inputs()[i]));
    }
    for (size_t i = 0; i < signature.outputs.size(); ++i) {
      spec.outputs.push_back(spec_of(std::string(signature.outputs[i].name), graph->outputs()[i]));
    }
    state->changes_state |= leaves_something(*graph);
    state->signatures.push_back(std::move(spec));
    state->programs.push_back(exec::Program::build(*graph));
    state->weight_bytes = std::max(state->weight_bytes, graph->bytes() - graph->node_bytes());
  }
  state->parts.variables = model.variables();
  state->parts.tables = model.tables();
  for (const Variable& variable : state->parts.variables) {
    state->weight_bytes += variable.operand().nbytes();
  }
  if (check) check(SavedModel(state));
  model.restore();
  for (const auto& table : state->parts.tables) {
    state->weight_bytes += static_cast<size_t>(table->nbytes());
  }
  return state;
}

}  // namespace

const std::vector<SignatureSpec>& SavedModel::signatures() const { return state_->signatures; }
bool SavedModel::changes_state() const { return state_->changes_state; }
size_t SavedModel::weight_bytes() const { return state_->weight_bytes; }

const SignatureSpec* SavedModel::find(std::string_view signature) const {
  for (const SignatureSpec& spec : state_->signatures) {
    if (spec.name == signature) return &spec;
  }
  return nullptr;
}

size_t SavedModel::plan(const SignatureSpec& signature, std::span<const Tensor> inputs) const {
  const auto index = static_cast<size_t>(&signature - state_->signatures.data());
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(signature, signature.inputs.at(i), inputs[i]);
  }
  const exec::Executable* planned = state_->programs.at(index)->compiled_for(inputs);
  return planned ? static_cast<size_t>(planned->arena_bytes()) : 0;
}

std::vector<Tensor> SavedModel::run(const SignatureSpec& signature,
                                    std::span<const Tensor> inputs) const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  if (inputs.size() != signature.inputs.size()) {
    fail("signature '", signature.name, "' takes ", signature.inputs.size(), " inputs (",
         names_of(signature.inputs), "); ", inputs.size(), " were given");
  }
  for (size_t i = 0; i < inputs.size(); ++i) check_input(signature, signature.inputs[i], inputs[i]);
  const auto index = static_cast<size_t>(&signature - state_->signatures.data());
  const exec::Program& program = *state_->programs.at(index);
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  std::vector<Tensor> outputs(program.num_outputs());
  program.run(given, outputs);
  return outputs;
}

std::map<std::string, Tensor> SavedModel::operator()(const std::map<std::string, Tensor>& inputs,
                                                     std::string_view signature) const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const SignatureSpec* spec = find(signature);
  if (!spec) fail<NotFoundError>("the model has no signature '", signature, "'");
  std::vector<Tensor> given;
  for (const TensorSpec& wanted : spec->inputs) {
    const auto found = inputs.find(wanted.name);
    if (found == inputs.end()) {
      fail("signature '", signature, "': input '", wanted.name, "' is missing");
    }
    given.push_back(found->second);
  }
  if (inputs.size() != spec->inputs.size()) {
    fail("signature '", signature, "' takes ", names_of(spec->inputs), "; ", inputs.size(),
         " inputs were given");
  }
  std::vector<Tensor> outputs = run(*spec, given);
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.emplace(spec->outputs[i].name, std::move(outputs[i]));
  }
  return out;
}

SavedModel load_model(const std::string& folder, const CheckModel& check) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const io::ModelFolder found = io::find_model(folder);
  switch (found.format) {
    case io::ModelFormat::tensorflow:
      return SavedModel(load_tensorflow(folder, check));
    case io::ModelFormat::graph:
      return SavedModel(load_graph(found.file, check));
    case io::ModelFormat::own:
      break;
  }
  return SavedModel(load(folder, check));
}

namespace {

struct TracedSignature {
  SignatureSpec spec;
  std::shared_ptr<graph::Graph> graph;
  std::vector<Variable> variables;
};

void check_name(const std::vector<SignatureCode>& all, const SignatureCode& one) {
  const auto has_it = [&](const SignatureCode& other) { return other.spec.name == one.spec.name; };
  if (one.spec.name.empty() || std::count_if(all.begin(), all.end(), has_it) > 1) {
    fail("each signature needs a name of its own. Received: \"", one.spec.name, "\"");
  }
}

TracedSignature traced(const SignatureCode& from) {
  const NoHandlers outside;
  TracedSignature out{from.spec, {}, {}};
  trace::GraphBuilder builder(from.spec.name);
  std::vector<Tensor> inputs, outputs;
  for (const TensorSpec& spec : from.spec.inputs) {
    if (spec.dtype == DType::invalid) {
      fail("signature '", from.spec.name, "': input '", spec.name, "' needs a dtype");
    }
    inputs.push_back(builder.add_input(spec.dtype, spec.shape));
  }
  {
    const trace::TraceScope scope(builder);
    outputs = from.code(inputs);
  }
  if (out.spec.outputs.empty()) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      out.spec.outputs.push_back({message("output_", i), DType::invalid, {}});
    }
  }
  if (out.spec.outputs.size() != outputs.size()) {
    fail("signature '", from.spec.name, "' names ", out.spec.outputs.size(), " outputs; the ",
         "function returns ", outputs.size());
  }
  out.graph = builder.finish(outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.spec.outputs[i] = spec_of(out.spec.outputs[i].name, out.graph->outputs()[i]);
  }
  out.variables = builder.variables();
  return out;
}

}  // namespace

SavedModel make_model(const std::vector<SignatureCode>& signatures) {
  auto state = std::make_shared<SavedModel::State>();
  for (const SignatureCode& one : signatures) {
    check_name(signatures, one);
    TracedSignature made = traced(one);
    std::vector<Variable>& known = state->parts.variables;
    for (const Variable& variable : made.variables) {
      if (std::find(known.begin(), known.end(), variable) != known.end()) continue;
      known.push_back(variable);
      state->weight_bytes += variable.operand().nbytes();
    }
    state->changes_state |= leaves_something(*made.graph);
    state->programs.push_back(exec::Program::build(*made.graph));
    state->signatures.push_back(std::move(made.spec));
  }
  return SavedModel(std::move(state));
}

std::string save_model(const std::string& folder, const std::vector<SignatureCode>& signatures) {
  const NoHandlers outside;
  const auto names = [](const std::vector<TensorSpec>& specs) {
    std::vector<std::string> out;
    for (const TensorSpec& spec : specs) out.push_back(spec.name);
    return out;
  };
  std::vector<TracedSignature> all;
  std::vector<io::tensorflow::WrittenSignature> written;
  std::vector<Variable> variables;
  for (const SignatureCode& one : signatures) {
    check_name(signatures, one);
    all.push_back(traced(one));
    const TracedSignature& made = all.back();
    written.push_back(
        {made.spec.name, made.graph, names(made.spec.inputs), names(made.spec.outputs)});
    for (const Variable& variable : made.variables) {
      if (std::find(variables.begin(), variables.end(), variable) == variables.end()) {
        variables.push_back(variable);
      }
    }
  }
  const io::tensorflow::ModelMessage model(written, variables);
  if (model.missing().empty()) {
    model.write(folder);
    return {};
  }
  io::ModelWriter writer;
  for (const TracedSignature& made : all) {
    const uint64_t function = writer.add_function(made.spec.name, *made.graph);
    writer.add_signature(made.spec.name, function, names(made.spec.inputs),
                         names(made.spec.outputs));
  }
  writer.write(folder);
  std::string out;
  for (const auto& [what, line] : model.missing()) {
    out += message(what, line.empty() ? "" : " at ", line, "\n");
  }
  return out;
}

}  // namespace tidemark
