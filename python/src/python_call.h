// A node that calls a Python function when the graph runs.
#pragma once

#include <vector>

#include "tidemark/graph/node.h"

#include "py_ref.h"

namespace tidemark::python {

/// The function gets one tensor each input and returns a tensor or a list of them, of the dtypes
/// that `infos` say. `stands_for`: the library's function that it is, where that could not be
/// traced; empty for code that the user wants to run in Python.
std::shared_ptr<const graph::Special> python_call(PyObject* function,
                                                  const std::vector<graph::OutputInfo>& infos,
                                                  bool has_effect, std::string stands_for = {});

}  // namespace tidemark::python
