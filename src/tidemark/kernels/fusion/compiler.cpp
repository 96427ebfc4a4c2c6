#include "tidemark/kernels/fusion/compiler.h"

#include "tidemark/memory/workspace.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::fusion {

void FusedStep::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  std::vector<Tensor> results;
  for (size_t o = 0; o < outputs.size(); ++o) {
    results.push_back(new_tensor(output_dtype(o), output_shapes()[o]));
  }
  const memory::Workspace scratch(workspace());
  compute(inputs, results, scratch.data());
  for (size_t o = 0; o < outputs.size(); ++o) outputs[o] = std::move(results[o]);
}

}  // namespace tidemark::fusion
