#include "tidemark/tensor/handlers.h"

#include <utility>

namespace tidemark {

namespace detail {
thread_local constinit Handler* topmost __attribute__((tls_model("initial-exec"))) = nullptr;
}

bool Handler::record(std::span<const Tensor>, std::span<const Tensor>,
                     const std::shared_ptr<autodiff::CustomBackward>&) {
  return true;
}

bool LastHandler::record(std::span<const Tensor>, std::span<const Tensor>,
                         const std::shared_ptr<autodiff::CustomBackward>&) {
  return false;
}

void Handler::next(const OpCall& call, std::span<Tensor> outputs) {
  const Below scope(*this);  // calls made by the handlers below must not come back to this one
  answer(call, outputs);
}

Handler::Below::Below(const Handler& self) noexcept
    : top_(std::exchange(detail::topmost, self.below_)) {}
Handler::Below::~Below() { detail::topmost = top_; }

HandlerScope::HandlerScope(Handler& handler) noexcept { push_handler(handler); }
HandlerScope::~HandlerScope() { detail::topmost = detail::topmost->below_; }

NoHandlers::NoHandlers() noexcept : top_(std::exchange(detail::topmost, nullptr)) {}
NoHandlers::~NoHandlers() { detail::topmost = top_; }

void push_handler(Handler& handler) noexcept {
  handler.below_ = detail::topmost;
  detail::topmost = &handler;
}

bool remove_handler(Handler& handler) noexcept {
  for (Handler** link = &detail::topmost; *link; link = &(*link)->below_) {
    if (*link != &handler) continue;
    *link = handler.below_;
    handler.below_ = nullptr;
    return true;
  }
  return false;
}

}  // namespace tidemark
