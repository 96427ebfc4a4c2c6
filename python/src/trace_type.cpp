#include "trace_type.h"

#include <nanobind/nanobind.h>

#include <algorithm>

#include "arguments.h"
#include "errors.h"
#include "graph_module.h"
#include "interpreter_lock.h"
#include "recorder.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

PyTypeObject* trace_type = nullptr;

using trace::Argument;

struct TraceObject {
  PyObject ob_base;
  PyTrace value;
};

PyTrace& self_of(PyObject* object) { return reinterpret_cast<TraceObject*>(object)->value; }

void set_graph(PyTrace& trace, PyObject* finished) {
  const auto& graph = nb::cast<const FinishedGraph&>(nb::handle(finished));
  trace.finished = Ref::borrow(finished);
  trace.graph = graph.graph;
  trace.program = graph.program;
  trace.name = graph.name;
}

/// Which leaves are donated, given which inputs are.
void find_donated(PyTrace& trace) {
  const std::span<const uint32_t> donated = trace.program->donated();
  size_t input = 0;
  for (size_t i = 0; i < trace.signature.args.size(); ++i) {
    if (!trace.signature.args[i].is_input()) continue;
    if (std::find(donated.begin(), donated.end(), input) != donated.end()) {
      trace.donated.push_back({i, input, {}});
    }
    ++input;
  }
}

/// _fill(graph, token, args, captures, whether it is for one call alone, pack or None, reason,
/// line, runs of the code)
PyObject* fill(PyObject* self, PyObject* given) {
  return guarded([&]() -> PyObject* {
    PyObject *graph = nullptr, *token = nullptr, *args = nullptr, *captures = nullptr;
    PyObject* pack = nullptr;
    const char *reason = nullptr, *line = nullptr;
    unsigned long code_runs = 1;
    int is_for_one_call = 0;
    if (!PyArg_ParseTuple(given, "OOOOpOssk:_fill", &graph, &token, &args, &captures,
                          &is_for_one_call, &pack, &reason, &line, &code_runs)) {
      throw PythonError{};
    }
    PyTrace& trace = self_of(self);
    set_graph(trace, graph);
    trace.signature = {structure_of(token), arguments_from(args)};
    trace.captures = tensors_from_list(captures);
    trace.is_for_one_call = is_for_one_call != 0;
    if (pack != Py_None) trace.pack = Ref::borrow(pack);
    trace.reason = reason;
    trace.place = line;
    trace.code_runs = code_runs;
    find_donated(trace);
    Py_RETURN_NONE;
  });
}

/// run(leaves)
PyObject* run_leaves(PyObject* self, PyObject* leaves) {
  return guarded([&]() -> PyObject* {
    const Ref all = Ref::checked(PySequence_Tuple(leaves));
    return run(self_of(self), PySequence_Fast_ITEMS(all.get()));
  });
}

PyObject* accepts(PyObject* self, PyObject* call) {
  return guarded(
      [&] { return PyBool_FromLong(self_of(self).signature.accepts(signature_of(call))); });
}

PyObject* count_call(PyObject* self, PyObject*) {
  return PyBool_FromLong(self_of(self).count_call());
}

PyObject* get_args(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (const Argument& arg : self_of(self).signature.args) out.append(argument_object(arg));
    return nb::tuple(out).release().ptr();
  });
}

/// [(leaf, None or the dtype as which a number goes in), …]
PyObject* get_inputs(PyObject* self, void*) {
  return guarded([&] {
    const std::vector<Argument>& args = self_of(self).signature.args;
    nb::list out;
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].kind() == Argument::Kind::tensor) out.append(nb::make_tuple(i, nb::none()));
      if (args[i].kind() != Argument::Kind::number) continue;
      out.append(nb::make_tuple(i, static_cast<int>(args[i].dtype())));
    }
    return out.release().ptr();
  });
}

PyObject* get_token(PyObject* self, void*) {
  const trace::Signature& signature = self_of(self).signature;
  if (!signature.structure) return PyLong_FromSize_t(signature.args.size());
  return Py_NewRef(static_cast<const PyStructure&>(*signature.structure).token());
}

PyObject* get_captures(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (const Tensor& t : self_of(self).captures) out.append(object_of(Tensor(t)));
    return out.release().ptr();
  });
}

