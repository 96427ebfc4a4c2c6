// Whether programs may call ops on tensors of several dtypes, which then are promoted to one.
#pragma once

#include <nanobind/nanobind.h>
#include <tidemark/call.h>

namespace tidemark::python {

/// Throws where the program, rather than the package, mixes dtypes and may not.
void check_promotion(const OpCall& call);

void add_promotion_functions(nanobind::module_& m);

}  // namespace tidemark::python
