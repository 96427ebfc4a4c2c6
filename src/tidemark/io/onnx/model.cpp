#include "tidemark/io/onnx/model.h"

#include <set>

#include "tidemark/graph/node.h"
#include "tidemark/io/onnx/interpreter.h"
#include "tidemark/io/onnx/narrow.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"

namespace tidemark::io::onnx {

namespace {

constexpr size_t kMostValues = 16;           // sets of values that have graphs of their own
constexpr int64_t kMostKnownElements = 256;  // of an integer input whose values a graph may know

std::vector<Port> ports_of(const std::vector<ValueInfo>& infos,
                           const std::set<std::string_view>& in_file) {
  std::vector<Port> out;
  for (const ValueInfo& info : infos) {
    out.push_back({std::string(info.name), info.type, in_file.contains(info.name)});
  }
  return out;
}

bool may_be_known(const Value& v) {
  return v.is_tensor() && (kInts | kBool).contains(v.tensor.dtype()) && !v.tensor.is_symbolic() &&
         v.tensor.num_elements() <= kMostKnownElements;
}

bool are_tensors(const std::vector<Port>& ports) {
  for (const Port& port : ports) {
    if (port.type.kind != Type::Kind::tensor && port.type.kind != Type::Kind::none) return false;
  }
  return true;
}

}  // namespace

/// The traces for one set of given inputs and, where need be, of values of theirs.
struct LoadedModel::ByValue {
  explicit ByValue(std::string key) : key(std::move(key)), traces({.name = "loaded_model"}) {}

  const std::string key;
  Values known;  // of kind none: the input is one of the traced function
  detail::FunctionTraces traces;
};

LoadedModel::LoadedModel(const std::string& path, const FileOptions& options)
    : file_(MappedFile::open(path), options) {
  std::set<std::string_view> in_file;
  const Graph& graph = file_.model().graph;
  for (const TensorMessage& t : graph.initializers) in_file.insert(t.name);
  for (const SparseMessage& t : graph.sparse_initializers) in_file.insert(t.values.name);
  inputs_ = ports_of(graph.inputs, in_file);
  outputs_ = ports_of(graph.outputs, {});
  if (!are_tensors(inputs_) || !are_tensors(outputs_)) {
    road_ = Road::node_by_node;
    file_.keep_tensors();
  }
}

LoadedModel::~LoadedModel() = default;

void LoadedModel::check(std::span<const Value> inputs) const {
  if (inputs.size() != inputs_.size()) {
    fail("the ", format(), " model takes ", inputs_.size(), " inputs; ", inputs.size(),
         " were given");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = inputs_[i];
    const Value& given = inputs[i];
    if (given.kind == Value::Kind::none) {
      if (!port.has_default)
        fail("the input '", port.name, "' of the ", format(), " model is missing");
      continue;
    }
    if (port.type.kind != Type::Kind::tensor) continue;
    if (!given.is_tensor()) fail("the input '", port.name, "' must be a tensor");
    if (given.tensor.dtype() != storage_of(port.type.element)) {
      fail("the input '", port.name, "' must be ", name_of(port.type.element), "; ",
           tidemark::name_of(given.tensor.dtype()), " was given");
    }
    if (!port.type.has_shape) continue;
    const Shape wanted{std::span<const int64_t>(port.type.dims)};
    if (!trace::is_within(given.tensor.shape(), wanted)) {
      fail("the input '", port.name, "' must have shape ", wanted, "; ", given.tensor.shape(),
           " was given");
    }
  }
}

Values LoadedModel::run_now(std::span<const Value> inputs) {
  return Interpreter(file_).run(inputs);
}

std::shared_ptr<LoadedModel::ByValue> LoadedModel::traces_for(std::span<const Value> inputs) {
  std::string key;
  Values known(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == Value::Kind::none) key += message("-", i, ";");
    if (road_ != Road::traced_by_value || !may_be_known(inputs[i])) continue;
    const Tensor& t = inputs[i].tensor;
    key += message(i, ":", t.shape(), "=");
    key.append(static_cast<const char*>(t.raw_data()), t.nbytes());
    known[i] = inputs[i];
  }
  const std::lock_guard lock(mutex_);
  for (auto one = by_value_.begin(); one != by_value_.end(); ++one) {
    if ((*one)->key != key) continue;
    by_value_.splice(by_value_.begin(), by_value_, one);
    return by_value_.front();
  }
  auto made = std::make_shared<ByValue>(std::move(key));
  made->known = std::move(known);
  by_value_.push_front(made);
  if (by_value_.size() > kMostValues) by_value_.pop_back();
  return made;
}

