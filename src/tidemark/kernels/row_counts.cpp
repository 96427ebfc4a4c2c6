#include "tidemark/kernels/row_counts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tidemark/ops/axes.h"

namespace tidemark {

namespace {

std::vector<std::pair<KernelRun, KernelRun>>& counts() {
  static auto* all = new std::vector<std::pair<KernelRun, KernelRun>>;  // as kernels are
  return *all;
}

}  // namespace

bool register_row_count(KernelRun run, KernelRun count) {
  counts().emplace_back(run, count);
  return true;
}

KernelRun row_count_of(const Kernel& kernel) {
  const auto found = std::find_if(counts().begin(), counts().end(),
                                  [&](const auto& one) { return one.first == kernel.run; });
  return found == counts().end() ? nullptr : found->second;
}

Shape with_rows(const OpCall& call, Shape shape, int64_t rows) {
  shape[dim_of_rows(call, call.inputs[0].rank())] = rows;
  return shape;
}

}  // namespace tidemark
