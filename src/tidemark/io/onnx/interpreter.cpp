#include "tidemark/io/onnx/interpreter.h"

#include <tidemark/call.h>

#include <algorithm>

#include "tidemark/base/interrupt.h"
#include "tidemark/graph/node.h"

namespace tidemark::io::onnx {

namespace {

constexpr int kDeepestCall = 100;  // of functions and inner graphs in each other

std::string named(const Node& node) {
  return message(node.op, " '", node.name.empty() ? "(no name)" : node.name, "'");
}

/// The error with the node's name in front, of the same type.
[[noreturn]] void rethrow_with(std::string_view format, const Node& node, const Error& e) {
  const std::string_view text = e.what();
  const std::string begin = message("in ", format, " node ");
  const std::string whole = message(begin, named(node), ": ", text);
  if (text.starts_with(begin)) throw;
  if (dynamic_cast<const ValueUnknownError*>(&e)) throw;
  switch (e.code()) {
    case Code::invalid_argument:
      throw InvalidArgumentError(whole);
    case Code::unimplemented:
      throw UnimplementedError(whole);
    default:
      throw;
  }
}

}  // namespace

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->around_) {
    const auto found = scope->values_.find(name);
    if (found != scope->values_.end()) return &found->second;
  }
  return nullptr;
}

Values Interpreter::run(std::span<const Value> inputs) {
  return run_graph(file_.model().graph, nullptr, {&file_.model().opsets, nullptr, 0}, inputs);
}

Values Interpreter::run_inner(const Call& call, const Graph& graph, std::span<const Value> inputs) {
  Frame frame = call.frame;
  ++frame.depth;
  return run_graph(graph, &call.scope, frame, inputs);
}

Values Interpreter::run_graph(const Graph& graph, const Scope* around, const Frame& frame,
                              std::span<const Value> inputs) {
  if (frame.depth > kDeepestCall)
    fail("graphs and functions of the model call each other too deeply");
  Scope scope(around);
  for (const TensorMessage& t : graph.initializers) scope.set(t.name, file_.initializer(t));
  for (const SparseMessage& t : graph.sparse_initializers) {
    scope.set(t.values.name, file_.initializer(t));
  }
  if (inputs.size() > graph.inputs.size()) {
    fail("the graph '", graph.name, "' takes ", graph.inputs.size(), " inputs; ", inputs.size(),
         " were given");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    // An input that is not given may have a value in the file.
    if (inputs[i].kind != Value::Kind::none) scope.set(graph.inputs[i].name, inputs[i]);
  }
  std::set<std::string_view> kept;
  for (const ValueInfo& output : graph.outputs) kept.insert(output.name);
  run_nodes(graph.nodes, scope, frame, kept);
  Values out;
  for (const ValueInfo& output : graph.outputs) {
    const Value* found = scope.find(output.name);
    if (!found) fail("the graph has no value for its output '", output.name, "'");
    out.push_back(*found);
  }
  return out;
}

void Interpreter::run_nodes(std::span<const Node> nodes, Scope& scope, const Frame& frame,
                            const std::set<std::string_view>& kept) {
  const std::vector<std::vector<std::string_view>>& last = file_.last_uses(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    check_interrupt();
    Values made;
    try {
      made = run_node(node, scope, frame);
    } catch (const Error& e) {
      rethrow_with(format(), node, e);
    } catch (const std::bad_alloc&) {
      fail<ResourceExhaustedError>("in ", format(), " node ", named(node),
                                   ": no memory for its sizes");
    } catch (const std::length_error&) {
      fail("in ", format(), " node ", named(node), ": its sizes are larger than any list");
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty()) continue;
      if (k >= made.size()) {
        fail<UnimplementedError>("the ", format(), " op ", node.op, " has no output ", k, " here");
      }
      scope.set(node.outputs[k], std::move(made[k]));
    }
    for (const std::string_view name : last[i]) {
      if (!kept.contains(name)) scope.drop(name);
    }
  }
}

Values Interpreter::run_node(const Node& node, const Scope& scope, const Frame& frame) {
  Values inputs;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Value* found = scope.find(name);
    if (!found) {
      fail("the value '", name, "' is used before any node makes it");
    }
    inputs.push_back(*found);
  }
  while (!inputs.empty() && inputs.back().kind == Value::Kind::none) inputs.pop_back();
  const auto version = frame.opsets->find(node.domain);
  const Call call(node, version == frame.opsets->end() ? 1 : version->second, std::move(inputs),
                  frame, scope, *this);
  if (const Function* function = file_.find_function(node)) return run_function(*function, call);
  return build(call);
}

Values Interpreter::run_function(const Function& function, const Call& call) {
  if (call.frame.depth > kDeepestCall) fail("functions of the model call each other too deeply");
  Attributes attributes;
  for (const Attribute& attribute : function.defaults) attributes[attribute.name] = &attribute;
  for (const Attribute& attribute : call.node.attributes) {
    if (const Attribute* given = call.attr(attribute.name)) attributes[attribute.name] = given;
  }
  const Frame frame{&function.opsets, &attributes, call.frame.depth + 1};
  Scope scope;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    scope.set(function.inputs[i], call.has(i) ? call.inputs[i] : Value());
  }
  std::set<std::string_view> kept(function.outputs.begin(), function.outputs.end());
  run_nodes(function.nodes, scope, frame, kept);
  Values out;
  for (const std::string_view name : function.outputs) {
    const Value* found = scope.find(name);
    if (!found) call.fail("the function has no value for its output '", name, "'");
    out.push_back(*found);
  }
  return out;
}

Values Interpreter::build(const Call& call) {
  const Entry* entry = find_entry(call.node.domain, call.node.op);
  const OpDef* op = entry || !call.node.domain.empty()
                        ? nullptr
                        : OpRegistry::instance().find(Vocabulary::onnx, call.node.op);
  if (!entry && !op)
    fail<UnimplementedError>("the ", format(), " op ", call.node.op, " is not read");
  std::optional<NoHandlers> now;
  const bool is_known = std::all_of(call.inputs.begin(), call.inputs.end(),
                                    [](const Value& v) { return v.is_concrete(); });
  if (is_known && !(entry && entry->is_random) && !call.inputs.empty()) now.emplace();
  if (op) return build_one_to_one(*op, call);
  if (entry->all) return entry->all(call);
  return {entry->one(call)};
}

}  // namespace tidemark::io::onnx