template <class Use>
auto LoadedModel::with_traces(std::span<const Value> inputs, const Use& use) {
  const std::shared_ptr<ByValue> mine = traces_for(inputs);
  std::vector<Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_free = inputs[i].is_tensor() && mine->known[i].kind == Value::Kind::none;
    if (is_free) given.push_back(inputs[i].tensor);
  }
  const auto code = [&](std::span<const Tensor> symbols) {
    Values values(inputs.begin(), inputs.end());
    size_t next = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_free = values[i].is_tensor() && mine->known[i].kind == Value::Kind::none;
      if (is_free) values[i].tensor = symbols[next++];
    }
    std::vector<Tensor> out;
    for (Value& v : Interpreter(file_).run(values)) {
      if (!v.is_tensor()) throw ValueUnknownError("an output of the model is no tensor");
      out.push_back(std::move(v.tensor));
    }
    file_.forget_pages();  // the graph keeps weights as it wants them
    return out;
  };
  return use(mine->traces, std::span<Tensor>(given), code);
}

Values LoadedModel::run_traced(std::span<const Value> inputs) {
  return with_traces(inputs, [&](auto& traces, std::span<Tensor> given, const auto& code) {
    Values out;
    for (Tensor& t : traces.call(given, code)) out.emplace_back(std::move(t));
    for (size_t i = 0; i < out.size(); ++i) {
      const Element declared = outputs_[i].type.element;
      if (is_narrow(declared) && storage_of(declared) == out[i].tensor.dtype()) {
        out[i].element = declared;
      }
    }
    return out;
  });
}

Values LoadedModel::call(std::span<const Value> inputs) {
  check(inputs);
  for (const Value& v : inputs) {
    if (v.is_tensor() && v.tensor.is_symbolic()) return run_now(inputs);
  }
  while (road_ != Road::node_by_node) {
    const Road tried = road_;
    try {
      return run_traced(inputs);
    } catch (const ValueUnknownError&) {
      Road expected = tried;
      const Road next = tried == Road::traced ? Road::traced_by_value : Road::node_by_node;
      if (next == Road::node_by_node) file_.keep_tensors();
      road_.compare_exchange_strong(expected, next);
    }
  }
  return run_now(inputs);
}

PlanReport LoadedModel::plan(std::span<const Value> inputs) {
  check(inputs);
  if (road_ == Road::node_by_node) {
    fail<UnimplementedError>("the ", format(),
                             " model runs node by node; what it needs depends on values");
  }
  return with_traces(inputs, [&](auto& traces, std::span<Tensor> given, const auto& code) {
    return traces.plan(given, code);
  });
}

TracedGraph LoadedModel::graph(std::span<const Value> inputs) {
  check(inputs);
  return with_traces(inputs, [&](auto& traces, std::span<Tensor> given, const auto& code) {
    return traces.graph(given, code);
  });
}

std::vector<TraceInfo> LoadedModel::traces() const {
  const std::lock_guard lock(mutex_);
  std::vector<TraceInfo> out;
  for (const auto& one : by_value_) {
    for (TraceInfo& info : one->traces.traces()) out.push_back(std::move(info));
  }
  return out;
}

}  // namespace tidemark::io::onnx
