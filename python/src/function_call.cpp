// A call of a tf.function: finds its trace and runs it, from Python objects to tensors and back.
#include <algorithm>

#include "calls.h"
#include "tidemark/memory/runs.h"
#include "tidemark/profile/recorder.h"

#include "arguments.h"
#include "convert.h"
#include "donating.h"
#include "errors.h"
#include "frontend.h"
#include "function_type.h"
#include "op_call.h"
#include "trace_type.h"

namespace tidemark::python {

namespace {

bool run_eagerly = false;  // guarded by the GIL

/// Room for the tensors of one call; guarded by the GIL, empty again at the end.
class CallRoom {
 public:
  explicit CallRoom(PyTrace& trace) : trace_(trace), has_own_(!trace.is_busy) {
    if (has_own_) {
      trace.is_busy = true;
      trace.inputs.swap(inputs);
      trace.outputs.swap(outputs);
    }
    inputs.resize(trace.program->num_inputs());
    outputs.resize(trace.program->num_outputs());
  }
  ~CallRoom() {
    for (Tensor& t : inputs) t = Tensor();
    for (Tensor& t : outputs) t = Tensor();
    if (!has_own_) return;
    trace_.inputs.swap(inputs);
    trace_.outputs.swap(outputs);
    trace_.is_busy = false;
  }
  CallRoom(const CallRoom&) = delete;
  CallRoom& operator=(const CallRoom&) = delete;

  std::vector<Tensor> inputs, outputs;

 private:
  PyTrace& trace_;
  bool has_own_;
};

/// Returns how many inputs the leaves were.
size_t fill_inputs(const PyTrace& trace, PyObject* const* leaves, std::span<Tensor> inputs) {
  size_t next = 0;
  const std::span<const trace::Argument> args = trace.signature.args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].kind() == trace::Argument::Kind::tensor) {
      inputs[next++] = tensor_of(leaves[i]);
    } else if (args[i].kind() == trace::Argument::Kind::number) {
      inputs[next++] = to_tensor(leaves[i], {args[i].dtype()});
    }
  }
  return next;
}

/// After this the run has the only handles on donated arguments, those of others aside.
void donate(PyTrace& trace, PyObject* const* leaves, std::span<Tensor> inputs, Donating& donating) {
  if (trace.donated.empty() || !Donating::is_possible()) return;
  for (const PyTrace::Donated& d : trace.donated) {
    donating.check_given_once(leaves[d.leaf], {leaves, trace.signature.args.size()});
  }
  for (PyTrace::Donated& d : trace.donated) {
    donating.take(leaves[d.leaf], inputs[d.input], d.stand_in);
  }
}

/// `has_captures`: of a graph being built around the call; such a trace is used once.
template <bool has_captures>
[[gnu::always_inline]] inline PyObject* run_as(PyTrace& trace, PyObject* const* leaves) {
  const GilHeld held;
  const SourceLine line;
  const memory::ScopedRun scope(trace.name);
  CallRoom room(trace);
  const std::span<Tensor> outputs = room.outputs;
  const size_t filled = fill_inputs(trace, leaves, room.inputs);
  if constexpr (has_captures) {
    std::copy(trace.captures.begin(), trace.captures.end(),
              room.inputs.begin() + static_cast<std::ptrdiff_t>(filled));
  }
  {
    Donating donating(trace.name);
    donate(trace, leaves, room.inputs, donating);
    trace.program->run(room.inputs, outputs);
  }
  if (!trace.pack) return wrap(std::move(outputs[0]));
  const Ref list = Ref::checked(PyList_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                    Ref::checked(wrap(std::move(outputs[i]))).release());
  }
  return call_object(trace.pack.get(), list.get());
}

/// The tensors of a result: one, or those of a list or tuple.
class ResultTensors {
 public:
  explicit ResultTensors(PyObject* result) {
    if (is_tensor(result)) {
      all_ = &single_;
      single_ = result;
      count_ = 1;
    } else if (PyList_Check(result) || PyTuple_Check(result)) {
      held_ = Ref::checked(PySequence_Tuple(result));  // others may change a list meanwhile
      all_ = PySequence_Fast_ITEMS(held_.get());
      count_ = static_cast<size_t>(PyTuple_GET_SIZE(held_.get()));
    }
    bool fine = all_ != nullptr;
    for (size_t i = 0; fine && i < count_; ++i) {
      fine = is_tensor(all_[i]) && !is_symbolic(tensor_of(all_[i]));
    }
    if (!fine) {
      fail(
          "[call_into] the first argument must be a tensor, or a list or tuple of tensors, that "
          "an earlier call returned; ",
          Py_TYPE(result)->tp_name, " was given");
    }
  }
  ResultTensors(const ResultTensors&) = delete;
  size_t size() const { return count_; }
  Tensor& operator[](size_t i) const { return reinterpret_cast<PyTensor*>(all_[i])->value; }

