#include "tidemark/comm/two_steps.h"

#include "tidemark/tensor/storage.h"

namespace tidemark::comm {

namespace {

/// Of both: in the order of their group, into memory that is given.
class Half : public graph::Special {
 public:
  explicit Half(GroupPtr group) : group_(std::move(group)) {}
  std::string describe() const override {
    return message(name(), " over ", group_->size(), " workers");
  }
  graph::Effects effects() const override { return {.token = group_->token(), .must_run = true}; }
  bool keeps_inputs() const override { return false; }
  bool computes() const override { return true; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {
    fail<InternalError>("[", name(), "] is a step of plans alone");
  }

 protected:
  /// The first tensors, each copied into its output unless it lies there already.
  static void pass_on(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                      size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (outputs[i].raw_data() != inputs[i].raw_data()) copy_elements(inputs[i], outputs[i]);
    }
  }
  const GroupPtr group_;
};

/// (tensors…[, scratch]) to (sums…, ticket, scratch).
class BeginAllReduce final : public Half {
 public:
  BeginAllReduce(GroupPtr group, Reduce reduce) : Half(std::move(group)), reduce_(reduce) {}
  std::string_view name() const override { return "begin_all_reduce"; }
  bool goes_on() const override { return true; }
  void settle() const noexcept override { group_->settle(); }
  bool may_write_into(size_t output, size_t input) const override {
    return output == input || output == input + 1;  // the scratch memory stands behind the ticket
  }
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void*) const override {
    const size_t count = outputs.size() - 2;
    pass_on(inputs, outputs, count);
    std::vector<Piece> pieces;
    for (const Tensor& t : outputs.first(count)) {
      pieces.push_back({t.mutable_raw_data(), t.num_elements(), t.dtype()});
    }
    Group* const group = group_.get();
    void* const scratch = outputs[count + 1].mutable_raw_data();
    const auto sum = [group, scratch, reduce = reduce_, all = std::move(pieces)] {
      group->all_reduce(all, reduce, scratch);
    };
    *outputs[count].mutable_data<uint64_t>() = group->start(sum);
  }

 private:
  bool equals(const Special& other) const override {
    const auto& same = static_cast<const BeginAllReduce&>(other);
    return same.group_ == group_ && same.reduce_ == reduce_;
  }
  const Reduce reduce_;
};

/// (sums…, ticket, scratch) to (sums…).
class EndAllReduce final : public Half {
 public:
  using Half::Half;
  std::string_view name() const override { return "end_all_reduce"; }
  bool may_write_into(size_t output, size_t input) const override { return output == input; }
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void*) const override {
    group_->finish(*inputs[outputs.size()].data<uint64_t>());
    pass_on(inputs, outputs, outputs.size());
  }

 private:
  bool equals(const Special& other) const override {
    return static_cast<const EndAllReduce&>(other).group_ == group_;
  }
};

}  // namespace

graph::TwoSteps all_reduce_in_two_steps(const GroupPtr& group, Reduce reduce) {
  return {std::make_shared<BeginAllReduce>(group, reduce), std::make_shared<EndAllReduce>(group),
          group->scratch_bytes()};
}

}  // namespace tidemark::comm
