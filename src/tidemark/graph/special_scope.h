// Who answers for specials on this thread: they run now, or become nodes of the graph being built.
#pragma once

#include "tidemark/graph/node.h"

namespace tidemark::graph {

class TIDEMARK_API SpecialHandler {
 public:
  virtual ~SpecialHandler() = default;
  virtual void handle(const std::shared_ptr<const Special>& special,
                      std::span<const OutputInfo> infos, std::span<Tensor> inputs,
                      std::span<Tensor> outputs) = 0;
};

/// The handler of this thread; null: specials run now.
TIDEMARK_API SpecialHandler* special_handler() noexcept;

/// Until the end of the scope this thread's specials go to the handler; null: they run now.
class TIDEMARK_API SpecialScope {
 public:
  explicit SpecialScope(SpecialHandler* handler) noexcept;
  ~SpecialScope();
  SpecialScope(const SpecialScope&) = delete;
  SpecialScope& operator=(const SpecialScope&) = delete;

 private:
  SpecialHandler* outer_;
};

/// Fills all outputs or throws. Inputs may be moved from.
TIDEMARK_API void call_special(const std::shared_ptr<const Special>& special,
                               std::span<const OutputInfo> infos, std::span<Tensor> inputs,
                               std::span<Tensor> outputs);

}  // namespace tidemark::graph
