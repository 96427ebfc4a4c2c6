// Going on on another thread: what a thread's calls become there is what they become here.
//
//   const ThreadPlace here;                              // on a thread that waits from now on
//   std::thread([&] { ThreadPlaceScope in(here); … });   // calls land in the same graph, if any
#pragma once

#include <tidemark/handler.h>

#include <string>

namespace tidemark::trace {

/// Of the thread that makes it. Valid while that thread stays where it is.
class TIDEMARK_API ThreadPlace {
 public:
  ThreadPlace();

 private:
  friend class ThreadPlaceScope;
  Handler* top_;
  LastHandler* last_;
  std::string names_;
};

/// Answers on its thread in the place of the other thread's handlers. Where those hold no graph
/// being built, calls alone go to them.
class TIDEMARK_API ThreadPlaceScope {
 public:
  explicit ThreadPlaceScope(const ThreadPlace& place);
  ~ThreadPlaceScope();
  ThreadPlaceScope(const ThreadPlaceScope&) = delete;
  ThreadPlaceScope& operator=(const ThreadPlaceScope&) = delete;

 private:
  std::unique_ptr<Handler> stand_in_;  // null: the other thread has no handlers
  std::string outer_names_;
};

}  // namespace tidemark::trace
