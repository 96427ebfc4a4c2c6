// tidemark._tidemark.GraphBuilder and FinishedGraph: what tf.function and control flow are made of.
#pragma once

#include <nanobind/nanobind.h>
#include <tidemark/variable.h>

#include <memory>
#include <vector>

#include "tidemark/exec/program.h"

namespace tidemark::python {

/// A graph ready to run, and the variables it uses.
struct FinishedGraph {
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const exec::Program> program;
  std::vector<Variable> variables;
  const char* name = "a function";  // in static storage: "step()"
};

/// A graph that any number of threads add to.
struct SharedGraph {
  std::shared_ptr<graph::Graph> graph;
};

/// A graph that is finished, for those who look at its nodes.
struct GraphHandle {
  std::shared_ptr<const graph::Graph> graph;
};

/// A node, for Python: tf.Operation.
struct NodeHandle {
  graph::NodeRef node;
};

/// The node that makes a tensor of a graph; throws for anything else.
graph::Node& maker_of(nanobind::handle tensor);
/// The tensor as a Python object; None for an empty handle.
nanobind::object object_of(Tensor&& t);
/// A shape that may be None, or have no rank.
Shape shape_of(nanobind::handle shape);

void add_graph_functions(nanobind::module_& m);
void add_session_functions(nanobind::module_& m);
void add_data_functions(nanobind::module_& m);
void add_saving_functions(nanobind::module_& m);
void add_onnx_functions(nanobind::module_& m);
void add_tflite_functions(nanobind::module_& m);
void add_model_file_functions(nanobind::module_& m);
void add_safetensors_functions(nanobind::module_& m);
void add_foreign_model_functions(nanobind::module_& m);
void add_checkpoint_functions(nanobind::module_& m);

/// Names the node that made a tensor, or the first of a list, if it is symbolic.
void name_result(PyObject* result, PyObject* name);
/// The same without the user's having asked for it: in graphs of sessions only, and not kept.
void label_result(PyObject* result, PyObject* name);

}  // namespace tidemark::python
