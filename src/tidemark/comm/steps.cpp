#include "tidemark/comm/steps.h"

#include <tidemark/call.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "tidemark/autodiff/tape.h"
#include "tidemark/comm/call.h"
#include "tidemark/comm/two_steps.h"
#include "tidemark/exec/long_work.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/graph/recording.h"
#include "tidemark/memory/workspace.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::comm {

namespace {

enum class What : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  barrier,
  reduce,
  gather
};

constexpr std::string_view kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                       "all_to_all", "barrier",    "reduce",         "gather"};

Piece piece_of(const Tensor& t) { return {t.mutable_raw_data(), t.num_elements(), t.dtype()}; }

/// One collective and what it is called with.
struct Collective {
  What what{};
  Reduce reduce = Reduce::sum;
  int root = 0;
  GroupPtr group;
  std::vector<Parts> parts{};   // of each tensor, where the elements are shared out
  std::vector<Shape> shapes{};  // of what is gathered
  std::string of{};             // what is shared out
  uint64_t stands_for = 0;      // the variable whose value is gathered

  std::string_view name() const { return kNames[static_cast<int>(what)]; }
  bool operator==(const Collective&) const = default;

  bool is_in_place() const { return what == What::all_reduce || what == What::broadcast; }
  bool reduces() const {
    return what == What::all_reduce || what == What::reduce_scatter || what == What::reduce;
  }
  int64_t num_own(size_t tensor) const {
    const auto at = static_cast<size_t>(group->rank());
    return parts[tensor][at + 1] - parts[tensor][at];
  }
  std::vector<graph::OutputInfo> infos(std::span<const Tensor> inputs) const;
  /// What this worker sends, for inputs of these shapes; nothing where only a run can tell.
  std::optional<size_t> bytes_sent(std::span<const Tensor> inputs) const;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* scratch) const;
  std::vector<Tensor> call(std::vector<Tensor> inputs) const;
  std::vector<Tensor> gradient(std::span<const Tensor> dy) const;
};

/// The gradient of a collective that has run.
class CollectiveBackward final : public autodiff::CustomBackward {
 public:
  CollectiveBackward(Collective collective, std::span<const Tensor> outputs)
      : collective_(std::move(collective)) {
    for (const Tensor& t : outputs) like_.push_back(shape_only(t));
  }
  std::vector<autodiff::Adjoint> run(std::span<const Tensor> dy) override {
    std::vector<Tensor> all(dy.begin(), dy.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i]) all[i] = tidemark::call("zeros_like", {like_[i]});
    }
    std::vector<Tensor> dx = collective_.gradient(all);
    std::vector<autodiff::Adjoint> out(dx.size());
    for (size_t i = 0; i < out.size(); ++i) out[i].values = std::move(dx[i]);
    return out;
  }

 private:
  const Collective collective_;
  std::vector<Tensor> like_;
};

