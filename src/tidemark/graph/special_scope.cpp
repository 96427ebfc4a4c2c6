#include "tidemark/graph/special_scope.h"

namespace tidemark::graph {

namespace {
thread_local constinit SpecialHandler* top __attribute__((tls_model("initial-exec"))) = nullptr;
}

SpecialHandler* special_handler() noexcept { return top; }

SpecialScope::SpecialScope(SpecialHandler* handler) noexcept : outer_(top) { top = handler; }
SpecialScope::~SpecialScope() { top = outer_; }

void call_special(const std::shared_ptr<const Special>& special, std::span<const OutputInfo> infos,
                  std::span<Tensor> inputs, std::span<Tensor> outputs) {
  if (top) {
    top->handle(special, infos, inputs, outputs);
  } else {
    special->run(inputs, outputs);
  }
}

}  // namespace tidemark::graph
