#include "tidemark/io/tensorflow/importer.h"

#include <tidemark/op.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "tidemark/base/file_access.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/io/stored_size.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark::io::tensorflow {

namespace {

constexpr size_t kDeepestCall = 64;
/// Calls, branches and rounds of loops inside one another.
constexpr int kDeepestEvaluation = 128;
/// Nodes made for a model in all, however often a function is called.
constexpr uint64_t kMostNodes = 1'000'000;
/// For variables that no checkpoint has: counters and the like.
constexpr uint64_t kSpareVariableBytes = uint64_t{1} << 24;

int number_in(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0) {
    fail_malformed(message("'", text, "' is no number of an output"));
  }
  return out;
}

bool is_known(std::string_view op) {
  return find_reader(op) || OpRegistry::instance().find(Vocabulary::tensorflow, op);
}

void index_nodes(NodeList& list) {
  for (size_t i = 0; i < list.nodes.size(); ++i) {
    if (!list.by_name.emplace(list.nodes[i].name, static_cast<int>(i)).second) {
      fail_malformed(message("the node '", list.nodes[i].name, "' stands twice"));
    }
  }
}

}  // namespace

const Values* Scope::find(int node) const {
  for (const Scope* scope = this; scope; scope = scope->around) {
    const auto found = scope->made.find(node);
    if (found != scope->made.end()) return &found->second;
  }
  return nullptr;
}

bool Scope::is_chosen_by(int node) const {
  for (const Scope* scope = this; scope; scope = scope->around) {
    if (scope->pivot == node) return true;
  }
  return false;
}

struct Importer::Parsed {
  FunctionMessage message;
  std::map<std::string_view, int> arguments;
  NodeList list;
  std::vector<Edge> results;
  std::vector<int> effects;
};

Importer::Importer(GraphMessage graph, const std::map<std::string_view, OpMessage>& ops)
    : graph_(std::move(graph)), ops_(ops), nodes_(std::make_unique<NodeList>()) {
  nodes_->nodes = graph_.nodes;
  index_nodes(*nodes_);
  link(*nodes_, nullptr);
}
Importer::~Importer() = default;

