#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tidemark/custom_op.h>

#include "op_watch.h"
#include "tidemark/base/random_state.h"
#include "tidemark/base/settings.h"
#include "tidemark/base/text/fingerprint.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/processor.h"
#include "tidemark/memory/testing.h"

#include "memory_module.h"
#include "py_ref.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

const char* kind_name(settings::Kind kind) {
  switch (kind) {
    case settings::Kind::integer:
      return "integer";
    case settings::Kind::bytes:
      return "bytes";
    case settings::Kind::flag:
      return "flag";
    case settings::Kind::text:
      return "text";
  }
  return "?";
}

nb::list settings_table() {
  nb::list out;
  for (const settings::Setting* s : settings::table()) {
    nb::dict item;
    item["name"] = s->name;
    item["kind"] = kind_name(s->kind);
    item["default"] = s->fallback;
    item["value"] = settings::text(*s);
    item["doc"] = s->doc;
    out.append(item);
  }
  return out;
}

}  // namespace

void add_runtime_functions(nb::module_& m) {
  add_op_watch(m);
  m.def("fingerprint", [](nb::bytes text) {
    return text::farm_fingerprint({text.c_str(), text.size()});
  });
  m.def("processor_level", processor_level, "The processor's level as far as kernels use it.");
  m.def(
      "compiler", [] { return __VERSION__; }, "The compiler that made the library.");
  m.def("num_threads", num_threads, "Threads that work on one op, the caller included.");
  m.def("set_num_threads", set_num_threads, nb::arg("threads"),
        "0: as many as the process may use. Returns the old value.");
  m.def("seed_of_operation", random_state::seed_of_operation, nb::arg("seed"), nb::arg("operation"),
        "The op seed of one operation of a session's graph.");
  m.def("set_random_seed", random_state::set_seed, nb::arg("seed"),
        "All later draws of random numbers repeat after the same seed.");
  m.def("settings", settings_table, "The TIDEMARK_* variables: name, kind, default, value, doc.");
  m.def("load_op_library", load_op_library, nb::arg("path"),
        "Opens a shared library of ops; returns the names of the ops it added.");
  m.def("fail_allocation", memory::testing::fail_allocation, nb::arg("n"),
        "For tests: lets the n-th allocation from now on fail, once; 0: none.");
  m.def("failure_pending", memory::testing::failure_pending,
        "For tests: whether the failure asked for last is still to come.");
  m.def("allocation_count", memory::testing::allocation_count,
        "Allocations so far, borrowings and failures included.");
  m.def("set_poison", memory::testing::set_poison, nb::arg("on"),
        "For tests: fills fresh and freed buffers. Returns the old value.");
}

}  // namespace tidemark::python
