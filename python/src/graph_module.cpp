// Graphs from Python: building them, running them, branches and loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "calls.h"
#include "tidemark/base/backend.h"
#include "tidemark/comm/arrange.h"
#include "tidemark/comm/steps.h"
#include "tidemark/exec/versions.h"
#include "tidemark/explain/graph_outline.h"
#include "tidemark/explain/plan_report.h"
#include "tidemark/explain/python_steps.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/graph/node_count.h"
#include "tidemark/graph/specials.h"
#include "tidemark/memory/runs.h"
#include "tidemark/tensor/handlers.h"
#include "tidemark/tensor/placed.h"
#include "tidemark/trace/batching.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/cache_use.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/shared_graphs.h"
#include "tidemark/trace/specials.h"
#include "tidemark/trace/thread_place.h"
#include "tidemark/trace/trace_cache.h"

#include "convert.h"
#include "donating.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "python_call.h"
#include "recorder.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using trace::GraphBuilder;

std::vector<Tensor> tensors(nb::handle list) { return tensors_from_list(list.ptr()); }

nb::list list_of(std::span<Tensor> all) {
  nb::list out;
  for (Tensor& t : all) out.append(object_of(std::move(t)));
  return out;
}

/// A builder and whether it is in charge of this thread now.
class Building {
 public:
  explicit Building(std::string name) : builder(std::move(name)) {}
  void enter() {
    if (scope_) fail("this graph is being built already");
    scope_ = std::make_unique<trace::TraceScope>(builder);
  }
  void exit() { scope_.reset(); }

  GraphBuilder builder;

 private:
  std::unique_ptr<trace::TraceScope> scope_;
};

/// Where the thread that made it was; another one goes on there, one at a time.
class OnOtherThread {
 public:
  void enter() { scope_ = std::make_unique<trace::ThreadPlaceScope>(place_); }
  void exit() { scope_.reset(); }

 private:
  trace::ThreadPlace place_;
  std::unique_ptr<trace::ThreadPlaceScope> scope_;
};

class Lifted {
 public:
  void enter() { scope_ = std::make_unique<NoHandlers>(); }
  void exit() { scope_.reset(); }

 private:
  std::unique_ptr<NoHandlers> scope_;
};

void donate(const exec::Program& program, nb::handle inputs, std::span<Tensor> given,
            Donating& donating) {
  if (program.donated().empty() || !Donating::is_possible()) return;
  const Ref all = Ref::checked(PySequence_Tuple(inputs.ptr()));
  const std::span<PyObject* const> objects(PySequence_Fast_ITEMS(all.get()),
                                           static_cast<size_t>(PyTuple_GET_SIZE(all.get())));
  for (const uint32_t input : program.donated()) donating.check_given_once(objects[input], objects);
  for (const uint32_t input : program.donated()) {
    Tensor stand_in;
    donating.take(objects[input], given[input], stand_in);
  }
}

nb::list run(const FinishedGraph& self, nb::handle inputs) {
  const GilHeld held;
  const SourceLine line;
  const memory::ScopedRun scope(self.name);
  std::vector<Tensor> given = tensors(inputs);
  std::vector<Tensor> outputs(self.program->num_outputs());
  {
    Donating donating(self.name);
    donate(*self.program, inputs, given, donating);
    self.program->run(given, outputs);
  }
  return list_of(outputs);
}

std::shared_ptr<FinishedGraph> finish(Building& self, nb::handle outputs, bool compile_at_once,
                                      int64_t budget, std::vector<uint32_t> donated) {
  auto out = std::make_shared<FinishedGraph>();
  trace::Ready ready =
      trace::shared(self.builder.finish(tensors(outputs)),
                    compile_at_once ? exec::Compile::at_once : exec::Compile::when_repeated, budget,
                    std::move(donated));
  out->graph = std::move(ready.graph);
  out->program = std::move(ready.program);
  out->variables = self.builder.variables();
  return out;
}