const OpMessage* Importer::op(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

const NodeMessage* Importer::node(std::string_view name) const {
  const auto found = nodes_->by_name.find(name);
  return found == nodes_->by_name.end() ? nullptr
                                        : &graph_.nodes[static_cast<size_t>(found->second)];
}

// --- references ----------------------------------------------------------------------------------

/// The number of the first tensor of a named output: outputs may be lists.
int Importer::output_offset(const NodeMessage& node, std::string_view output) const {
  const OpMessage* definition = op(node.op);
  if (!definition && graph_.functions.contains(node.op)) definition = &function(node.op).signature;
  if (!definition) return 0;
  int64_t offset = 0;
  for (const OpMessage::Argument& argument : definition->outputs) {
    if (argument.name == output) return static_cast<int>(offset);
    const std::string_view counted =
        argument.number_attr.empty() ? argument.type_list_attr : argument.number_attr;
    const std::string_view* attr = counted.empty() ? nullptr : node.find(counted);
    if (!attr) {
      ++offset;
      continue;
    }
    const AttrValue value = read_attr_value(*attr);
    offset += argument.number_attr.empty() ? static_cast<int64_t>(value.numbers.size())
              : value.numbers.empty()      ? 0
                                           : value.numbers[0];
    if (offset < 0 || offset > 1'000'000) fail_malformed("an op has too many outputs");
  }
  return 0;
}

Edge Importer::edge_of(const NodeList& list, std::string_view reference, bool in_function,
                       const std::map<std::string_view, int>* arguments) const {
  const size_t colon = reference.find(':');
  const std::string_view name = reference.substr(0, colon);
  if (in_function && arguments) {
    const auto found = arguments->find(name);
    if (found != arguments->end()) return {-1, found->second};
  }
  const auto found = list.by_name.find(name);
  if (found == list.by_name.end()) {
    fail_malformed(message("'", reference, "' refers to a node that is not there"));
  }
  if (colon == std::string_view::npos) return {found->second, 0};
  const std::string_view rest = reference.substr(colon + 1);
  const size_t second = rest.find(':');
  if (second == std::string_view::npos) return {found->second, number_in(rest)};
  const NodeMessage& node = list.nodes[static_cast<size_t>(found->second)];
  return {found->second,
          output_offset(node, rest.substr(0, second)) + number_in(rest.substr(second + 1))};
}

void Importer::link(NodeList& list, const std::map<std::string_view, int>* arguments) const {
  list.inputs.resize(list.nodes.size());
  list.after.resize(list.nodes.size());
  for (size_t i = 0; i < list.nodes.size(); ++i) {
    for (std::string_view reference : list.nodes[i].inputs) {
      if (!reference.starts_with('^')) {
        list.inputs[i].push_back(edge_of(list, reference, arguments != nullptr, arguments));
        continue;
      }
      const auto found = list.by_name.find(reference.substr(1));
      if (found == list.by_name.end()) fail_malformed(message("'", reference, "' is not there"));
      list.after[i].push_back(found->second);
    }
  }
  list.old.find(list);
}

const Importer::Parsed& Importer::parsed(std::string_view name) const {
  const auto found = graph_.functions.find(name);
  if (found == graph_.functions.end()) {
    fail_malformed(message("the function '", name, "' is not there"));
  }
  // The key is a view into the file: the name that was given may be gone before the next call.
  std::unique_ptr<Parsed>& out = functions_[found->first];
  if (out) return *out;
  auto made = std::make_unique<Parsed>();
  made->message = read_function(found->second);
  for (const OpMessage::Argument& argument : made->message.signature.inputs) {
    made->arguments.emplace(argument.name, static_cast<int>(made->arguments.size()));
  }
  made->list.nodes = made->message.nodes;
  index_nodes(made->list);
  link(made->list, &made->arguments);
  for (const OpMessage::Argument& output : made->message.signature.outputs) {
    const auto reference = made->message.results.find(output.name);
    if (reference == made->message.results.end()) fail_malformed("a function lacks a result");
    made->results.push_back(edge_of(made->list, reference->second, true, &made->arguments));
  }
  for (std::string_view node : made->message.control_results) {
    made->effects.push_back(edge_of(made->list, node, false, nullptr).node);
  }
  out = std::move(made);
  return *out;
}

const FunctionMessage& Importer::function(std::string_view name) const {
  return parsed(name).message;
}

std::vector<bool> Importer::unchanged_arguments(std::string_view name) const {
  const Parsed& body = parsed(name);
  std::vector<bool> out(body.arguments.size(), false);
  for (size_t i = 0; i < body.results.size() && i < out.size(); ++i) {
    Edge edge = body.results[i];
    for (int steps = 0; steps < 16 && edge.node >= 0; ++steps) {
      const auto at = static_cast<size_t>(edge.node);
      if (body.list.nodes[at].op != "Identity" || body.list.inputs[at].size() != 1) break;
      edge = body.list.inputs[at][0];
    }
    out[i] = edge.node < 0 && edge.output == static_cast<int>(i);
  }
  return out;
}

// --- what is not supported -----------------------------------------------------------------------

void Importer::check_supported(const std::vector<std::string_view>& nodes,
                               const std::vector<std::string_view>& functions) const {
  std::map<std::string_view, std::pair<std::string, size_t>> missing;  // op → a node, how many
  std::set<std::string_view> seen(functions.begin(), functions.end());
  std::vector<std::string_view> waiting = functions;
  const auto look_at = [&](const NodeMessage& node, std::string_view place) {
    if (our_op_of(node)) return;
    for (const auto& [name, bytes] : node.attrs) {
      const AttrValue value = read_attr_value(bytes);
      if (value.kind != AttrValue::Kind::function) continue;
      for (std::string_view one : value.texts) {
        if (graph_.functions.contains(one) && seen.insert(one).second) waiting.push_back(one);
      }
    }
    if (graph_.functions.contains(node.op)) {
      if (seen.insert(node.op).second) waiting.push_back(node.op);
    } else if (!is_known(node.op)) {
      auto& [where, count] = missing[node.op];
      if (count++ == 0) {
        where = message("'", node.name, "'", place.empty() ? "" : " in ", place);
      }
    }
  };
  // Nodes that nobody needs are not made, and may be anything.
  const auto look_from = [&](const NodeList& list, std::vector<int> open, std::string_view place) {
    std::set<int> found(open.begin(), open.end());
    const auto add = [&](int node) {
      if (node >= 0 && found.insert(node).second) open.push_back(node);
    };
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      look_at(list.nodes[static_cast<size_t>(node)], place);
      for (const Edge& edge : list.inputs[static_cast<size_t>(node)]) add(edge.node);
      for (int before : list.after[static_cast<size_t>(node)]) add(before);
    }
  };
  std::vector<int> roots;
  for (std::string_view node : nodes) roots.push_back(edge_of(*nodes_, node, false, nullptr).node);
  look_from(*nodes_, roots, {});
  while (!waiting.empty()) {
    const std::string_view name = waiting.back();
    waiting.pop_back();
    const Parsed& body = parsed(name);
    std::vector<int> open = body.effects;
    for (const Edge& edge : body.results) {
      if (edge.node >= 0) open.push_back(edge.node);
    }
    look_from(body.list, open, name);
  }
  if (missing.empty()) return;
  std::string all;
  for (const auto& [op, where] : missing) {
    all += message("\n  ", op, ", ", where.second,
                   where.second == 1 ? " node: " : " nodes, one is ", where.first);
  }
  fail<UnimplementedError>("the saved model needs ", missing.size(),
                           missing.size() == 1 ? " op" : " ops",
                           " of TensorFlow that Tidemark does not have:", all);
}