  void check_count(size_t wanted) const {
    if (count_ == wanted) return;
    fail("[call_into] the function returns ", wanted, " tensors; ", count_, " were given");
  }

 private:
  Ref held_;
  PyObject* single_ = nullptr;
  PyObject** all_ = nullptr;
  size_t count_ = 0;
};

/// The former results while a run may write into them: nobody else has them, and what is left of
/// them comes back when the run fails.
class ReusedResults {
 public:
  ReusedResults(PyTrace& trace, const ResultTensors& results, std::span<Tensor> outputs)
      : results_(results), outputs_(outputs) {
    if (!trace.nothing) trace.nothing = Tensor::uninitialized(DType::float32, {0});
    for (size_t i = 0; i < results.size(); ++i) {
      Tensor before = trace.nothing;
      std::swap(results[i], before);
      outputs[i] = std::move(before);
    }
  }
  ~ReusedResults() {
    for (size_t i = 0; i < results_.size(); ++i) {
      if (outputs_[i]) std::swap(results_[i], outputs_[i]);
    }
  }
  ReusedResults(const ReusedResults&) = delete;

 private:
  const ResultTensors& results_;
  std::span<Tensor> outputs_;
};

void run_into(PyTrace& trace, PyObject* const* leaves, const ResultTensors& results) {
  const GilHeld held;
  const SourceLine line;
  const memory::ScopedRun scope(trace.name);
  results.check_count(trace.program->num_outputs());
  CallRoom room(trace);
  fill_inputs(trace, leaves, room.inputs);
  const ReusedResults reused(trace, results, room.outputs);
  Donating donating(trace.name);
  donate(trace, leaves, room.inputs, donating);
  trace.program->run(room.inputs, room.outputs);
}

const trace::TracePtr& find(const PyFunction& self, PyObject* const* args, size_t count) {
  return self.traces->find(nullptr, count, [&](size_t i) { return GivenObject{args[i]}; });
}

PyObject* call_slowly(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  static PyObject* const method = interned("_call_slowly");
  const Ref positional = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(positional.get(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
  }
  const Ref keywords = Ref::checked(PyDict_New());
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i),
                         args[count + static_cast<size_t>(i)]));
  }
  return call_method(self, method, positional.get(), keywords.get());
}

/// For the recorder: the function was called here.
[[gnu::noinline, gnu::cold]] void note_call(PyObject* self) {
  const SourceLine line;
  const Ref name = Ref::checked(PyObject_GetAttrString(self, "_name"));
  const char* text = PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : "";
  profile::mark(profile::EventKind::call, text ? text : "", 0);
}

PyObject* set_run_eagerly(PyObject*, PyObject* on) {
  run_eagerly = on == Py_True;
  Py_RETURN_NONE;
}

}  // namespace

PyObject* run(PyTrace& trace, PyObject* const* leaves) {
  return trace.captures.empty() ? run_as<false>(trace, leaves) : run_as<true>(trace, leaves);
}

PyObject* call_function(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (profile::is_recording()) [[unlikely]]
      note_call(self);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
    if (names || run_eagerly) return call_slowly(self, args, count, names);
    const trace::TracePtr& found = find(*function_of(self), args, count);
    if (!found) return call_slowly(self, args, count, names);
    PyTrace& trace = trace_of(found);
    const Ref held = Ref::borrow(trace.object);  // the call may outlive its place in the list
    if (trace.count_call()) {
      static PyObject* const look = interned("_look_for_changes");
      Ref::checked(call_method(self, look, trace.object));
    }
    PyObject* results = run_as<false>(trace, args);
    if (results) look_if_wanted();
    return results;
  });
}

PyObject* call_into(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  return guarded([&]() -> PyObject* {
    if (given < 1) fail("[call_into] takes the result of an earlier call, then the arguments");
    const auto count = static_cast<size_t>(given) - 1;
    const ResultTensors results(args[0]);
    const trace::TracePtr found =
        run_eagerly ? trace::TracePtr() : find(*function_of(self), args + 1, count);
    if (found) {
      found->count_call();
      run_into(trace_of(found), args + 1, results);
    } else {  // traced now, or too special to be quick: its results take the place of the old ones
      const Ref made = Ref::checked(call_slowly(self, args + 1, count, nullptr));
      const ResultTensors now(made.get());
      results.check_count(now.size());
      for (size_t i = 0; i < now.size(); ++i) results[i] = Tensor(now[i]);
    }
    return Py_NewRef(args[0]);
  });
}

PyMethodDef function_methods[] = {
    {"set_functions_run_eagerly", set_run_eagerly, METH_O, "Whether all calls go to Python."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
