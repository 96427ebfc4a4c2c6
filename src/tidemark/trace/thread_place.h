// Going on on another thread: what a thread's calls become there is what they become here.
//
//   const ThreadPlace here;                              // on a thread that waits from now on
//   std::thread([&] { ThreadPlaceScope in(here); … });   // calls land in the same graph, if any
#pragma once

#include <tidemark/call.h>
#include <tidemark/variable.h>

#include <string>

#include "tidemark/graph/special_scope.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {

/// Of the thread that makes it. Valid while that thread stays where it is.
class TIDEMARK_API ThreadPlace {
 public:
  ThreadPlace();

 private:
  friend class ThreadPlaceScope;
  CallHandler* calls_;
  graph::SpecialHandler* specials_;
  VariableTracer* variables_;
  GraphBuilder* builder_;
  std::string names_;
};

class TIDEMARK_API ThreadPlaceScope final : public CallHandler {
 public:
  explicit ThreadPlaceScope(const ThreadPlace& place);
  ~ThreadPlaceScope() override;

  void handle(const OpCall& call, std::span<Tensor> outputs) override;
  bool is_last() const override { return true; }

 private:
  CallHandler* calls_;
  graph::SpecialScope specials_;
  VariableScope variables_;
  GraphBuilder* outer_;
  std::string outer_names_;
};

/// Puts a builder in charge of this thread; the one that was.
GraphBuilder* exchange_builder(GraphBuilder* next) noexcept;

}  // namespace tidemark::trace
