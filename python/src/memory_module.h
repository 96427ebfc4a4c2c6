// tf.memory, threads, settings, op libraries, groups of processes: the part of the module nobody
// calls in a loop.
#pragma once

#include <nanobind/nanobind.h>

namespace tidemark::python {

void add_device_functions(nanobind::module_& module);
void add_memory_functions(nanobind::module_& module);
void add_runtime_functions(nanobind::module_& module);
void add_table_type(nanobind::module_& module);
void add_comm_functions(nanobind::module_& module);

}  // namespace tidemark::python