std::vector<graph::OutputInfo> infos_of(nb::handle specs) {
  std::vector<graph::OutputInfo> out;
  for (nb::handle spec : nb::list(nb::object(nb::borrow(specs)))) {
    out.push_back({dtype_from_object(nb::object(spec[0]).ptr()), shape_of(nb::object(spec[1]))});
  }
  return out;
}

nb::list python_steps_of(const std::vector<PlannedPythonStep>& steps) {
  nb::list out;
  for (const PlannedPythonStep& s : steps) out.append(nb::make_tuple(s.function, s.line));
  return out;
}

nb::list buffers_of(const std::vector<PlannedBuffer>& buffers) {
  nb::list out;
  for (const PlannedBuffer& b : buffers) {
    nb::list over;
    for (const std::string& op : b.written_over_by) over.append(op);
    out.append(nb::make_tuple(b.op, b.line, b.place, b.bytes, b.offset, b.first, b.last, over));
  }
  return out;
}

nb::list devices_of(const std::vector<PlannedDevice>& devices) {
  nb::list out;
  for (const PlannedDevice& d : devices) {
    nb::list loads;
    for (const int64_t load : d.loads) loads.append(load);
    out.append(nb::make_tuple(d.name, d.peak, d.lower_bound, d.arena, d.results,
                              buffers_of(d.buffers), loads));
  }
  return out;
}

/// [(dtype, shape, device), …]: tensors of which no more is known.
std::vector<Tensor> specs_of(nb::handle specs) {
  std::vector<Tensor> out;
  for (nb::handle spec : nb::list(nb::object(nb::borrow(specs)))) {
    out.push_back(explain::spec_of(dtype_from_object(nb::object(spec[0]).ptr()),
                                   shape_of(nb::object(spec[1])),
                                   Device::named(nb::cast<std::string>(spec[2]))));
  }
  return out;
}

/// What a run with such inputs takes of the network.
comm::Traffic traffic(const FinishedGraph& self, std::span<const Tensor> inputs) {
  const graph::Graph& traced = self.program->graph();
  const comm::Traffic found = comm::traffic_of(traced);
  if (found.is_known && !comm::is_arranged_when_planned(traced)) return found;
  const auto graph = exec::specialise(*self.program, inputs);
  return graph ? comm::traffic_of(*graph) : found;
}

/// plan(name, specs, budget or 0): what a run will need, as plain values.
nb::dict plan(const FinishedGraph& self, std::string name, nb::handle specs, int64_t budget) {
  const std::vector<Tensor> inputs = specs_of(specs);
  const PlanReport report = explain::plan_report(*self.program, inputs, std::move(name), budget);
  nb::dict out;
  out["text"] = report.to_string();
  const std::pair<const char*, int64_t> numbers[] = {
      {"peak", report.peak},           {"lower_bound", report.lower_bound},
      {"arena", report.arena},         {"results", report.results},
      {"constants", report.constants}, {"variables", report.variables},
      {"inputs", report.inputs},       {"workspaces", report.workspaces},
      {"inner", report.inner},         {"as_traced", report.as_traced},
      {"budget", report.budget},       {"unbounded_peak", report.unbounded_peak},
      {"repeated", report.repeated}};
  for (const auto& [key, value] : numbers) out[key] = value;
  const comm::Traffic sent = traffic(self, inputs);
  out["bytes_sent"] = sent.is_known ? nb::cast(sent.bytes_sent) : nb::none();
  out["collectives"] = sent.collectives;
  out["seconds"] = report.seconds;
  out["device"] = report.device;
  out["over_limit"] = report.over_limit;
  out["added_time"] = report.added_time;
  out["repeat_time"] = report.repeat_time;
  nb::list steps, reuses, repeats, donations, refusals, splits, copies;
  for (const PlannedStepInfo& s : report.steps) {
    steps.append(nb::make_tuple(s.op, s.line, s.load, s.device));
  }
  out["devices"] = devices_of(report.devices);
  for (const PlannedCopy& c : report.copies) {
    copies.append(nb::make_tuple(c.step, c.op, c.line, c.from, c.to, c.bytes));
  }
  out["copies"] = copies;
  for (const PlannedReuse& r : report.reuses) {
    reuses.append(nb::make_tuple(r.step, r.op, r.bytes, r.done, r.why));
  }
  for (const PlannedDonation& d : report.donations) {
    donations.append(nb::make_tuple(d.argument, d.bytes, d.done, d.why));
  }
  for (const PlannedRepeat& r : report.repeats) {
    repeats.append(nb::make_tuple(r.op, r.line, r.bytes, r.why));
  }
  for (const std::string& r : report.refusals) refusals.append(r);
  out["python_steps"] = python_steps_of(report.python_steps);
  for (const std::string& s : report.splits) splits.append(s);
  out["splits"] = splits;
  out["steps"] = steps;
  out["buffers"] = buffers_of(report.buffers);
  out["reuses"] = reuses;
  out["donations"] = donations;
  out["repeats"] = repeats;
  out["refusals"] = refusals;
  return out;
}

