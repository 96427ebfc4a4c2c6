// Which ops ran: for tests that want to know what they have tested.
#pragma once

#include <nanobind/nanobind.h>

namespace tidemark::python {

namespace nb = nanobind;

void add_op_watch(nb::module_& m);

}  // namespace tidemark::python