// --- making --------------------------------------------------------------------------------------

Tensor Importer::read_stored(const Value& value) const {
  if (!bundle) fail<NotFoundError>("the saved model has no variables; '", value.key, "' is wanted");
  return bundle->read(value.key);
}

bool Importer::fill_stored(const Value& value, const Variable& variable) const {
  if (value.kind != Value::Kind::stored || !bundle || top_handler()) return false;
  return bundle->fill(value.key, variable.operand());
}

Variable Importer::declare(const std::string& name, DType dtype, const Shape& shape) {
  uint64_t room = kSpareVariableBytes;
  for (const auto& [key, entry] : bundle ? bundle->entries() : BundleReader::Entries()) {
    room += entry.bytes;
  }
  Shape first = shape.has_rank() ? shape : Shape{};
  for (int i = 0; i < first.rank(); ++i) {
    if (first[i] < 0) first[i] = 0;  // until the checkpoint tells
  }
  const auto elements =
      elements_within(first, size_of(dtype), room - std::min(room, variable_bytes_));
  if (!elements) fail_malformed(message("the variable '", name, "' is larger than its checkpoint"));
  variable_bytes_ += *elements * size_of(dtype);
  const std::vector<std::string_view> empty(dtype == DType::string ? *elements : 0);
  const Tensor value = dtype == DType::string ? Tensor::of_strings(empty, first)
                                              : Tensor::uninitialized(dtype, first);
  return Variable(value, {.name = name, .shape = shape});
}

std::shared_ptr<const MappedFile> Importer::read_asset(const std::string& path) const {
  // The file lies where the model does now, not where it was when it was saved.
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.empty() || name == "..") fail_malformed("an asset has no name");
  const std::string location = "assets/" + name;
  constexpr auto kHow = MappedFile::How::copied;
  // A link may lead to any file of the machine.
  if (!are_files_allowed()) return MappedFile::open_inside(folder, location, kHow);
  return MappedFile::open((std::filesystem::path(folder) / location).string(), kHow);
}

Tensor Importer::constant(const NodeMessage& node, std::string_view tensor) {
  Tensor& kept = constants_[&node];
  if (!kept) kept = read_tensor(tensor);
  return kept;
}

Value Importer::resource(const std::string& name, const std::function<Value()>& make) {
  const auto found = resources_.find(name);
  if (found != resources_.end()) return found->second;
  return resources_.emplace(name, make()).first->second;
}

Value Importer::value_of(const NodeList& list, const Edge& edge, const Scope& scope) const {
  const Values* made = nullptr;
  if (edge.node >= 0) {
    made = scope.find(edge.node);
  } else {
    const Scope* outermost = &scope;
    while (outermost->around) outermost = outermost->around;
    made = &outermost->arguments;
  }
  if (!made || static_cast<size_t>(edge.output) >= made->size()) {
    fail_malformed(edge.node < 0
                       ? message("a function has no argument ", edge.output)
                       : message("the node '", list.nodes[static_cast<size_t>(edge.node)].name,
                                 "' has no output ", edge.output));
  }
  return (*made)[static_cast<size_t>(edge.output)];
}