/// The body of a branch or a loop; what it captured joins the inputs of the node.
trace::Body body_of(const Building& building, const FinishedGraph& finished,
                    std::vector<Tensor>& inputs) {
  trace::Body body;
  body.graph = finished.graph;
  body.program = finished.program;
  body.variables = finished.variables;
  for (const Tensor& t : building.builder.captures()) {
    body.captured.push_back(static_cast<uint32_t>(inputs.size()));
    inputs.push_back(t);
  }
  return body;
}

/// While it lives, nodes made on this thread wait for what the bodies have to wait for, too.
class WaitForAwaited {
 public:
  explicit WaitForAwaited(std::span<const GraphBuilder* const> bodies)
      : builder_(trace::current_builder()) {
    if (!builder_) return;
    outer_ = builder_->before();
    std::vector<graph::NodeRef> all = outer_;
    for (const GraphBuilder* body : bodies) {
      for (const graph::NodeRef& node : body->awaited()) {
        if (node->graph_id == builder_->graph()->id()) {
          all.push_back(node);
        } else {  // it is further out
          builder_->wait_for(node);
        }
      }
    }
    builder_->set_before(std::move(all));
  }
  ~WaitForAwaited() {
    if (builder_) builder_->set_before(std::move(outer_));
  }
  WaitForAwaited(const WaitForAwaited&) = delete;

 private:
  GraphBuilder* builder_;
  std::vector<graph::NodeRef> outer_;
};

/// branch(index, builders, graphs, specs of the outputs)
nb::list branch(nb::handle index, const nb::list& builders, const nb::list& graphs,
                nb::handle specs) {
  const GilHeld held;
  const SourceLine line;
  std::vector<Tensor> inputs{to_tensor(index.ptr(), {})};
  std::vector<trace::Body> bodies;
  std::vector<const GraphBuilder*> built;
  for (size_t i = 0; i < builders.size(); ++i) {
    const auto& building = nb::cast<const Building&>(builders[i]);
    bodies.push_back(body_of(building, nb::cast<const FinishedGraph&>(graphs[i]), inputs));
    built.push_back(&building.builder);
  }
  const std::vector<graph::OutputInfo> infos = infos_of(specs);
  std::vector<Tensor> outputs(infos.size());
  const WaitForAwaited waits(built);
  graph::call_special(std::make_shared<trace::Branch>(std::move(bodies)), infos, inputs, outputs);
  return list_of(outputs);
}

