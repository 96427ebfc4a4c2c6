// TensorFlow 1's graphs and sessions from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "calls.h"
#include "tidemark/profile/recorder.h"
#include "tidemark/session/session.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/graph_gradient.h"
#include "tidemark/trace/infer.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "recorder.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

struct NamesOfKinds {
  std::shared_ptr<const graph::Graph::NamesOfKinds> names;
};

/// One thread's way of adding to a shared graph.
class GraphScope {
 public:
  explicit GraphScope(const SharedGraph& shared) : builder(shared.graph) {}
  void enter() {
    if (scope_) fail("this scope is in use already");
    scope_ = std::make_unique<trace::TraceScope>(builder);
  }
  void exit() { scope_.reset(); }

  trace::GraphBuilder builder;

 private:
  std::unique_ptr<trace::TraceScope> scope_;
};

trace::GraphBuilder& builder_in_charge() {
  trace::GraphBuilder* builder = trace::current_builder();
  if (!builder) fail("no graph is being built on this thread");
  return *builder;
}

std::vector<graph::NodeRef> nodes_of(nb::handle list) {
  std::vector<graph::NodeRef> out;
  for (nb::handle item : nb::list(nb::object(nb::borrow(list)))) {
    if (is_tensor(item.ptr())) {
      const Tensor& t = tensor_of(item.ptr());
      if (t.is_symbolic()) out.push_back(graph::NodeRef::share(&graph::node_of(t)));
    } else {
      out.push_back(nb::cast<const NodeHandle&>(item).node);
    }
  }
  return out;
}

nb::object placeholder(nb::handle dtype, nb::handle shape) {
  const GilHeld held;
  const SourceLine line;
  return object_of(
      builder_in_charge().add_placeholder(dtype_from_object(dtype.ptr()), shape_of(shape)));
}

/// Gives its input on, unless the run gives it another value: nothing is known of it before.
class Default final : public graph::Special {
 public:
  std::string_view name() const override { return "placeholder_with_default"; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    outputs[0] = inputs[0];
  }
};

/// (node, outputs…)
nb::tuple special_node(const std::shared_ptr<const graph::Special>& special,
                       std::vector<graph::OutputInfo> infos, std::span<const Tensor> inputs) {
  const GilHeld held;
  const SourceLine line;
  std::vector<Tensor> outputs(infos.size());
  graph::NodeRef node = builder_in_charge().add_special(special, infos, inputs, outputs);
  nb::object first = outputs.empty() ? nb::none() : object_of(std::move(outputs[0]));
  return nb::make_tuple(NodeHandle{std::move(node)}, first);
}

nb::object placeholder_with_default(nb::handle value, nb::handle shape) {
  const Tensor& given = tensor_of(value.ptr());
  const graph::OutputInfo info{given.dtype(), shape_of(shape)};
  return nb::object(special_node(std::make_shared<Default>(), {info}, {&given, 1})[1]);
}

nb::object read(const session::GraphVariable& v) {
  return nb::object(special_node(session::read_special(v), {{v.dtype, v.shape, v.id}}, {})[1]);
}

nb::tuple update(const session::GraphVariable& v, const std::string& op, nb::handle inputs,
                 nb::handle attrs) {
  std::vector<Attr> values;
  const bool assigns = op == graph::name_of_update(nullptr);
  const OpDef* definition = assigns ? nullptr : &OpRegistry::instance().get(op);
  if (definition) {
    values = default_attrs(*definition);
    size_t i = 0;
    for (nb::handle given : nb::tuple(nb::object(nb::borrow(attrs)))) {
      const auto index = static_cast<size_t>(definition->attrs()[i]);
      values[i++] = attr_from_object(*definition, definition->params()[index], given.ptr());
    }
  }
  return special_node(session::update_special(v, definition, std::move(values)),
                      {{v.dtype, v.shape}}, tensors_from_list(inputs.ptr()));
}

