// What a Python object of the runtime keeps: the buffers behind tensors, variables, tapes, traces,
// graphs and sessions.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "tidemark/graph/graph.h"
#include "tidemark/memory/buffer.h"

#include "py_ref.h"

namespace tidemark::python {

/// How an object is looked at.
enum class Sort : uint8_t { other, tensor, variable, tape, trace, graph, node, session, array };

class KeptBuffers {
 public:
  KeptBuffers();
  Sort sort_of(PyObject* object);
  /// Calls `found` for each buffer the object keeps. Needs the GIL, which may be given away while a
  /// variable's update under way is waited for.
  void each(PyObject* object, Sort sort, const std::function<void(const memory::Buffer&)>& found);
  /// What an array shares its elements with; null: nothing.
  static PyObject* base_of(PyObject* array);
  /// The items of an array of objects, a new list; null: it has numbers or text.
  static PyObject* items_of(PyObject* array);

 private:
  Sort look_at(PyTypeObject* type) const;
  void each_in_node(graph::Node* node, const std::function<void(const memory::Buffer&)>& found);
  void each_in_graph(const graph::Graph& graph,
                     const std::function<void(const memory::Buffer&)>& found);

  std::unordered_map<PyTypeObject*, Sort> sorts_;
  std::unordered_set<const graph::Node*> seen_;
  PyTypeObject* tape_ = nullptr;
  PyTypeObject* ndarray_ = nullptr;
};

}  // namespace tidemark::python