/// loop(values, most rounds, condition, its graph, body, its graph, specs of the outputs)
nb::list loop(nb::handle values, nb::handle most, const Building& condition,
              const FinishedGraph& condition_graph, const Building& body,
              const FinishedGraph& body_graph, nb::handle specs) {
  const GilHeld held;
  const SourceLine line;
  std::vector<Tensor> inputs = tensors(values);
  const size_t count = inputs.size();
  inputs.push_back(to_tensor(most.ptr(), {DType::int64}));
  trace::Body first = body_of(condition, condition_graph, inputs);
  trace::Body second = body_of(body, body_graph, inputs);
  const std::vector<graph::OutputInfo> infos = infos_of(specs);
  std::vector<Tensor> outputs(infos.size());
  const GraphBuilder* const built[] = {&condition.builder, &body.builder};
  const WaitForAwaited waits(built);
  graph::call_special(
      std::make_shared<trace::WhileLoop>(std::move(first), std::move(second), count), infos, inputs,
      outputs);
  return list_of(outputs);
}

/// The function as one step of a graph whose parts are run on request: who asks for one of its
/// results gets all of its effects, in their order.
nb::list add_as_one_step(const FinishedGraph& self, nb::handle inputs) {
  const GilHeld held;
  const SourceLine line;
  GraphBuilder* builder = trace::current_builder();
  if (!builder) fail("no graph is being built on this thread");
  trace::Body body;
  body.graph = self.graph;
  body.program = self.program;
  body.variables = self.variables;
  std::vector<Tensor> given{Tensor(int32_t{0})};  // a branch with no other
  for (Tensor& t : tensors(inputs)) {
    body.captured.push_back(static_cast<uint32_t>(given.size()));
    given.push_back(std::move(t));
  }
  std::vector<graph::OutputInfo> infos;
  for (const Tensor& t : self.graph->outputs()) infos.push_back({t.dtype(), t.shape()});
  std::vector<Tensor> outputs(infos.size());
  std::vector<trace::Body> bodies;
  bodies.push_back(std::move(body));
  builder->set_next_label("StatefulPartitionedCall");
  builder->handle_step(std::make_shared<trace::Branch>(std::move(bodies)), infos, given, outputs);
  return list_of(outputs);
}

/// python_call(function, inputs, specs of the outputs, has effect, what it stands for)
nb::list call_python(nb::handle function, nb::handle values, nb::handle specs, bool has_effect,
                     std::string stands_for) {
  const GilHeld held;
  const SourceLine line;
  std::vector<Tensor> inputs = tensors(values);
  const std::vector<graph::OutputInfo> infos = infos_of(specs);
  std::vector<Tensor> outputs(infos.size());
  graph::call_special(python_call(function.ptr(), infos, has_effect, std::move(stands_for)), infos,
                      inputs, outputs);
  return list_of(outputs);
}

/// with_gradient(inputs, outputs, captures of the backward graph, backward graph): the outputs
/// again, as tensors whose gradient by the inputs is the graph's.
nb::list with_gradient(nb::handle inputs, nb::handle outputs, const nb::list& captured,
                       std::shared_ptr<FinishedGraph> backward) {
  std::vector<Tensor> all = tensors(inputs);
  const size_t num_inputs = all.size();
  std::vector<Tensor> results = tensors(outputs);
  std::vector<graph::OutputInfo> infos;
  for (const Tensor& t : results) {
    infos.push_back({t.dtype(), t.shape()});
    all.push_back(t);
  }
  for (Tensor& t : tensors(captured)) all.push_back(std::move(t));
  std::vector<Tensor> out(infos.size());
  graph::call_special(
      trace::attach_gradient(num_inputs, infos.size(), backward->program, backward->variables),
      infos, all, out);
  return list_of(out);
}

bool is_symbolic_object(nb::handle value) {
  return is_tensor(value.ptr()) && tensor_of(value.ptr()).is_symbolic();
}

nb::object static_value(nb::handle value) {
  const Tensor& t = tensor_of(value.ptr());
  if (t.is_symbolic() && graph::is_constant(graph::node_of(t))) {
    return object_of(Tensor(graph::node_of(t).inputs[0]));
  }
  return object_of(graph::known_value(t));
}

