// Which ops ran: for tests that want to know what they have tested.
#include "op_watch.h"

#include <tidemark/call.h>

#include <set>
#include <string>

namespace tidemark::python {

namespace {

/// Stands on the stack of one thread and notes the names of the calls that come by.
class OpWatch final : public CallHandler {
 public:
  void handle(const OpCall& call, std::span<Tensor> outputs) override {
    names_.insert(call.op.name());
    next(call, outputs);
  }
  std::set<std::string> take() { return std::exchange(names_, {}); }

 private:
  std::set<std::string> names_;
};

OpWatch& watch() {
  thread_local OpWatch mine;
  return mine;
}

nb::list take() {
  nb::list out;
  for (const std::string& name : watch().take()) out.append(nb::str(name.c_str(), name.size()));
  return out;
}

void set_watching(bool on) {
  remove_handler(watch());
  if (on) push_handler(watch());
  watch().take();
}

}  // namespace

void add_op_watch(nb::module_& m) {
  m.def("watch_ops", set_watching, nb::arg("on"),
        "For tests: begins or ends to note the ops that this thread runs.");
  m.def("watched_ops", take, "For tests: the ops that ran since the last time it was asked.");
}

}  // namespace tidemark::python
