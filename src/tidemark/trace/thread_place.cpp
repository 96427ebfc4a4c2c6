#include "tidemark/trace/thread_place.h"

#include <utility>

#include "tidemark/tensor/handlers.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {

namespace {

/// For a thread on which no graph is being built.
class OfCalls final : public Handler {
 public:
  explicit OfCalls(Handler& top) : top_(top) {}
  void handle(const OpCall& call, std::span<Tensor> outputs) override {
    top_.handle(call, outputs);
  }
  bool record(std::span<const Tensor>, std::span<const Tensor>,
              const std::shared_ptr<autodiff::CustomBackward>&) override {
    return false;
  }

 private:
  Handler& top_;
};

/// For a thread on which `last` builds a graph.
class OfEverything final : public LastHandler {
 public:
  OfEverything(Handler& top, LastHandler& last) : top_(top), last_(last) {}
  void handle(const OpCall& call, std::span<Tensor> outputs) override {
    top_.handle(call, outputs);
  }
  void handle_step(const std::shared_ptr<const graph::Special>& step,
                   std::span<const graph::OutputInfo> infos, std::span<Tensor> inputs,
                   std::span<Tensor> outputs) override {
    last_.handle_step(step, infos, inputs, outputs);
  }
  Tensor read(const Variable& variable) override { return last_.read(variable); }
  void update(const Variable& variable, const OpDef* op, std::span<const Tensor> rest,
              std::span<const Attr> attrs) override {
    last_.update(variable, op, rest, attrs);
  }
  LastHandler& origin() override { return last_.origin(); }

 private:
  Handler& top_;
  LastHandler& last_;
};

std::unique_ptr<Handler> stand_in(Handler* top, LastHandler* last) {
  if (!top) return nullptr;
  if (!last) return std::make_unique<OfCalls>(*top);
  return std::make_unique<OfEverything>(*top, *last);
}

}  // namespace

ThreadPlace::ThreadPlace() : top_(top_handler()), last_(last_handler()), names_(name_scope()) {}

ThreadPlaceScope::ThreadPlaceScope(const ThreadPlace& place)
    : stand_in_(stand_in(place.top_, place.last_)), outer_names_(name_scope()) {
  set_name_scope(place.names_);
  if (stand_in_) push_handler(*stand_in_);
}

ThreadPlaceScope::~ThreadPlaceScope() {
  if (stand_in_) remove_handler(*stand_in_);
  set_name_scope(std::move(outer_names_));
}

}  // namespace tidemark::trace
