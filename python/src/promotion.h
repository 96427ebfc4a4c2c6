// Whether programs may call ops on tensors of several dtypes, which then are promoted to one.
#pragma once

#include <nanobind/nanobind.h>

namespace tidemark::python {

void add_promotion_functions(nanobind::module_& m);

}  // namespace tidemark::python