Values Importer::make(const NodeList& list, int index, Scope& scope) {
  if (++num_made_ > kMostNodes) {
    fail<ResourceExhaustedError>("the saved model has more than ", kMostNodes,
                                 " nodes once its functions are expanded");
  }
  if (num_made_ % 64 == 0) check_interrupt();
  const NodeMessage& node = list.nodes[static_cast<size_t>(index)];
  Values inputs;
  for (const Edge& edge : list.inputs[static_cast<size_t>(index)]) {
    inputs.push_back(value_of(list, edge, scope));
  }
  if (graph_.functions.contains(node.op)) return call_function(node.op, std::move(inputs));
  NodeCall call(*this, node, std::move(inputs));
  const NodeReader reader = find_reader(node.op);
  try {
    (reader ? reader : read_by_rule)(call);
  } catch (const InvalidArgumentError& error) {
    const std::string_view text = error.what();
    if (text.starts_with("node '")) throw;
    call.fail(text);
  }
  return std::move(call.outputs);
}

void Importer::evaluate(const NodeList& list, std::span<const int> nodes, Scope& scope) {
  if (depth_ >= kDeepestEvaluation) fail_malformed("branches and loops are nested too deeply");
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{++depth_};
  std::vector<int> open(nodes.rbegin(), nodes.rend());
  std::set<int> entered;
  while (!open.empty()) {
    const int node = open.back();
    if (scope.find(node)) {
      open.pop_back();
      continue;
    }
    const bool is_first = entered.insert(node).second;
    std::vector<int> needed;
    if (auto special = list.old.needs(list, node)) {
      needed = std::move(*special);
    } else {
      for (const Edge& edge : list.inputs[static_cast<size_t>(node)]) needed.push_back(edge.node);
      const auto& after = list.after[static_cast<size_t>(node)];
      needed.insert(needed.end(), after.begin(), after.end());
    }
    const size_t before = open.size();
    for (auto at = needed.rbegin(); at != needed.rend(); ++at) {
      if (*at >= 0 && !scope.find(*at)) open.push_back(*at);
    }
    if (open.size() > before) {
      if (!is_first) fail_malformed("nodes depend on themselves");
      continue;
    }
    if (!list.old.make(*this, list, node, scope)) scope.made[node] = make(list, node, scope);
    open.pop_back();
  }
}

Values Importer::call_function(std::string_view name, Values arguments) {
  if (calls_.size() >= kDeepestCall) {
    fail_malformed(message("functions call each other more than ", kDeepestCall, " deep"));
  }
  const Parsed& function = parsed(name);
  if (arguments.size() != function.arguments.size()) {
    fail_malformed(message("the function '", name, "' takes ", function.arguments.size(),
                           " arguments; ", arguments.size(), " are given"));
  }
  calls_.push_back(function.message.signature.name);
  struct Leave {
    std::vector<std::string_view>& calls;
    ~Leave() { calls.pop_back(); }
  } leave{calls_};
  Scope scope;
  scope.arguments = std::move(arguments);
  std::vector<int> wanted;
  for (const Edge& edge : function.results) {
    if (edge.node >= 0) wanted.push_back(edge.node);
  }
  wanted.insert(wanted.end(), function.effects.begin(), function.effects.end());
  evaluate(function.list, wanted, scope);
  Values out;
  for (const Edge& edge : function.results) out.push_back(value_of(function.list, edge, scope));
  return out;
}

Values Importer::run_graph(const std::vector<std::string_view>& fetches,
                           const std::vector<std::pair<std::string_view, Value>>& feeds) {
  Scope scope;
  for (const auto& [name, value] : feeds) {
    const Edge edge = edge_of(*nodes_, name, false, nullptr);
    Values& made = scope.made[edge.node];
    if (edge.output > 64) fail_malformed(message("there is no tensor '", name, "'"));
    made.resize(std::max(made.size(), static_cast<size_t>(edge.output) + 1));
    made[static_cast<size_t>(edge.output)] = value;
  }
  std::vector<Edge> edges;
  std::vector<int> wanted;
  for (std::string_view name : fetches) {
    edges.push_back(edge_of(*nodes_, name, false, nullptr));
    wanted.push_back(edges.back().node);
  }
  evaluate(*nodes_, wanted, scope);
  Values out;
  for (size_t i = 0; i < fetches.size(); ++i) {
    const bool is_effect = fetches[i].find(':') == std::string_view::npos;
    out.push_back(is_effect ? Value() : value_of(*nodes_, edges[i], scope));
  }
  return out;
}

}  // namespace tidemark::io::tensorflow