nb::object traced_constant(nb::handle value) {
  GraphBuilder* builder = trace::current_builder();
  if (!builder || !is_tensor(value.ptr())) return nb::borrow(value);
  const GilHeld held;
  const SourceLine line;
  return object_of(builder->constant(tensor_of(value.ptr())));
}

/// What tf.constant gives for a value it has made: a node of the graph being built, else the value
/// on the device of the scope.
nb::object made_constant(nb::handle value) {
  if (trace::current_builder()) return traced_constant(value);
  if (open_device_count.load(std::memory_order_relaxed) == 1 || !is_tensor(value.ptr())) {
    return nb::borrow(value);
  }
  const SourceLine line;
  const Tensor& made = tensor_of(value.ptr());
  Tensor there = placed(made);
  return there.impl() == made.impl() ? nb::borrow(value) : object_of(std::move(there));
}

nb::list inputs_of(const std::vector<explain::OutlineInput>& inputs) {
  nb::list out;
  for (const explain::OutlineInput& i : inputs) {
    out.append(nb::make_tuple(i.node, i.output, i.constant));
  }
  return out;
}

nb::object plain(const explain::Outline& outline) {
  nb::list nodes;
  for (const explain::OutlineNode& n : outline.nodes) {
    nb::dict node;
    node["kind"] = n.kind;
    node["detail"] = n.detail;
    nb::list outputs, before, programs, bodies;
    for (const auto& [dtype, shape] : n.outputs) outputs.append(nb::make_tuple(dtype, shape));
    for (const int b : n.before) before.append(b);
    for (const graph::InnerProgram& p : n.programs) {
      nb::list members;
      for (const graph::InnerProgram::Member& m : p.members) {
        nb::list args;
        for (const int a : m.args) args.append(a);
        members.append(nb::make_tuple(m.op, args, m.is_result));
      }
      programs.append(nb::make_tuple(p.times, members));
    }
    for (const explain::OutlineBody& b : n.bodies) {
      bodies.append(nb::make_tuple(b.role, plain(b.outline)));
    }
    node["outputs"] = outputs;
    node["inputs"] = inputs_of(n.inputs);
    node["before"] = before;
    node["attributes"] = n.attributes;
    node["line"] = n.line;
    node["has_effect"] = n.has_effect;
    node["programs"] = programs;
    node["bodies"] = bodies;
    nodes.append(node);
  }
  return nb::make_tuple(nodes, inputs_of(outline.results));
}

/// The graph as plain values: as it was traced, or with `specs` what runs for them.
nb::object outline(const FinishedGraph& self, const std::string& name, nb::handle specs) {
  if (specs.is_none()) return plain(explain::outline_of(*self.graph));
  const std::vector<Tensor> inputs = specs_of(specs);
  return plain(explain::compiled_outline(*self.program, inputs, name));
}

std::vector<uint64_t> ids_of(const std::vector<Variable>& variables) {
  std::vector<uint64_t> ids;
  for (const Variable& v : variables) ids.push_back(v.id());
  return ids;
}

nb::object common(nb::handle a, nb::handle b) {
  const Shape shape = trace::common_shape(shape_of(a), shape_of(b));
  if (!shape.has_rank()) return nb::none();
  return nb::steal(Ref::checked(shape_tuple(shape)).release());
}

/// The symbolic tensor's own dtype and shape: what an input that stands for it is declared as.
nb::list captures(const Building& self) {
  std::vector<Tensor> all = self.builder.captures();
  return list_of(all);
}

/// The outputs for all elements at once, or a text: what cannot be done so.
nb::object run_batched(const FinishedGraph& finished, nb::list elements, nb::list captured) {
  const GilHeld held;
  try {
    std::vector<Tensor> rows =
        trace::run_batched(*finished.graph, tensors(elements), tensors(captured));
    return list_of(rows);
  } catch (const trace::NoBatchRuleError& error) {
    return nb::str(error.what());
  }
}