class Nothing final : public graph::Special {
 public:
  std::string_view name() const override { return "no_op"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {}
};

nb::object attr_object(const Attr& attr) {
  return nb::steal(Ref::checked(object_from_attr(attr)).release());
}

nb::dict attrs_of(const OpDef* op, std::span<const Attr> attrs) {
  nb::dict out;
  for (size_t i = 0; op && i < attrs.size(); ++i) {
    const Param& param = op->params()[static_cast<size_t>(op->attrs()[i])];
    out[param.name.c_str()] = attr_object(attrs[i]);
  }
  return out;
}

/// None, or (id of the variable, its name, "read" | "is_initialized" | the op it is updated by,
/// {attribute: value}). Nodes of sessions and of functions alike.
nb::object variable_use(const NodeHandle& n) {
  if (const Variable* shown = graph::shown_variable(*n.node)) {
    return nb::make_tuple(shown->id(), shown->name(), "read", nb::dict());
  }
  if (const graph::VariableUpdate* update = graph::update_of(*n.node)) {
    return nb::make_tuple(update->variable.id(), update->variable.name(),
                          std::string(graph::name_of_update(update->op)),
                          attrs_of(update->op, update->attrs));
  }
  const session::VariableUse use = session::variable_use(n.node->special.get());
  if (!use.variable) return nb::none();
  using Kind = session::VariableUse::Kind;
  const std::string_view what = use.kind == Kind::read             ? "read"
                                : use.kind == Kind::is_initialized ? "is_initialized"
                                                                   : graph::name_of_update(use.op);
  return nb::make_tuple(use.variable->id, use.variable->name, std::string(what),
                        attrs_of(use.op, use.attrs));
}

const char* text_of(graph::InnerGraph::Role role) {
  switch (role) {
    case graph::InnerGraph::Role::choice:
      return "choice";
    case graph::InnerGraph::Role::condition:
      return "condition";
    case graph::InnerGraph::Role::round:
      return "round";
  }
  return "";
}

/// [("choice" | "condition" | "round", graph, where among the inputs each captured value lies)]
nb::list inner_graphs(const NodeHandle& n) {
  nb::list out;
  if (!n.node->special) return out;
  for (const graph::InnerGraph& inner : n.node->special->inner_graphs()) {
    nb::list captured;
    for (const uint32_t at : inner.captured) captured.append(at);
    out.append(nb::make_tuple(text_of(inner.role), GraphHandle{inner.graph->shared_from_this()},
                              captured));
  }
  return out;
}

nb::object trace_object(const session::RunTrace& trace) {
  nb::list steps;
  for (const session::RunTrace::OpRun& s : trace.ops) {
    nb::list outputs;
    for (const std::string& text : s.outputs) outputs.append(text);
    nb::dict step;
    step["node"] = s.node;
    step["op"] = s.op;
    step["place"] = s.place;
    step["start_us"] = s.start_us;
    step["duration_us"] = s.duration_us;
    step["output_bytes"] = s.output_bytes;
    step["allocated_bytes"] = s.allocated_bytes;
    step["peak_bytes"] = s.peak_bytes;
    step["outputs"] = outputs;
    steps.append(step);
  }
  nb::dict out;
  out["started_us"] = trace.started_us;
  out["duration_us"] = trace.duration_us;
  out["peak_bytes"] = trace.peak_bytes;
  out["steps"] = steps;
  return out;
}

/// The values, and with `trace` what the run did, else None.
nb::tuple run(session::Session& self, const nb::list& fetches, const nb::list& feeds,
              int64_t timeout_ms, bool wants_trace) {
  const GilHeld held;
  const SourceLine line;
  session::RunTrace trace;
  session::Request request;
  request.timeout_ms = timeout_ms;
  request.breathe = breathe;
  request.trace = wants_trace ? &trace : nullptr;
  std::vector<bool> is_tensor_fetch;
  for (nb::handle fetch : fetches) {
    is_tensor_fetch.push_back(is_tensor(fetch.ptr()));
    if (is_tensor_fetch.back()) {
      request.fetches.push_back(tensor_of(fetch.ptr()));
    } else {
      request.operations.push_back(nb::cast<const NodeHandle&>(fetch).node);
    }
  }
  for (nb::handle feed : feeds) {
    request.feeds.emplace_back(tensor_of(nb::object(feed[0]).ptr()),
                               tensor_of(nb::object(feed[1]).ptr()));
  }
  profile::mark(profile::EventKind::session, "run", 0);
  std::vector<Tensor> found = self.run(request);
  nb::list out;
  size_t next = 0;
  for (bool wanted : is_tensor_fetch) {
    out.append(wanted ? object_of(std::move(found[next++])) : nb::none());
  }
  return nb::make_tuple(out, wants_trace ? trace_object(trace) : nb::object(nb::none()));
}

/// A fetch that needs no looking up: a tensor of the graph, or an operation.
bool add_fetch(session::Request& request, std::vector<bool>& is_value, uint64_t graph_id,
               PyObject* fetch) {
  if (is_tensor(fetch)) {
    const Tensor& t = tensor_of(fetch);
    if (!t.is_symbolic() || graph::node_of(t).graph_id != graph_id) return false;
    request.fetches.push_back(t);
    is_value.push_back(true);
    return true;
  }
  const Ref inner = Ref::steal(PyObject_GetAttrString(fetch, "_node"));
  NodeHandle* node = nullptr;
  if (!inner || !nb::try_cast(nb::handle(inner.get()), node)) {
    PyErr_Clear();
    return false;
  }
  if (node->node->graph_id != graph_id) return false;
  request.operations.push_back(node->node);
  is_value.push_back(false);
  return true;
}

bool fits(const Shape& given, const Shape& declared) {
  if (!declared.has_rank()) return true;
  if (given.rank() != declared.rank()) return false;
  for (int i = 0; i < given.rank(); ++i) {
    if (declared[i] >= 0 && declared[i] != given[i]) return false;
  }
  return true;
}

bool add_feeds(session::Request& request, uint64_t graph_id, PyObject* feeds) {
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(feeds, &at, &key, &value)) {
    if (!is_tensor(key) || is_tensor(value)) return false;
    const Tensor& what = tensor_of(key);
    if (!what.is_symbolic() || graph::node_of(what).graph_id != graph_id) return false;
    for (const Tensor& fetch : request.fetches) {
      if (&graph::node_of(fetch) == &graph::node_of(what)) return false;
    }
    Tensor given;
    try {
      given = to_tensor(value, {.dtype = what.dtype(), .copy = false});
    } catch (const std::exception&) {
      PyErr_Clear();
      return false;
    }
    if (given.is_symbolic() || !fits(given.shape(), what.shape())) return false;
    request.feeds.emplace_back(what, std::move(given));
  }
  return true;
}

