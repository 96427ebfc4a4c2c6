#include "tidemark/comm/steps.h"

#include <tidemark/call.h>

#include <optional>

#include "tidemark/autodiff/tape.h"
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
  spread,
  fetch
};

constexpr std::string_view kNames[] = {"all_reduce", "all_gather", "reduce_scatter",
                                       "broadcast",  "all_to_all", "barrier",
                                       "reduce",     "spread",     "fetch"};

Piece piece_of(const Tensor& t) { return {t.mutable_raw_data(), t.num_elements(), t.dtype()}; }

/// One collective and what it is called with.
struct Collective {
  What what{};
  Reduce reduce = Reduce::sum;
  int root = 0;
  GroupPtr group;
  std::vector<int> owners{};  // of each tensor, where each has one
  Shape fetched{};            // of what is fetched from `root`

  std::string_view name() const { return kNames[static_cast<int>(what)]; }
  bool operator==(const Collective&) const = default;

  bool is_in_place() const {
    return what == What::all_reduce || what == What::broadcast || what == What::reduce ||
           what == What::spread;
  }
  bool owns(size_t input) const { return owners[input] == group->rank(); }
  /// Nothing comes back for this input.
  bool gives_only(size_t input) const {
    return !owners.empty() && owns(input) == (what == What::spread);
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
    return message(name(), " over ", collective_.group->size(), " workers");
  }
  graph::Effects effects() const override {
    return {.token = collective_.group->token(), .must_run = true};
  }
  bool keeps_inputs() const override { return false; }
  bool computes() const override { return true; }
  size_t workspace() const override { return collective_.group->scratch_bytes(); }
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
    autodiff::record_custom(inputs, outputs,
                            std::make_shared<CollectiveBackward>(collective_, outputs));
  }

  std::optional<size_t> bytes_sent(std::span<const Tensor> inputs) const {
    return collective_.bytes_sent(inputs);
  }

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
  if (what == What::fetch) out[0].shape = fetched;
  if (!owners.empty()) {
    for (size_t i = 0; i < out.size(); ++i) {
      if (gives_only(i)) out[i].shape = Shape({0});
    }
  }
  if (is_in_place() || what == What::barrier || what == What::fetch) return out;
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
  std::vector<Piece> pieces;
  switch (what) {
    case What::all_reduce:
    case What::broadcast:
    case What::reduce:
    case What::spread:
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (gives_only(i)) {
          pieces.push_back(piece_of(inputs[i]));
          continue;
        }
        if (what != What::spread && outputs[i].raw_data() != inputs[i].raw_data()) {
          copy_elements(inputs[i], outputs[i]);
        }
        pieces.push_back(piece_of(outputs[i]));
      }
      if (what == What::all_reduce) return group->all_reduce(pieces, reduce, scratch);
      if (what == What::reduce) return group->reduce(pieces, owners, reduce, scratch);
      if (what == What::spread) return group->spread(pieces, owners);
      for (const Piece& piece : pieces) group->broadcast(piece, root);
      return;
    case What::all_gather:
      return group->all_gather(piece_of(inputs[0]), piece_of(outputs[0]));
    case What::reduce_scatter:
      return group->reduce_scatter(piece_of(inputs[0]), piece_of(outputs[0]), reduce, scratch);
    case What::all_to_all:
      return group->all_to_all(piece_of(inputs[0]), piece_of(outputs[0]));
    case What::barrier:
      return group->barrier();
    case What::fetch:
      if (group->rank() == root) copy_elements(inputs[0], outputs[0]);
      return group->broadcast(piece_of(outputs[0]), root);
  }
}

std::optional<size_t> Collective::bytes_sent(std::span<const Tensor> inputs) const {
  std::vector<Piece> pieces;
  size_t all = 0, own = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].shape().is_fully_known()) return {};
    pieces.push_back({nullptr, inputs[i].shape().num_elements(), inputs[i].dtype()});
    all += pieces[i].bytes();
    if (!owners.empty() && owns(i)) own += pieces[i].bytes();
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
    case What::spread:
      return own * others;
    case What::fetch:
      if (group->rank() != root) return 0;
      return static_cast<size_t>(fetched.num_elements()) * size_of(inputs[0].dtype()) * others;
  }
  return {};
}

std::vector<Tensor> Collective::call(std::vector<Tensor> inputs) const {
  for (const Tensor& t : inputs) {
    if (t.dtype() == DType::string) {
      fail("[", name(), "] strings are not sent between workers; given ", t.shape(), " of them");
    }
    const bool reduces =
        what == What::all_reduce || what == What::reduce_scatter || what == What::reduce;
    if (reduces) check_reducible(t.dtype(), reduce);
  }
  const std::vector<graph::OutputInfo> known = infos(inputs);
  std::vector<Tensor> outputs(known.size());
  graph::call_special(std::make_shared<CollectiveStep>(*this), known, inputs, outputs);
  return outputs;
}

std::vector<Tensor> Collective::gradient(std::span<const Tensor> dy) const {
  if (!owners.empty() || what == What::fetch) {
    fail<UnimplementedError>("[", name(), "] has no gradient: the tensors have owners");
  }
  const bool reduces = what == What::all_reduce || what == What::reduce_scatter;
  if (reduces && reduce != Reduce::sum) {
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

std::vector<Tensor> with_owners(What what, Reduce reduce, const GroupPtr& group,
                                std::span<const Tensor> tensors, std::vector<int> owners) {
  const Collective collective{what, reduce, 0, group, std::move(owners)};
  if (collective.owners.size() != tensors.size()) {
    fail("[", collective.name(), "] ", tensors.size(), " tensors have ", collective.owners.size(),
         " owners; give one each");
  }
  for (const int owner : collective.owners) {
    if (owner >= 0 && owner < group->size()) continue;
    fail("[", collective.name(), "] there is no worker ", owner, "; the group has workers 0 to ",
         group->size() - 1);
  }
  return collective.call({tensors.begin(), tensors.end()});
}

void add(Traffic& sum, const Traffic& more) {
  sum.bytes_sent += more.bytes_sent;
  sum.collectives += more.collectives;
  sum.is_known = sum.is_known && more.is_known;
}

}  // namespace

std::vector<Tensor> reduce(const GroupPtr& group, std::span<const Tensor> tensors, Reduce reduce,
                           std::vector<int> owners) {
  return with_owners(What::reduce, reduce, group, tensors, std::move(owners));
}

std::vector<Tensor> spread(const GroupPtr& group, std::span<const Tensor> tensors,
                           std::vector<int> owners) {
  std::vector<Tensor> all = with_owners(What::spread, Reduce::sum, group, tensors, owners);
  for (size_t i = 0; i < all.size(); ++i) {
    if (owners[i] == group->rank()) all[i] = tensors[i];
  }
  return all;
}

Tensor fetch(const GroupPtr& group, const Tensor& own, int owner, const Shape& shape) {
  if (owner < 0 || owner >= group->size()) {
    fail("[fetch] there is no worker ", owner, "; the group has workers 0 to ", group->size() - 1);
  }
  if (!shape.is_fully_known() || (group->rank() == owner && own.shape() != shape)) {
    fail("[fetch] worker ", owner, " owns a tensor of shape ", own.shape(), ", and one of shape ",
         shape, " is fetched");
  }
  return Collective{What::fetch, Reduce::sum, owner, group, {}, shape}.call({own})[0];
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
