// <tidemark/session.h> over session/, the importer of GraphDefs and their writer.

#include <tidemark/call.h>
#include <tidemark/io.h>
#include <tidemark/session.h>

#include <filesystem>

#include "tidemark/io/file_writer.h"
#include "tidemark/io/tensorflow/importer.h"
#include "tidemark/io/tensorflow/writing/graph_def.h"
#include "tidemark/session/session.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/builder.h"

namespace tidemark {

struct Graph::State {
  std::shared_ptr<graph::Graph> graph;
};

Graph::Graph(std::string name)
    : state_(std::make_shared<State>(State{graph::Graph::create(std::move(name))})) {}

void Graph::finalize() const { state_->graph->finalize(); }

std::string Graph::as_graph_def() const { return io::tensorflow::graph_def_of(*state_->graph); }

std::string io::write_graph(const Graph& graph, const std::string& logdir, const std::string& name,
                            const WriteGraphOptions& options) {
  const std::string bytes = graph.as_graph_def();
  const std::filesystem::path path = std::filesystem::path(logdir) / name;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  FileWriter file(path.string());
  file.write(options.as_text ? io::tensorflow::graph_def_text(bytes) : bytes);
  file.commit();
  return path.string();
}

struct GraphScope::State {
  explicit State(std::shared_ptr<graph::Graph> graph) : builder(std::move(graph)) {}
  trace::GraphBuilder builder;
  trace::TraceScope scope{builder};
};

GraphScope::GraphScope(const Graph& graph) : state_(std::make_unique<State>(graph.state_->graph)) {}
GraphScope::~GraphScope() = default;

namespace {

trace::GraphBuilder& needed_builder(std::string_view what) {
  trace::GraphBuilder* builder = trace::current_builder();
  if (!builder || !builder->is_shared()) {
    fail<FailedPreconditionError>(what, " belongs to a graph: make it inside of a td::GraphScope");
  }
  return *builder;
}

Tensor add_special(const std::shared_ptr<const graph::Special>& special, DType dtype,
                   const Shape& shape, std::span<const Tensor> inputs) {
  const graph::OutputInfo info{dtype, shape};
  Tensor out;
  needed_builder("a variable").add_special(special, {&info, 1}, inputs, {&out, 1});
  return out;
}

}  // namespace

Tensor placeholder(DType dtype, const Shape& shape, const std::string& name) {
  trace::GraphBuilder& builder = needed_builder("a placeholder");
  builder.set_next_label(name);
  return builder.add_placeholder(dtype, shape);
}

struct GraphVariable::State {
  session::GraphVariable variable;
};

GraphVariable::GraphVariable(const Tensor& initial, const std::string& name, bool trainable) {
  trace::GraphBuilder& builder = needed_builder("a variable");
  const uint64_t id = new_tensor_id() | (trainable ? kTrainableIds : 0);
  const Tensor start = initial.is_symbolic() ? initial : builder.constant(initial);
  state_ =
      std::make_shared<const State>(State{{id, name, start.dtype(), start.shape(), trainable}});
  initializer_ = update(nullptr, start);
  value_ = add_special(session::read_special(state_->variable), start.dtype(), start.shape(), {});
  value_.impl()->id.store(id, std::memory_order_relaxed);
}

Tensor GraphVariable::update(const char* op, const Tensor& by) const {
  const session::GraphVariable& variable = state_->variable;
  const OpDef* known = op ? &OpRegistry::instance().get(op) : nullptr;
  const Tensor given = by.is_symbolic() ? by : needed_builder("an update").constant(by);
  return add_special(session::update_special(variable, known, {}), variable.dtype, variable.shape,
                     {&given, 1});
}

Tensor GraphVariable::assign(const Tensor& value) const { return update(nullptr, value); }
Tensor GraphVariable::assign_add(const Tensor& delta) const { return update("add", delta); }
Tensor GraphVariable::assign_sub(const Tensor& delta) const { return update("subtract", delta); }

struct Session::State {
  State(std::shared_ptr<graph::Graph> of, int64_t limit) : graph(std::move(of)), session(limit) {}
  std::shared_ptr<graph::Graph> graph;  // lives as long as the session
  session::Session session;
};

Session::Session(const Graph& graph, SessionOptions options)
    : state_(std::make_shared<State>(graph.state_->graph, options.memory_limit)) {
  if (options.memory_limit < 0) {
    fail("[Session] `memory_limit` is in bytes, 0 for any. Received: ", options.memory_limit);
  }
}

std::vector<Tensor> Session::run(const std::vector<Tensor>& fetches,
                                 const std::vector<std::pair<Tensor, Tensor>>& feeds) const {
  const NoHandlers now;
  session::Request request;
  for (const Tensor& fetch : fetches) {
    if (!fetch || !fetch.is_symbolic()) {
      fail("[Session] what is fetched is a tensor of the graph. Received: ",
           fetch ? "a value that is there already" : "an empty handle");
    }
    request.fetches.push_back(fetch);
  }
  request.feeds = feeds;
  return state_->session.run(request);
}

void Session::close() const { state_->session.close(); }

std::vector<Tensor> import_graph_def(std::string_view bytes, const ImportOptions& options) {
  const std::map<std::string_view, io::tensorflow::OpMessage> no_ops;
  io::tensorflow::Importer importer(io::tensorflow::read_graph_message(bytes), no_ops);
  std::vector<std::string_view> fetches, nodes;
  for (const std::string& name : options.return_elements) {
    fetches.push_back(name);
    nodes.push_back(std::string_view(name).substr(0, name.find(':')));
  }
  std::vector<std::pair<std::string_view, io::tensorflow::Value>> feeds;
  for (const auto& [name, value] : options.input_map) feeds.emplace_back(name, value);
  importer.check_supported(nodes, {});
  std::vector<Tensor> out;
  for (const io::tensorflow::Value& value : importer.run_graph(fetches, feeds)) {
    if (value.kind != io::tensorflow::Value::Kind::tensor) {
      fail("[import_graph_def] what is returned are tensors, as \"node:0\"; one of ",
           options.return_elements.size(), " is something else");
    }
    out.push_back(value.tensor);
  }
  return out;
}

}  // namespace tidemark
