// Plans as numbers in, numbers out.
#pragma once

#include <nanobind/nanobind.h>

namespace tidemark::python {

void add_plan_functions(nanobind::module_& module);

}  // namespace tidemark::python
