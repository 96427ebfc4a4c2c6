// Which ops ran: for tests that want to know what they have tested.
#include "op_watch.h"

#include <tidemark/op.h>

#include <memory>
#include <set>
#include <string>

#include "tidemark/base/attached.h"

namespace tidemark::python {

namespace {

/// The ops that this thread ran; null while it is not asked.
thread_local std::unique_ptr<std::set<std::string>> seen;

class SeesOps final : public Observer {
  void op_called(const OpDef& op) override {
    if (seen) seen->insert(op.name());
  }
};
constinit SeesOps sees_ops;

nb::list take() {
  nb::list out;
  if (!seen) return out;
  for (const std::string& name : *seen) out.append(nb::str(name.c_str(), name.size()));
  seen->clear();
  return out;
}

void set_watching(bool on) {
  seen = on ? std::make_unique<std::set<std::string>>() : nullptr;
  if (on) {
    attach(sees_ops);
  } else {
    detach(sees_ops);
  }
}

}  // namespace

void add_op_watch(nb::module_& m) {
  m.def("watch_ops", set_watching, nb::arg("on"),
        "For tests: begins or ends to note the ops that this thread runs.");
  m.def("watched_ops", take, "For tests: the ops that ran since the last time it was asked.");
}

}  // namespace tidemark::python
