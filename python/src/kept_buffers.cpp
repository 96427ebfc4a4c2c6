#include "kept_buffers.h"

#include <nanobind/nanobind.h>

#include <vector>

#include "tidemark/session/session.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/tensor/variable_wait.h"
#include "tidemark/trace/specials.h"

#include "errors.h"
#include "graph_module.h"
#include "recorder.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using Found = std::function<void(const memory::Buffer&)>;

/// The items of an array of objects. Null: it has none.
PyObject* items_in_order(PyObject* array) {
  const Ref flat = Ref::steal(PyObject_GetAttrString(array, "flat"));
  return flat ? PySequence_List(flat.get()) : nullptr;
}

/// The items of the fields that hold objects, of an array of records.
PyObject* items_of_fields(PyObject* array, PyObject* names) {
  Ref all = Ref::steal(PyList_New(0));
  for (Py_ssize_t i = 0; all && i < PyTuple_GET_SIZE(names); ++i) {
    const Ref field = Ref::steal(PyObject_GetItem(array, PyTuple_GET_ITEM(names, i)));
    const Ref items = Ref::steal(field ? KeptBuffers::items_of(field.get()) : nullptr);
    if (!items) continue;
    all = Ref::steal(PySequence_InPlaceConcat(all.get(), items.get()));
  }
  return all.release();
}

void each_of(const Tensor& t, const Found& found) {
  if (t && t.impl()->buffer) found(*t.impl()->buffer);
}

void each_of(const Variable& variable, const Found& found) {
  const NoHandlers now;  // the value, also while a graph is being built
  // Whoever updates it may be waiting for Python's lock, which the walk holds. What is not found
  // here counts as a variable's all the same: the ledger says so.
  const NoWaiting scope;
  try {
    if (variable) each_of(variable.operand(), found);
  } catch (const FailedPreconditionError&) {
  }
}

template <class T>
bool is_a(PyTypeObject* type) {
  return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr()));
}

}  // namespace

KeptBuffers::KeptBuffers() {
  const Ref module = Ref::checked(PyImport_ImportModule("tidemark._tidemark"));
  const Ref tape = Ref::checked(PyObject_GetAttrString(module.get(), "Tape"));
  tape_ = reinterpret_cast<PyTypeObject*>(tape.get());  // the module keeps it
  // NumPy is looked for, not loaded: without it there are no arrays.
  PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  if (!numpy) return;
  const Ref array = Ref::steal(PyObject_GetAttrString(numpy, "ndarray"));
  if (array) ndarray_ = reinterpret_cast<PyTypeObject*>(array.get());
  PyErr_Clear();
}

Sort KeptBuffers::look_at(PyTypeObject* type) const {
  if (PyType_IsSubtype(type, tensor_type)) return Sort::tensor;
  if (PyType_IsSubtype(type, variable_type)) return Sort::variable;
  if (PyType_IsSubtype(type, tape_)) return Sort::tape;
  if (is_a<FinishedGraph>(type)) return Sort::trace;
  if (is_a<SharedGraph>(type)) return Sort::graph;
  if (is_a<NodeHandle>(type)) return Sort::node;
  if (is_a<session::Session>(type)) return Sort::session;
  if (ndarray_ && PyType_IsSubtype(type, ndarray_)) return Sort::array;
  return Sort::other;
}

Sort KeptBuffers::sort_of(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const auto known = sorts_.find(type);
  if (known != sorts_.end()) return known->second;
  return sorts_[type] = look_at(type);
}

/// Chains of nodes can be long: no recursion.
void KeptBuffers::each_in_node(graph::Node* node, const Found& found) {
  std::vector<graph::Node*> open{node};
  while (!open.empty()) {
    graph::Node* at = open.back();
    open.pop_back();
    if (!at || !seen_.insert(at).second) continue;
    for (const Tensor& t : at->inputs) {
      if (t.is_symbolic()) {
        open.push_back(&graph::node_of(t));
      } else {
        each_of(t, found);
      }
    }
    for (const graph::NodeRef& before : at->before) open.push_back(before.get());
    if (!at->special) continue;
    for (const graph::InnerGraph& inner : at->special->inner_graphs()) {
      each_in_graph(*inner.graph, found);
    }
  }
}

void KeptBuffers::each_in_graph(const graph::Graph& graph, const Found& found) {
  for (graph::Node* node : graph.nodes()) each_in_node(node, found);
}

void KeptBuffers::each(PyObject* object, Sort sort, const Found& found) {
  switch (sort) {
    case Sort::tensor: {
      const Tensor& t = tensor_of(object);
      if (!t) return;
      if (t.is_symbolic()) return each_in_node(&graph::node_of(t), found);
      return each_of(t, found);
    }
    case Sort::variable:
      if (reinterpret_cast<PyVariable*>(object)->value) {
        each_of(reinterpret_cast<PyVariable*>(object)->value, found);
      }
      return;
    case Sort::tape: {
      const autodiff::Tape* tape = PyHandler<autodiff::Tape>::of(object)->handler;
      if (!tape) return;
      for (const auto& entry : tape->entries()) {
        for (const Tensor& t : entry.tensors) each_of(t, found);
      }
      return;
    }
    case Sort::trace: {
      const auto* trace = nb::inst_ptr<FinishedGraph>(nb::handle(object));
      if (trace->graph) each_in_graph(*trace->graph, found);
      if (trace->program) {
        trace->program->each_constant([&](const Tensor& t) { each_of(t, found); });
      }
      return;
    }
    case Sort::graph:
      return each_in_graph(*nb::inst_ptr<SharedGraph>(nb::handle(object))->graph, found);
    case Sort::node:
      return each_in_node(nb::inst_ptr<NodeHandle>(nb::handle(object))->node.get(), found);
    case Sort::session:
      for (const Variable& v : nb::inst_ptr<session::Session>(nb::handle(object))->variables()) {
        each_of(v, found);
      }
      for (const auto& program : nb::inst_ptr<session::Session>(nb::handle(object))->programs()) {
        program->each_constant([&](const Tensor& t) { each_of(t, found); });
      }
      return;
    default:
      return;
  }
}

PyObject* KeptBuffers::base_of(PyObject* array) {
  PyObject* base = PyObject_GetAttrString(array, "base");  // a C getter: runs no Python code
  if (!base) {
    PyErr_Clear();
    return nullptr;
  }
  Py_DECREF(base);  // the array keeps it
  // An array over a tensor's buffer has a memoryview in between.
  if (PyMemoryView_Check(base)) return PyMemoryView_GET_BUFFER(base)->obj;
  return base == Py_None ? nullptr : base;
}

PyObject* KeptBuffers::items_of(PyObject* array) {
  const Ref dtype = Ref::steal(PyObject_GetAttrString(array, "dtype"));  // C getters, all of them
  const Ref has = Ref::steal(dtype ? PyObject_GetAttrString(dtype.get(), "hasobject") : nullptr);
  PyObject* items = nullptr;
  if (has && has.get() == Py_True) {
    const Ref names = Ref::steal(PyObject_GetAttrString(dtype.get(), "names"));
    const bool has_fields = names && PyTuple_Check(names.get());
    items = has_fields ? items_of_fields(array, names.get()) : items_in_order(array);
  }
  PyErr_Clear();
  return items;
}

}  // namespace tidemark::python