/// The run of a tensor, an operation or a list of them, fed by a dict of values. NotImplemented:
/// something about the request is unusual, or wrong; the long way will say what.
nb::object run_quickly(session::Session& self, uint64_t graph_id, nb::handle fetches,
                       nb::handle feeds) {
  const GilHeld held;
  const SourceLine line;
  session::Request request;
  request.breathe = breathe;
  std::vector<bool> is_value;
  const bool is_list = PyList_CheckExact(fetches.ptr());
  bool usual = feeds.is_none() || PyDict_CheckExact(feeds.ptr());
  if (is_list) {
    for (Py_ssize_t i = 0; usual && i < PyList_GET_SIZE(fetches.ptr()); ++i) {
      usual = add_fetch(request, is_value, graph_id, PyList_GET_ITEM(fetches.ptr(), i));
    }
  } else {
    usual = usual && add_fetch(request, is_value, graph_id, fetches.ptr());
  }
  if (usual && !feeds.is_none()) usual = add_feeds(request, graph_id, feeds.ptr());
  if (!usual) return nb::borrow(Py_NotImplemented);
  profile::mark(profile::EventKind::session, "run", 0);
  std::vector<Tensor> found = self.run(request);
  static PyObject* const numpy = PyUnicode_InternFromString("numpy");
  nb::list out;
  size_t next = 0;
  for (bool wanted : is_value) {
    if (!wanted) {
      out.append(nb::none());
      continue;
    }
    const Ref tensor = Ref::checked(wrap(std::move(found[next++])));
    out.append(nb::steal(Ref::checked(call_method(tensor.get(), numpy)).release()));
  }
  return is_list ? nb::object(out) : nb::object(out[0]);
}

nb::list gradients(nb::handle ys, nb::handle xs, nb::handle seeds, nb::handle stops) {
  const GilHeld held;
  const SourceLine line;
  std::vector<Tensor> weights;
  if (!seeds.is_none()) weights = tensors_from_list(seeds.ptr());
  auto found = trace::gradients(tensors_from_list(ys.ptr()), tensors_from_list(xs.ptr()), weights,
                                tensors_from_list(stops.ptr()));
  nb::list out;
  for (autodiff::Adjoint& adjoint : found) {
    out.append(nb::steal(Ref::checked(object_from_adjoint(std::move(adjoint))).release()));
  }
  return out;
}

nb::list depends_on(nb::handle tensor) {
  nb::list out;
  const Tensor& t = tensor_of(tensor.ptr());
  for (graph::Node* node : graph::nodes_for({&t, 1}, {})) {
    out.append(NodeHandle{graph::NodeRef::share(node)});
  }
  return out;
}