class CollectiveStep final : public graph::DifferentiableSpecial {
 public:
  explicit CollectiveStep(Collective collective) : collective_(std::move(collective)) {}
  std::string_view name() const override { return collective_.name(); }
  std::string describe() const override {
    return message(name(), collective_.of.empty() ? "" : " of ", collective_.of, " over ",
                   collective_.group->size(), " workers");
  }
  graph::Effects effects() const override {
    return {.token = collective_.group->token(), .must_run = true};
  }
  bool keeps_inputs() const override { return false; }
  bool computes() const override { return true; }
  size_t workspace() const override {
    if (!collective_.reduces()) return 0;
    return collective_.group->scratch_bytes(collective_.what == What::all_reduce);
  }
  bool may_write_into(size_t output, size_t input) const override {
    return collective_.is_in_place() && output == input;
  }
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override {
    collective_.compute(inputs, outputs, workspace);
  }

  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    for (Tensor& t : inputs) {
      if (!t.device().is_cpu()) t = t.to(Device());
    }
    const std::vector<graph::OutputInfo> infos = collective_.infos(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = new_tensor(infos[i].dtype, infos[i].shape);
    }
    const memory::Workspace scratch(workspace());
    {
      const exec::LongWork others_go_on(true);
      compute(inputs, outputs, scratch.data());
    }
    if (outputs.empty()) return;
    if (collective_.stands_for != 0) {
      outputs[0].impl()->id.store(collective_.stands_for, std::memory_order_relaxed);
      return;
    }
    autodiff::record_custom(inputs, outputs,
                            std::make_shared<CollectiveBackward>(collective_, outputs));
  }

  std::optional<graph::TwoSteps> in_two_steps() const override {
    if (collective_.what != What::all_reduce || collective_.group->size() == 1) return {};
    return all_reduce_in_two_steps(collective_.group, collective_.reduce);
  }

  std::optional<size_t> bytes_sent(std::span<const Tensor> inputs) const {
    return collective_.bytes_sent(inputs);
  }
  const Collective& collective() const { return collective_; }

  std::shared_ptr<const graph::Special> opened(
      std::vector<Tensor>& inputs, std::vector<graph::OutputInfo>& outputs) const override {
    outputs = collective_.infos(inputs);
    return std::make_shared<CollectiveStep>(collective_);
  }
  std::vector<Tensor> add_gradient(graph::Node& node, std::span<const Tensor> dy,
                                   const std::vector<bool>&) const override {
    std::vector<Tensor> all(dy.begin(), dy.end());
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (!all[i]) all[i] = tidemark::call("zeros_like", {graph::output_of(node, i)});
    }
    return collective_.gradient(all);
  }

 private:
  bool equals(const Special& other) const override {
    return static_cast<const CollectiveStep&>(other).collective_ == collective_;
  }

  const Collective collective_;
};

std::vector<graph::OutputInfo> Collective::infos(std::span<const Tensor> inputs) const {
  std::vector<graph::OutputInfo> out;
  for (const Tensor& t : inputs) out.push_back({t.dtype(), t.shape()});
  for (size_t i = 0; i < parts.size(); ++i) {
    out[i].shape = what == What::gather ? shapes[i] : Shape({num_own(i)});
  }
  if (stands_for != 0) out[0].id = stands_for;
  if (is_in_place() || what == What::barrier || !parts.empty()) return out;
  Shape& shape = out[0].shape;
  if (!shape.has_rank()) return out;
  if (shape.rank() == 0) {
    fail("[", name(), "] a scalar has no first axis to part or join; reshape it to [1]");
  }
  if (shape[0] == kUnknownDim) return out;
  const int64_t workers = group->size();
  if (what == What::all_gather) {
    shape[0] *= workers;
  } else if (shape[0] % workers != 0) {
    fail("[", name(), "] ", shape[0], " rows cannot be parted among ", workers,
         " workers; pad the first axis to a multiple of ", workers);
  } else if (what == What::reduce_scatter) {
    shape[0] /= workers;
  }
  return out;
}

void Collective::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         void* scratch) const {
  std::vector<Piece> pieces, mine;
  switch (what) {
    case What::all_reduce:
    case What::broadcast:
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (outputs[i].raw_data() != inputs[i].raw_data()) copy_elements(inputs[i], outputs[i]);
        pieces.push_back(piece_of(outputs[i]));
      }
      if (what == What::all_reduce) return group->all_reduce(pieces, reduce, scratch);
      for (const Piece& piece : pieces) group->broadcast(piece, root);
      return;
    case What::reduce:
      for (size_t i = 0; i < inputs.size(); ++i) {
        pieces.push_back(piece_of(inputs[i]));
        mine.push_back(piece_of(outputs[i]));
      }
      return group->reduce(pieces, parts, mine, reduce, of, scratch);
    case What::gather:
      for (size_t i = 0; i < inputs.size(); ++i) {
        pieces.push_back(piece_of(outputs[i]));
        const Range own = range_of(parts[i], group->rank(), inputs[i].dtype());
        if (own.bytes == 0) continue;
        std::memcpy(static_cast<char*>(pieces[i].data) + own.offset, inputs[i].raw_data(),
                    own.bytes);
      }
      return group->gather(pieces, parts, of);
    case What::all_gather:
      return group->all_gather(piece_of(inputs[0]), piece_of(outputs[0]));
    case What::reduce_scatter:
      return group->reduce_scatter(piece_of(inputs[0]), piece_of(outputs[0]), reduce, scratch);
    case What::all_to_all:
      return group->all_to_all(piece_of(inputs[0]), piece_of(outputs[0]));
    case What::barrier:
      return group->barrier();
  }
}

