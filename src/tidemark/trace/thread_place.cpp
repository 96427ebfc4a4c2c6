#include "tidemark/trace/thread_place.h"

#include <utility>

#include "tidemark/ops/dispatch.h"
#include "tidemark/tensor/variable_wait.h"

namespace tidemark::trace {

ThreadPlace::ThreadPlace()
    : calls_(top_handler()),
      specials_(graph::special_handler()),
      variables_(variable_tracer()),
      builder_(current_builder()),
      names_(name_scope()) {}

ThreadPlaceScope::ThreadPlaceScope(const ThreadPlace& place)
    : calls_(place.calls_),
      specials_(place.specials_),
      variables_(place.variables_),
      outer_(exchange_builder(place.builder_)),
      outer_names_(name_scope()) {
  set_name_scope(place.names_);
  if (calls_) push_handler(*this);
}

ThreadPlaceScope::~ThreadPlaceScope() {
  if (calls_) remove_handler(*this);
  set_name_scope(std::move(outer_names_));
  exchange_builder(outer_);
}

void ThreadPlaceScope::handle(const OpCall& call, std::span<Tensor> outputs) {
  calls_->handle(call, outputs);
}

}  // namespace tidemark::trace
