// Upcalls: what lower layers need from higher ones. Filled in src/tidemark/upcalls.cpp, a constant:
// nothing is set while the process runs, and nothing depends on the order of initialisers.
//
// What is attached from outside while the process runs (the lock of a front end, observers) is in
// base/attached.h.
#pragma once

#include <tidemark/device.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark {

class Accelerator;
class Backend;
class Tensor;
struct OpCall;

namespace detail {
struct TensorImpl;
}
namespace graph {
class Graph;
}
namespace autodiff {
struct Adjoint;
struct Question;
}  // namespace autodiff

/// Each says who asks whom.
struct Upcalls {
  /// base asks kernels: what answers for the CPU.
  const Backend& (*cpu_backend)();
  /// base asks kernels: the device `index` of a kind; null: there is no such kind, or it has fewer
  /// devices.
  std::unique_ptr<Accelerator> (*open_accelerator)(std::string_view kind, int index);
  /// memory asks exec, without any lock held, when an allocation on the device would be refused.
  /// True: something was given back, and the allocation is tried once more.
  bool (*give_back_idle)(Device device);
  /// tensor asks graph: the last handle of a symbolic tensor went.
  void (*destroy_symbolic)(detail::TensorImpl* impl) noexcept;
  /// tensor asks graph: the elements of a symbolic tensor; throws when only a run can tell.
  std::vector<int64_t> (*known_ints)(const detail::TensorImpl& impl);
  /// tensor asks exec: computes an op. Fills all outputs or throws.
  void (*run_now)(const OpCall& call, std::span<Tensor> outputs);
  /// exec asks trace: the graph again with the sizes of these inputs; null: it has to be recorded
  /// while it runs. Inputs that nobody looks at may be missing.
  std::shared_ptr<graph::Graph> (*specialise)(const graph::Graph& graph,
                                              std::span<const Tensor> inputs);
  /// autodiff asks trace: a gradient of a graph being built becomes a step of it; one adjoint each
  /// source, empty where not connected.
  std::vector<autodiff::Adjoint> (*defer_gradient)(const autodiff::Question& question);
};

extern const Upcalls upcalls;

}  // namespace tidemark
