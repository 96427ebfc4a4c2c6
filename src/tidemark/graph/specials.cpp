#include "tidemark/graph/specials.h"

#include "tidemark/tensor/bounces.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::graph {

namespace {

class Constant final : public Special {
 public:
  std::string_view name() const override { return "constant"; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    outputs[0] = inputs[0];
  }
  Effects effects() const override { return {}; }
};

}  // namespace

std::shared_ptr<const Special> constant_special() {
  static const auto& shared = *new auto(std::make_shared<const Constant>());
  return shared;
}

bool is_constant(const Node& node) {
  return node.special == constant_special() && node.inputs.size() == 1 &&
         !node.inputs[0].is_symbolic();
}

std::string ReadVariable::describe() const {
  return message("read_variable '", variable_.name(), "'");
}

void ReadVariable::run(std::span<Tensor>, std::span<Tensor> outputs) const {
  outputs[0] = variable_.operand();
}

bool ReadVariable::equals(const Special& other) const {
  return static_cast<const ReadVariable&>(other).variable_ == variable_;
}

std::string CopyToDevice::describe() const {
  return message("copy to ", device_.name(), reader_.empty() ? "" : " for ", reader_);
}

void CopyToDevice::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  if (device_.is_cpu() && !reader_.empty()) note_bounce(reader_, inputs[0].nbytes());
  outputs[0] = inputs[0].to(device_);
}

void CopyToDevice::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                           void*) const {
  if (device_.is_cpu() && !reader_.empty()) note_bounce(reader_, inputs[0].nbytes());
  copy_elements(inputs[0], outputs[0]);
}

bool CopyToDevice::equals(const Special& other) const {
  return static_cast<const CopyToDevice&>(other).device_ == device_;
}

}  // namespace tidemark::graph
