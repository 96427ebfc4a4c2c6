#include "tidemark/session/naming_error.h"

#include <typeinfo>

#include "tidemark/base/interrupt.h"
#include "tidemark/exec/failed_step.h"

namespace tidemark::session {

namespace {

/// The first of the run's nodes that does what the failed step did, at the same line; null.
graph::Node* failed_node(const Request& request) {
  std::vector<Tensor> given;
  for (const auto& [what, value] : request.feeds) given.push_back(what);
  const exec::FailedStep& step = exec::failed_step;
  for (graph::Node* node : graph::nodes_for(request.fetches, request.operations, given)) {
    if (node->op == step.op && node->special.get() == step.special && node->site == step.site) {
      return node;
    }
  }
  return nullptr;
}

template <class E>
void rethrow_as(const Error& error, const std::string& text) {
  if (typeid(error) == typeid(E)) throw E(text);
}

}  // namespace

void throw_naming_node(const Error& error, const Request& request) {
  const memory::Site* site = exec::failed_step.site;
  graph::Node* node = failed_node(request);
  std::string text = error.what();
  if (node && graph::is_placeholder(*node)) {
    text = message("You must feed a value for placeholder tensor '", graph::name_of(*node),
                   "' with dtype ", tidemark::name_of(node->outputs[0].dtype), " and shape ",
                   node->outputs[0].shape);
  }
  const std::string name = node                   ? graph::name_of(*node)
                           : exec::failed_step.op ? exec::failed_step.op->name()
                                                  : std::string("an operation inside another");
  text += message("\n\t [[{{node ", name, "}}]]", site ? " made at " : "",
                  site ? memory::describe(*site) : std::string());
  exec::failed_step = {};
  rethrow_as<InvalidArgumentError>(error, text);
  rethrow_as<NotFoundError>(error, text);
  rethrow_as<AlreadyExistsError>(error, text);
  rethrow_as<ResourceExhaustedError>(error, text);
  rethrow_as<FailedPreconditionError>(error, text);
  rethrow_as<OutOfRangeError>(error, text);
  rethrow_as<UnimplementedError>(error, text);
  rethrow_as<InternalError>(error, text);
  rethrow_as<CancelledError>(error, text);
  rethrow_as<DeadlineExceededError>(error, text);
  throw Error(error.code(), text);
}

}  // namespace tidemark::session