/// [(node, the numbers of earlier nodes that it comes after, though it needs none of their
/// values)], in the order of the program.
nb::list ordered_nodes(const GraphHandle& self) {
  nb::list out;
  graph::EffectOrder order;
  int number = 0;
  for (graph::Node* node : self.graph->nodes()) {
    nb::list after;
    for (const int earlier : order.add(number++, graph::effects_of(*node))) after.append(earlier);
    out.append(nb::make_tuple(NodeHandle{graph::NodeRef::share(node)}, after));
  }
  return out;
}

nb::list tensor_list(std::vector<Tensor> tensors) {
  nb::list out;
  for (Tensor& t : tensors) out.append(object_of(std::move(t)));
  return out;
}

void add_graph_handle(nb::module_& m) {
  nb::class_<GraphHandle>(m, "GraphHandle")
      .def("nodes", ordered_nodes)
      .def_prop_ro("inputs", [](const GraphHandle& g) { return tensor_list(g.graph->inputs()); })
      .def_prop_ro("outputs", [](const GraphHandle& g) { return tensor_list(g.graph->outputs()); });
}

void add_names_of_kinds(nb::module_& m) {
  nb::class_<NamesOfKinds>(m, "NamesOfKinds")
      .def(
          "__init__",
          [](NamesOfKinds* self, const nb::dict& names) {
            graph::Graph::NamesOfKinds all;
            for (const auto& [kind, name] : names) {
              all[nb::cast<std::string>(kind)] = nb::cast<std::string>(name);
            }
            new (self)
                NamesOfKinds{std::make_shared<const graph::Graph::NamesOfKinds>(std::move(all))};
          },
          "What nodes of graphs are called unless named: {kind: name}.");
}

void add_node_type(nb::module_& m) {
  nb::class_<NodeHandle>(m, "NodeHandle", nb::is_weak_referenceable())
      .def_prop_ro("kind", [](const NodeHandle& n) { return std::string(graph::kind_of(*n.node)); })
      .def_prop_ro("sequence", [](const NodeHandle& n) { return n.node->sequence; })
      .def_prop_ro("graph_id", [](const NodeHandle& n) { return n.node->graph_id; })
      .def_prop_rw(
          "label", [](const NodeHandle& n) { return n.node->label; },
          [](NodeHandle& n, std::string label) {
            const std::shared_ptr<graph::Graph> graph = n.node->graph.lock();
            if (graph) graph->set_unique_name(*n.node, std::move(label));
          })
      .def("set_name",
           [](NodeHandle& n, const std::string& name) {
             const std::shared_ptr<graph::Graph> graph = n.node->graph.lock();
             if (graph) graph->set_name(*n.node, name);
           })
      .def_prop_ro("place",
                   [](const NodeHandle& n) {
                     return n.node->site ? memory::describe(*n.node->site) : std::string();
                   })
      .def_prop_ro("attrs", [](const NodeHandle& n) { return attrs_of(n.node->op, n.node->attrs); })
      .def_prop_ro("variable_use", variable_use)
      .def_prop_ro("inner_graphs", inner_graphs)
      .def_prop_ro("is_pure",
                   [](const NodeHandle& n) { return graph::effects_of(*n.node).is_pure(); })
      .def_prop_ro("site",
                   [](const NodeHandle& n) {
                     return n.node->site ? memory::describe(*n.node->site) : std::string();
                   })
      .def_prop_ro("num_outputs", [](const NodeHandle& n) { return n.node->outputs.size(); })
      .def("output",
           [](const NodeHandle& n, uint32_t index) {
             return object_of(
                 graph::output_of(*n.node, index, trace::imagine(n.node->outputs.at(index).shape)));
           })
      .def_prop_ro("inputs",
                   [](const NodeHandle& n) {
                     nb::list out;
                     for (const Tensor& t : n.node->inputs) out.append(object_of(Tensor(t)));
                     return out;
                   })
      .def_prop_ro("before", [](const NodeHandle& n) {
        nb::list out;
        for (const graph::NodeRef& b : n.node->before) out.append(NodeHandle{b});
        return out;
      });
}