std::optional<size_t> Collective::bytes_sent(std::span<const Tensor> inputs) const {
  std::vector<Piece> pieces;
  size_t all = 0, own = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].shape().is_fully_known()) return {};
    pieces.push_back({nullptr, inputs[i].shape().num_elements(), inputs[i].dtype()});
    all += pieces[i].bytes();
    if (!parts.empty()) own += static_cast<size_t>(num_own(i)) * size_of(inputs[i].dtype());
  }
  const auto workers = static_cast<size_t>(group->size()), others = workers - 1;
  switch (what) {
    case What::all_reduce:
      return group->bytes_of_all_reduce(pieces);
    case What::broadcast:
      return group->rank() == root ? all * others : 0;
    case What::all_gather:
      return all * others;
    case What::reduce_scatter:
    case What::all_to_all:
      return all / workers * others;
    case What::barrier:
      return others;
    case What::reduce:
      return all - own;
    case What::gather:
      return own * others;
  }
  return {};
}

std::vector<Tensor> Collective::call(std::vector<Tensor> inputs) const {
  for (const Tensor& t : inputs) {
    if (t.dtype() == DType::string) {
      fail("[", name(), "] strings are not sent between workers; given ", t.shape(), " of them");
    }
    if (reduces()) check_reducible(t.dtype(), reduce);
  }
  const std::vector<graph::OutputInfo> known = infos(inputs);
  std::vector<Tensor> outputs(known.size());
  graph::call_special(std::make_shared<CollectiveStep>(*this), known, inputs, outputs);
  return outputs;
}

std::vector<Tensor> Collective::gradient(std::span<const Tensor> dy) const {
  if (!parts.empty()) {
    fail<UnimplementedError>("[", name(), "] has no gradient: the tensors are shared out");
  }
  if (reduces() && reduce != Reduce::sum) {
    fail<UnimplementedError>("[", name(), "] by ", name_of(reduce),
                             " has no gradient; by sum it has");
  }
  Collective back{what, Reduce::sum, root, group};
  if (what == What::all_gather) back.what = What::reduce_scatter;
  if (what == What::reduce_scatter) back.what = What::all_gather;
  if (what == What::broadcast) back.what = What::all_reduce;
  std::vector<Tensor> dx = back.call(std::vector<Tensor>(dy.begin(), dy.end()));
  if (what == What::broadcast && group->rank() != root) {
    for (Tensor& t : dx) t = tidemark::call("zeros_like", {t});
  }
  return dx;
}

}  // namespace

std::vector<Tensor> all_reduce(const GroupPtr& group, std::span<const Tensor> tensors,
                               Reduce reduce) {
  return Collective{What::all_reduce, reduce, 0, group}.call({tensors.begin(), tensors.end()});
}

Tensor all_gather(const GroupPtr& group, const Tensor& tensor) {
  return Collective{What::all_gather, Reduce::sum, 0, group}.call({tensor})[0];
}

Tensor reduce_scatter(const GroupPtr& group, const Tensor& tensor, Reduce reduce) {
  return Collective{What::reduce_scatter, reduce, 0, group}.call({tensor})[0];
}

Tensor broadcast(const GroupPtr& group, const Tensor& tensor, int root) {
  if (root < 0 || root >= group->size()) {
    fail("[broadcast] there is no worker ", root, "; the group has workers 0 to ",
         group->size() - 1);
  }
  return Collective{What::broadcast, Reduce::sum, root, group}.call({tensor})[0];
}

Tensor all_to_all(const GroupPtr& group, const Tensor& tensor) {
  return Collective{What::all_to_all, Reduce::sum, 0, group}.call({tensor})[0];
}

