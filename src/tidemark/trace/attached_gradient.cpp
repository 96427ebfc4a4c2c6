// tf.custom_gradient inside a graph: the run records the user's own gradient on the tapes around
// it.
#include "tidemark/autodiff/tape.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

class ProgramBackward final : public autodiff::CustomBackward {
 public:
  ProgramBackward(std::shared_ptr<const exec::Program> program, std::vector<Tensor> captured)
      : program_(std::move(program)), captured_(std::move(captured)) {}

  std::vector<autodiff::Adjoint> run(std::span<const Tensor> dy) override {
    std::vector<Tensor> inputs(dy.begin(), dy.end());
    inputs.insert(inputs.end(), captured_.begin(), captured_.end());
    std::vector<Tensor> outputs(program_->num_outputs());
    program_->run(inputs, outputs);
    std::vector<autodiff::Adjoint> out(outputs.size());
    for (size_t i = 0; i < out.size(); ++i) out[i].values = std::move(outputs[i]);
    return out;
  }

 private:
  std::shared_ptr<const exec::Program> program_;
  std::vector<Tensor> captured_;
};

class AttachGradient final : public graph::Special {
 public:
  AttachGradient(size_t num_inputs, size_t num_outputs,
                 std::shared_ptr<const exec::Program> backward, std::vector<Variable> variables)
      : num_inputs_(num_inputs),
        num_outputs_(num_outputs),
        backward_(std::move(backward)),
        variables_(std::move(variables)) {}

  std::string_view name() const override { return "custom_gradient"; }
  size_t bytes() const override { return backward_->bytes(); }
  std::optional<size_t> passed_inputs_at() const override { return num_inputs_; }
  graph::Effects effects() const override { return {.reads = variables_, .is_barrier = true}; }
  graph::InnerNeed inner_need(std::span<const Tensor> inputs) const override {
    graph::InnerNeed need;
    for (size_t i = 0; i < num_outputs_; ++i) {
      need.outputs.push_back(inputs[num_inputs_ + i].device());
    }
    return need;
  }

  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    for (size_t i = 0; i < num_outputs_; ++i) {
      const Tensor& y = inputs[num_inputs_ + i];
      // A header of its own: to tapes it is another value than the one computed.
      outputs[i] = view_of(y, y.mutable_raw_data(), y.dtype(), y.shape());
    }
    const std::span<Tensor> captured = inputs.subspan(num_inputs_ + num_outputs_);
    autodiff::record_custom(inputs.first(num_inputs_), outputs,
                            std::make_shared<ProgramBackward>(
                                backward_, std::vector<Tensor>(captured.begin(), captured.end())));
  }

 private:
  bool equals(const Special& other) const override {
    const auto& that = static_cast<const AttachGradient&>(other);
    return that.num_inputs_ == num_inputs_ && that.num_outputs_ == num_outputs_ &&
           that.backward_ == backward_;  // equal programs are one: see shared_graphs.h
  }

  size_t num_inputs_, num_outputs_;
  std::shared_ptr<const exec::Program> backward_;
  std::vector<Variable> variables_;
};

}  // namespace

std::shared_ptr<const graph::Special> attach_gradient(size_t num_inputs, size_t num_outputs,
                                                      std::shared_ptr<const exec::Program> backward,
                                                      std::vector<Variable> variables) {
  return std::make_shared<AttachGradient>(num_inputs, num_outputs, std::move(backward),
                                          std::move(variables));
}

}  // namespace tidemark::trace