void add_variable_type(nb::module_& m) {
  nb::class_<session::GraphVariable>(m, "GraphVariable")
      .def("__init__",
           [](session::GraphVariable* self, const std::string& name, nb::handle dtype,
              nb::handle shape, bool trainable) {
             new (self)
                 session::GraphVariable{new_tensor_id() | (trainable ? kTrainableIds : 0), name,
                                        dtype_from_object(dtype.ptr()), shape_of(shape), trainable};
           })
      .def_prop_ro("id", [](const session::GraphVariable& v) { return v.id; })
      .def_prop_ro("name", [](const session::GraphVariable& v) { return v.name; })
      .def_prop_ro("trainable", [](const session::GraphVariable& v) { return v.trainable; })
      .def("read", read)
      .def("update", update)
      .def("is_initialized", [](const session::GraphVariable& v) -> nb::object {
        return nb::object(
            special_node(session::is_initialized_special(v), {{DType::bool_, Shape{}}}, {})[1]);
      });
}

}  // namespace

void add_session_functions(nb::module_& m) {
  add_node_type(m);
  add_graph_handle(m);
  add_names_of_kinds(m);
  nb::class_<SharedGraph>(m, "SharedGraph")
      .def(
          "__init__",
          [](SharedGraph* self, const std::string& name, const NamesOfKinds* names) {
            new (self) SharedGraph{graph::Graph::create(name)};
            if (names) self->graph->name_kinds(names->names);
          },
          nb::arg("name"), nb::arg("names").none() = nb::none())
      .def("unique_name", [](const SharedGraph& self,
                             const std::string& name) { return self.graph->unique_name(name); })
      .def("find",
           [](const SharedGraph& self, const std::string& name) -> nb::object {
             graph::NodeRef node = self.graph->find(name);
             return node ? nb::cast(NodeHandle{std::move(node)}) : nb::none();
           })
      .def("nodes",
           [](const SharedGraph& self) {
             nb::list out;
             for (graph::NodeRef& node : self.graph->named_nodes()) {
               out.append(NodeHandle{std::move(node)});
             }
             return out;
           })
      .def("finalize", [](const SharedGraph& self) { self.graph->finalize(); })
      .def_prop_ro("is_finalized",
                   [](const SharedGraph& self) { return self.graph->is_finalized(); })
      .def_prop_ro("id", [](const SharedGraph& self) { return self.graph->id(); });
  nb::class_<GraphScope>(m, "GraphScope")
      .def(nb::init<const SharedGraph&>())
      .def("enter", &GraphScope::enter)
      .def("exit", &GraphScope::exit)
      .def("set_before",
           [](GraphScope& self, nb::handle nodes) { self.builder.set_before(nodes_of(nodes)); });
  add_variable_type(m);
  nb::class_<session::Session>(m, "SessionBase")
      .def(
          "__init__",
          [](session::Session* self, int64_t limit) {
            const SourceLine line;
            new (self) session::Session(limit);
            profile::mark(profile::EventKind::session, "opened", 1);
          },
          nb::arg("limit") = 0)
      .def("run", run, nb::arg(), nb::arg(), nb::arg("timeout_ms") = 0, nb::arg("trace") = false)
      .def("run_quickly", run_quickly, nb::arg(), nb::arg(), nb::arg().none())
      .def("close",
           [](session::Session& self) {
             const SourceLine line;
             if (!self.is_closed()) profile::mark(profile::EventKind::session, "closed", 1);
             self.close();
           })
      .def_prop_ro("is_closed", &session::Session::is_closed)
      .def_prop_ro("num_plans", &session::Session::num_plans)
      .def_prop_ro("plan_bytes", &session::Session::plan_bytes)
      .def_prop_ro("used_bytes", &session::Session::used_bytes);
  m.def("placeholder", placeholder, nb::arg(), nb::arg().none());
  m.def("placeholder_with_default", placeholder_with_default);
  m.def("no_op", []() -> nb::object {
    return nb::object(special_node(std::make_shared<Nothing>(), {}, {})[0]);
  });
  m.def("graph_gradients", gradients, nb::arg("ys"), nb::arg("xs"), nb::arg("seeds").none(),
        nb::arg("stops"));
  m.def("nodes_for", depends_on);
  m.def("node_of", [](nb::handle t) { return NodeHandle{graph::NodeRef::share(&maker_of(t))}; });
  m.def("output_index", [](nb::handle t) {
    maker_of(t);
    return graph::symbolic(tensor_of(t.ptr())).index;
  });
  m.def("is_placeholder", [](nb::handle t) {
    const Tensor& tensor = tensor_of(t.ptr());
    return tensor.is_symbolic() && graph::is_placeholder(graph::node_of(tensor));
  });
}

}  // namespace tidemark::python
