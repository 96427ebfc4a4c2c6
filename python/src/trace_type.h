// tidemark._tidemark.TraceBase: one trace of a tf.function, ready to run on the leaves of a call.
#pragma once

#include <span>
#include <vector>

#include "tidemark/trace/traces.h"

#include "tensor_type.h"

namespace tidemark::python {

/// Part of a Python object, which lives as long as something refers to that. Guarded by the GIL.
struct PyTrace final : trace::Trace {
  struct Donated {
    size_t leaf, input;
    Tensor stand_in;  // what stands in the argument's place afterwards, kept for the next call
  };

  void take_graph_of(const Trace& twin) override;

  PyObject* object = nullptr;  // that this is part of
  Ref finished;                // the graph as Python knows it
  Ref pack;                    // null: the only output is the result
  const char* name = "";       // in static storage
  std::vector<Donated> donated;
  // The tensors of a call on their way in and out; kept, so that calls allocate nothing. One call
  // at a time has them, others make their own.
  std::vector<Tensor> inputs, outputs;
  bool is_busy = false;
  Tensor nothing;  // no elements: what a result is while call_into writes it
};

inline PyTrace& trace_of(const trace::TracePtr& trace) { return static_cast<PyTrace&>(*trace); }
/// Shares the Python object, which any thread may drop. Throws PythonError for what is no trace.
trace::TracePtr share_trace(PyObject* trace);

/// Computes, given all leaves of the arguments, which fit. New reference; throws.
PyObject* run(PyTrace& trace, PyObject* const* leaves);

/// Makes the type; throws PythonError. After the tensor's.
void initialize_trace_type(PyObject* module);

}  // namespace tidemark::python