/// The value of a tensor of a graph, given those of inputs of the graph that it may depend on.
nb::object evaluate(nb::handle value, nb::list inputs, nb::list values) {
  const GilHeld held;
  const Tensor wanted = tensor_of(value.ptr());
  if (!wanted.is_symbolic()) return nb::borrow(value);
  const auto program =
      exec::Program::build(tensors(inputs), {&wanted, 1}, {}, exec::Compile::never);
  const NoHandlers eager;
  std::vector<Tensor> given = tensors(values);
  Tensor out;
  program->run(given, {&out, 1});
  return object_of(std::move(out));
}

nb::object symbolic_tensor(Tensor t) { return object_of(std::move(t)); }

void set_symbolic_shape(nb::handle t, nb::handle shape) {
  const Tensor& tensor = tensor_of(t.ptr());
  const Shape sizes = shape_of(shape);
  graph::set_shape(tensor, sizes, trace::imagine(sizes));
}

std::string node_name(nb::handle t) { return graph::name_of(maker_of(t)); }

nb::list node_inputs(nb::handle t) {
  nb::list out;
  for (const Tensor& input : maker_of(t).inputs) {
    out.append(symbolic_tensor(input));
  }
  return out;
}

nb::list node_outputs(nb::handle t) {
  graph::Node& node = maker_of(t);
  nb::list out;
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    out.append(symbolic_tensor(graph::output_of(node, i, trace::imagine(node.outputs[i].shape))));
  }
  return out;
}

nb::dict node_attrs(nb::handle t) {
  const graph::Node& node = maker_of(t);
  nb::dict out;
  if (!node.op) return out;
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const Param& param = node.op->params()[static_cast<size_t>(node.op->attrs()[i])];
    out[param.name.c_str()] = nb::steal(Ref::checked(object_from_attr(node.attrs[i])).release());
  }
  return out;
}

void add_node_functions(nb::module_& m) {
  m.def("set_name_scope", [](std::string scope) {
    if (!scope.empty()) scope += '/';
    trace::set_name_scope(std::move(scope));
  });
  m.def("set_next_name", [](std::string name) {
    trace::GraphBuilder* builder = trace::current_builder();
    if (builder && builder->is_shared()) builder->set_next_label(std::move(name));
  });
  m.def("set_symbolic_shape", set_symbolic_shape, nb::arg(), nb::arg().none());
  m.def("node_name", node_name);
  m.def("set_node_name", [](nb::handle t, const std::string& name) {
    const Ref text = Ref::checked(PyUnicode_FromString(name.c_str()));
    name_result(t.ptr(), text.get());
  });
  m.def("node_inputs", node_inputs);
  m.def("node_outputs", node_outputs);
  m.def("node_attrs", node_attrs);
  m.def("node_kind", [](nb::handle t) { return std::string(graph::kind_of(maker_of(t))); });
  m.def("node_line", [](nb::handle t) {
    const graph::Node& node = maker_of(t);
    return node.site ? memory::describe(*node.site) : std::string();
  });
  m.def("value_index", [](nb::handle t) {
    maker_of(t);
    return graph::symbolic(tensor_of(t.ptr())).index;
  });
}

}  // namespace

graph::Node& maker_of(nb::handle object) {
  if (!is_tensor(object.ptr()) || !tensor_of(object.ptr()).is_symbolic()) {
    fail("a tensor of a graph was expected; ", Py_TYPE(object.ptr())->tp_name,
         is_tensor(object.ptr()) ? " that holds its value was given" : " was given");
  }
  return graph::node_of(tensor_of(object.ptr()));
}

nb::object object_of(Tensor&& t) {
  if (!t) return nb::none();
  return nb::steal(Ref::checked(wrap(std::move(t))).release());
}