namespace {

void check_parts(const Collective& collective, std::span<const Tensor> tensors) {
  const auto refuse = [&](const auto&... why) { fail("[", collective.name(), "] ", why...); };
  const std::vector<Parts>& parts = collective.parts;
  const bool gathers = collective.what == What::gather;
  const auto workers = static_cast<size_t>(collective.group->size());
  if (parts.size() != tensors.size() || (gathers && collective.shapes.size() != tensors.size())) {
    refuse(tensors.size(), " tensors, ", parts.size(), " of them shared out",
           gathers ? message(", of ", collective.shapes.size(), " shapes") : std::string(),
           "; say of each how it is");
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Shape& whole = gathers ? collective.shapes[i] : tensors[i].shape();
    if (parts[i].size() != workers + 1 || !std::is_sorted(parts[i].begin(), parts[i].end()) ||
        parts[i].front() != 0) {
      refuse("the bounds of the parts go up from 0, one more than there are workers; given ",
             parts[i].size(), " for ", workers, " workers");
    }
    if (!whole.is_fully_known() || whole.num_elements() != parts[i].back()) {
      refuse("a tensor of shape ", whole, " is shared out as if it had ", parts[i].back(),
             " elements");
    }
    if (gathers && tensors[i].shape() != Shape({collective.num_own(i)})) {
      refuse("this worker's part is a vector of ", collective.num_own(i), "; given one of shape ",
             tensors[i].shape());
    }
  }
}

void add(Traffic& sum, const Traffic& more) {
  sum.bytes_sent += more.bytes_sent;
  sum.collectives += more.collectives;
  sum.is_known = sum.is_known && more.is_known;
}

}  // namespace

std::vector<Tensor> reduce(const GroupPtr& group, std::span<const Tensor> tensors, Reduce reduce,
                           std::vector<Parts> parts, std::string of) {
  const Collective collective{What::reduce, reduce, 0, group, std::move(parts), {}, std::move(of)};
  check_parts(collective, tensors);
  return collective.call({tensors.begin(), tensors.end()});
}

std::vector<Tensor> gather(const GroupPtr& group, std::span<const Tensor> own,
                           std::vector<Parts> parts, std::vector<Shape> shapes, std::string of,
                           uint64_t stands_for) {
  const Collective collective{What::gather,      Reduce::sum,   0,         group, std::move(parts),
                              std::move(shapes), std::move(of), stands_for};
  check_parts(collective, own);
  if (stands_for != 0 && own.size() != 1) {
    fail("[gather] one tensor stands for a variable; given ", own.size());
  }
  return collective.call({own.begin(), own.end()});
}

uint64_t gathered_variable(const graph::Node& node) {
  const auto* step = dynamic_cast<const CollectiveStep*>(node.special.get());
  return step ? step->collective().stands_for : 0;
}

bool is_reduction(const graph::Node& node) {
  const auto* step = dynamic_cast<const CollectiveStep*>(node.special.get());
  return step && step->collective().what == What::reduce;
}

Traffic traffic_of(const graph::Graph& graph) {
  Traffic all;
  for (const graph::Node* node : graph.nodes()) {
    if (!node->special) continue;
    if (const auto* step = dynamic_cast<const CollectiveStep*>(node->special.get())) {
      const std::optional<size_t> bytes = step->bytes_sent(node->inputs);
      add(all, {bytes.value_or(0), 1, bytes.has_value()});
    }
    Traffic choice;
    for (const graph::InnerGraph& inner : node->special->inner_graphs()) {
      const Traffic part = traffic_of(*inner.graph);
      if (inner.role != graph::InnerGraph::Role::choice) {
        add(all, part);
      } else if (part.bytes_sent > choice.bytes_sent || part.collectives > choice.collectives) {
        choice = part;
      }
    }
    add(all, choice);
  }
  return all;
}

void barrier(const GroupPtr& group) { Collective{What::barrier, Reduce::sum, 0, group}.call({}); }

}  // namespace tidemark::comm
