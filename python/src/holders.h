// Who keeps each live buffer: Python's objects, walked on request.
#pragma once

#include <nanobind/nanobind.h>

namespace tidemark::python {

void add_holder_functions(nanobind::module_& m);

}  // namespace tidemark::python
