#include "tidemark/kernels/queued_kernel.h"

#include <tidemark/error.h>

#include "tidemark/memory/context.h"

namespace tidemark {

namespace {

template <Code... C>
[[noreturn]] void throw_typed(Code code, const std::string& text) {
  ((code == C ? throw TypedError<C>(text) : void()), ...);
  throw Error(code, text);
}

}  // namespace

const char* name_of_work(const QueuedKernel& kernel) {
  return kernel.op ? kernel.op->name().c_str() : kernel.step->name().data();
}

std::shared_ptr<const memory::Site> place_of_work() {
  return kept_place(memory::thread_context.site);
}

std::shared_ptr<const memory::Site> kept_place(const memory::Site* site) {
  if (!site) return nullptr;
  memory::pin(*site);
  return {site, [](const memory::Site* pinned) { memory::unpin(*pinned); }};
}

void FailedWork::rethrow() const {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    if (!place) throw;
    throw_typed<Code::invalid_argument, Code::not_found, Code::already_exists,
                Code::resource_exhausted, Code::failed_precondition, Code::out_of_range,
                Code::unimplemented, Code::internal>(
        e.code(), message(e.what(), "\n  in work enqueued at ", memory::describe(*place)));
  }
}

}  // namespace tidemark
