// Recording and analysing, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace tidemark::python {

void add_profile_functions(nanobind::module_& m);

}  // namespace tidemark::python