Shape shape_of(nb::handle shape) {
  if (shape.is_none()) return Shape::unknown();
  const Ref rank = Ref::steal(PyObject_GetAttrString(shape.ptr(), "rank"));
  if (!rank) PyErr_Clear();
  if (rank && rank.get() == Py_None) return Shape::unknown();
  return shape_from_object(shape.ptr());
}

void label_result(PyObject* result, PyObject* name) {
  const trace::GraphBuilder* builder = trace::current_builder();
  if (!builder || !builder->is_shared() || !is_tensor(result)) return;
  if (!tensor_of(result).is_symbolic()) return;
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) throw PythonError{};
  builder->graph()->set_name(graph::node_of(tensor_of(result)), trace::name_scope() + text);
}

void name_result(PyObject* result, PyObject* name) {
  if (PyList_Check(result)) {
    if (PyList_GET_SIZE(result) == 0) return;
    result = PyList_GET_ITEM(result, 0);
  }
  if (!is_tensor(result) || !tensor_of(result).is_symbolic() || !PyUnicode_Check(name)) return;
  graph::Node& node = graph::node_of(tensor_of(result));
  const std::shared_ptr<graph::Graph> graph = node.graph.lock();
  if (!graph) return;
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) throw PythonError{};
  const trace::GraphBuilder* builder = trace::current_builder();
  if (!builder || !builder->is_shared()) {
    node.label = graph->unique_name(trace::name_scope() + text);
    return;
  }
  graph->set_name(node, trace::name_scope() + text);
  // Sessions find it by its name: the graph keeps it.
  const Ref module = Ref::checked(PyImport_ImportModule("tidemark._v1.graph"));
  Ref::checked(call_method(module.get(), "keep_named", "O", result));
}

static void add_finished_graph(nb::module_& m) {
  nb::class_<FinishedGraph>(m, "FinishedGraph", nb::is_weak_referenceable())
      .def("run", run)
      .def("add_as_one_step", add_as_one_step)
      .def("plan", plan)
      .def(
          "set_name",
          [](FinishedGraph& self, const std::string& name) {
            self.name = memory::intern_name(name + "()");
          },
          nb::arg("name"), "What its runs are called in reports of memory.")
      .def("outline", outline, nb::arg("name"), nb::arg("specs").none())
      .def("__str__", [](const FinishedGraph& self) { return self.graph->to_string(); })
      .def_prop_ro("graph_id", [](const FinishedGraph& self) { return self.graph->id(); })
      .def_prop_ro("handle", [](const FinishedGraph& self) { return GraphHandle{self.graph}; })
      .def_prop_ro("python_steps",
                   [](const FinishedGraph& self) {
                     return python_steps_of(explain::python_steps(*self.graph));
                   })
      .def_prop_ro("num_inputs",
                   [](const FinishedGraph& self) { return self.graph->inputs().size(); })
      .def_prop_ro("num_effects",
                   [](const FinishedGraph& self) { return self.graph->effects().size(); })
      .def_prop_ro("variable_ids", [](const FinishedGraph& self) { return ids_of(self.variables); })
      .def_prop_ro("inputs",
                   [](const FinishedGraph& self) {
                     std::vector<Tensor> all = self.graph->inputs();
                     return list_of(all);
                   })
      .def_prop_ro("outputs",
                   [](const FinishedGraph& self) {
                     std::vector<Tensor> all = self.graph->outputs();
                     return list_of(all);
                   })
      .def_prop_ro("nbytes", [](const FinishedGraph& self) {
        return self.graph->bytes() + self.program->bytes();
      });
}

