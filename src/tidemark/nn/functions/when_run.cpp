#include "tidemark/nn/functions/when_run.h"

#include <tidemark/handler.h>
#include <tidemark/ops.h>

#include "tidemark/graph/call_special.h"

namespace tidemark::nn {

namespace {

class HostStep final : public graph::Special {
 public:
  HostStep(const char* name, HostFunction function, Effect effect)
      : name_(name), function_(std::move(function)), effect_(effect) {}
  std::string_view name() const override { return name_; }
  graph::Effects effects() const override {
    const bool must_run = effect_ == Effect::must_run;
    return {.draws = must_run, .must_run = must_run};
  }

  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    const NoHandlers now;
    std::vector<Tensor> here;
    for (const Tensor& input : inputs) here.push_back(input.to(Device()));
    std::vector<Tensor> made = function_(here);
    if (made.size() != outputs.size()) {
      fail<InternalError>("[", name_, "] gave ", made.size(), " tensors, not ", outputs.size());
    }
    std::ranges::move(made, outputs.begin());
  }

 private:
  const char* name_;
  HostFunction function_;
  Effect effect_;
};

}  // namespace

std::vector<Tensor> when_run(const char* name, HostFunction function, std::vector<Tensor> inputs,
                             std::vector<graph::OutputInfo> infos, Effect effect) {
  std::vector<Tensor> outputs(infos.size());
  // No tape looks for a gradient here.
  for (Tensor& input : inputs) input = stop_gradient(input);
  graph::call_special(std::make_shared<HostStep>(name, std::move(function), effect), infos, inputs,
                      outputs);
  return outputs;
}

}  // namespace tidemark::nn