PyObject* get_differed(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (const std::string_view kind : self_of(self).differed) {
      out.append(nb::str(kind.data(), kind.size()));
    }
    return nb::tuple(out).release().ptr();
  });
}

PyObject* get_graph(PyObject* self, void*) {
  PyObject* graph = self_of(self).finished.get();
  return Py_NewRef(graph ? graph : Py_None);
}
PyObject* get_calls(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(self_of(self).calls);
}
PyObject* get_bytes(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromSize_t(self_of(self).bytes()); });
}

PyObject* text_object(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}
PyObject* get_reason(PyObject* self, void*) { return text_object(self_of(self).reason); }
PyObject* get_line(PyObject* self, void*) { return text_object(self_of(self).place); }

PyObject* new_trace(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  new (&self_of(object)) PyTrace;
  self_of(object).object = object;
  return object;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  const PyTrace& trace = self_of(object);
  Py_VISIT(trace.finished.get());
  Py_VISIT(trace.pack.get());
  for (const Argument& a : trace.signature.args) {
    if (a.is_input()) continue;
    const int found = static_cast<const PyValue&>(a.value()).visit(visit, arg);
    if (found) return found;
  }
  // Others that share it keep it alive.
  if (trace.signature.structure && trace.signature.structure.use_count() == 1) {
    Py_VISIT(static_cast<const PyStructure&>(*trace.signature.structure).token());
  }
  return 0;
}

int clear(PyObject* object) {
  const Ref finished = std::exchange(self_of(object).finished, {});
  const Ref pack = std::exchange(self_of(object).pack, {});
  const trace::Signature signature = std::exchange(self_of(object).signature, {});
  return 0;
}

void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  self_of(object).~PyTrace();
  type->tp_free(object);
  Py_DECREF(type);
}

PyGetSetDef properties[] = {
    {"graph", get_graph, nullptr, nullptr, nullptr},
    {"token", get_token, nullptr, "How the leaves are put together.", nullptr},
    {"args", get_args, nullptr, "What it takes in the place of each leaf.", nullptr},
    {"inputs", get_inputs, nullptr, "Which leaves go in.", nullptr},
    {"captures", get_captures, nullptr, nullptr, nullptr},
    {"differed", get_differed, nullptr, "In what the call was unlike the trace before.", nullptr},
    {"calls", get_calls, nullptr, nullptr, nullptr},
    {"nbytes", get_bytes, nullptr, nullptr, nullptr},
    {"reason", get_reason, nullptr, nullptr, nullptr},
    {"line", get_line, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"_fill", fill, METH_VARARGS, "Says what was traced, once."},
    {"run", run_leaves, METH_O, "Computes, given all leaves of the arguments."},
    {"accepts", accepts, METH_O, "Whether a call's arguments fit."},
    {"count_call", count_call, METH_NOARGS, "Counts; true where the call is worth a look."},
    {nullptr, nullptr, 0, nullptr}};

template <class Fn>
void* address(Fn* fn) {
  return reinterpret_cast<void*>(fn);
}

}  // namespace

void PyTrace::take_graph_of(const Trace& twin) {
  finished = static_cast<const PyTrace&>(twin).finished;
  Trace::take_graph_of(twin);
}

trace::TracePtr share_trace(PyObject* trace) {
  if (!PyObject_TypeCheck(trace, trace_type)) {
    raise(PyExc_TypeError, "a trace is expected; %s was given", Py_TYPE(trace)->tp_name);
  }
  const auto release = [](PyTrace* gone) { let_go([gone] { Py_DECREF(gone->object); }); };
  return {&self_of(Py_NewRef(trace)), release};
}

void initialize_trace_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, address(new_trace)},
                         {Py_tp_dealloc, address(dealloc)},
                         {Py_tp_traverse, address(traverse)},
                         {Py_tp_clear, address(clear)},
                         {Py_tp_getset, properties},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{"tidemark._tidemark.TraceBase", static_cast<int>(sizeof(TraceObject)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = Ref::checked(PyType_FromSpec(&spec)).release();
  trace_type = reinterpret_cast<PyTypeObject*>(type);
  check(PyModule_AddObjectRef(module, "TraceBase", type));
}

}  // namespace tidemark::python