void add_graph_functions(nb::module_& m) {
  m.def(
      "live_nodes", [] { return graph::live_nodes.load(std::memory_order_relaxed); },
      "How many nodes there are, of all graphs.");
  nb::class_<Building>(m, "GraphBuilder")
      .def(nb::init<std::string>())
      .def("enter", &Building::enter)
      .def("exit", &Building::exit)
      .def(
          "add_input",
          [](Building& self, nb::handle dtype, nb::handle shape) {
            return object_of(
                self.builder.add_input(dtype_from_object(dtype.ptr()), shape_of(shape)));
          },
          nb::arg(), nb::arg().none())
      .def("own", [](Building& self,
                     nb::handle t) { return object_of(self.builder.own(tensor_of(t.ptr()))); })
      .def("finish", finish, nb::arg("outputs"), nb::arg("compile_at_once") = false,
           nb::arg("memory_budget") = 0, nb::arg("donated") = std::vector<uint32_t>())
      .def("works_on_elements",
           [](const Building& self, nb::handle values, int64_t count) {
             return comm::works_on_elements(*self.builder.graph(), tensors(values), count);
           })
      .def_prop_ro("captures", captures)
      .def_prop_ro("awaited",
                   [](const Building& self) {
                     nb::list out;
                     for (const graph::NodeRef& n : self.builder.awaited())
                       out.append(NodeHandle{n});
                     return out;
                   })
      .def_prop_ro("graph_id", [](const Building& self) { return self.builder.graph()->id(); })
      .def_prop_ro("variable_ids",
                   [](const Building& self) { return ids_of(self.builder.variables()); });
  add_finished_graph(m);
  nb::class_<Lifted>(m, "EagerScope")
      .def(nb::init<>())
      .def("enter", &Lifted::enter)
      .def("exit", &Lifted::exit);
  m.def("run_batched", run_batched, nb::arg("graph"), nb::arg("elements"), nb::arg("captured"));
  m.def("builds_for_sessions", [] {
    const GraphBuilder* builder = trace::current_builder();
    return builder && builder->is_shared();
  });
  m.def(
      "wait_for",
      [](const NodeHandle& n) {
        GraphBuilder* builder = trace::current_builder();
        if (builder && builder->graph()->id() != n.node->graph_id) builder->wait_for(n.node);
      },
      "The step that the graph being built becomes part of runs after this node of an outer one.");
  m.def("current_graph_id", []() -> uint64_t {
    const GraphBuilder* builder = trace::current_builder();
    return builder ? builder->graph()->id() : 0;
  });
  m.def("trace_cache_bytes", [] { return trace::TraceCache::instance().bytes(); });
  m.def("trace_cache_limit", trace::trace_cache_limit);
  m.def("branch", branch);
  m.def("loop", loop);
  m.def("python_call", call_python, nb::arg("function"), nb::arg("inputs"), nb::arg("specs"),
        nb::arg("has_effect"), nb::arg("stands_for") = "");
  m.def("with_gradient", with_gradient);
  m.def("is_symbolic", is_symbolic_object, nb::arg().none());
  nb::class_<OnOtherThread>(m, "ThreadPlace")
      .def(nb::init<>())
      .def("enter", &OnOtherThread::enter)
      .def("exit", &OnOtherThread::exit);
  m.def("builder_number", [] { return reinterpret_cast<uintptr_t>(trace::current_builder()); });
  m.def("is_tracing", [] { return trace::current_builder() != nullptr; });
  m.def("computes_now", [] { return top_handler() == nullptr; });
  m.def("static_value", static_value);
  m.def("traced_constant", traced_constant);
  m.def("made_constant", made_constant);
  m.def("evaluate", evaluate, nb::arg(), nb::arg() = nb::list(), nb::arg() = nb::list());
  m.def(
      "narrow_shape",
      [](nb::handle t, nb::handle shape) { trace::narrow(tensor_of(t.ptr()), shape_of(shape)); },
      nb::arg(), nb::arg().none());
  m.def("common_shape", common, nb::arg().none(), nb::arg().none());
  m.def("graph_id_of", [](nb::handle t) {
    const Tensor& tensor = tensor_of(t.ptr());
    return tensor.is_symbolic() ? graph::node_of(tensor).graph_id : 0;
  });
  add_node_functions(m);
}

}  // namespace tidemark::python
