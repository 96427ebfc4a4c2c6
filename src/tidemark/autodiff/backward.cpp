// The way back over a tape: iterative, releasing what it has passed.
#include <tidemark/create.h>

#include "tidemark/autodiff/tape.h"
#include "tidemark/base/upcalls.h"
#include "tidemark/graph/node.h"
#include "tidemark/ops/arrays.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::autodiff {

namespace {

using Entry = Tape::Entry;

bool is_array_read(const Entry& entry) {
  static const OpDef* const array_read = OpRegistry::instance().find("array_read");
  return entry.op == array_read;
}

/// gather along the first axis and array_read: their gradient stays rows.
bool gives_rows(const Entry& entry) {
  static const OpDef* const gather = OpRegistry::instance().find("gather");
  if (is_array_read(entry)) return entry.inputs()[0].shape().num_elements() > 0;
  if (entry.op != gather) return false;
  const Attr& axis = entry.attrs[static_cast<size_t>(gather->attr_index("axis"))];
  const Attr& batch_dims = entry.attrs[static_cast<size_t>(gather->attr_index("batch_dims"))];
  return (axis.is_none() || axis.as_int() == 0) && batch_dims.as_int() == 0;
}

/// Its gradient, unlike a definition's, may be written over what comes in.
bool is_array_write(const Entry& entry) {
  static const OpDef* const array_write = OpRegistry::instance().find("array_write");
  return entry.op == array_write;
}

std::vector<Adjoint> gathered_rows(const Entry& entry, const Tensor& dy) {
  const Shape& shape = entry.inputs()[0].shape();
  Ints sizes(shape.begin(), shape.end());
  sizes[0] = entry.inputs()[1].num_elements();
  std::vector<Adjoint> out(2);
  const Tensor rows = Tensor::of(std::span<const int64_t>(sizes), {shape.rank()});
  out[0].values = call("reshape", {dy, rows});
  Tensor picked = entry.inputs()[1];
  if (picked.dtype() == DType::int16) {  // what adds rows up wants the usual integers
    picked = call("cast", {picked}, {{"dtype", DType::int32}});
  }
  out[0].indices = call("reshape", {picked, Tensor::of<int64_t>({-1})});
  out[0].shape = shape;
  out[0].becomes_dense = is_array_read(entry);
  return out;
}

/// Gradients written by users get a tensor for each output.
void fill_with_zeros(std::span<Tensor> dy, const Entry& entry) {
  for (size_t k = 0; k < dy.size(); ++k) {
    const Tensor& y = entry.outputs()[k];
    if (!dy[k] && entry.output_slots()[k] >= 0) dy[k] = zeros(y.shape(), y.dtype());
  }
}

Tensor ones_for(const Tensor& t) { return ones(t.shape(), t.dtype()); }

/// The state of one walk.
class Walk {
 public:
  Walk(int32_t num_slots, size_t num_entries)
      : adjoints_(static_cast<size_t>(num_slots)),
        reached_(static_cast<size_t>(num_slots)),
        sources_(static_cast<size_t>(num_slots)),
        active_(num_entries) {}

  void add_source(int32_t slot) {
    sources_[static_cast<size_t>(slot)] = true;
    reached_[static_cast<size_t>(slot)] = true;
  }
  void add(int32_t slot, Adjoint&& adjoint) {
    accumulate(adjoints_[static_cast<size_t>(slot)], std::move(adjoint));
  }
  bool is_active(size_t entry) const { return active_[entry]; }
  bool is_reached(int32_t slot) const { return slot >= 0 && reached_[static_cast<size_t>(slot)]; }
  const Adjoint& at(int32_t slot) const { return adjoints_[static_cast<size_t>(slot)]; }

  /// Which steps lie between the sources and anything.
  void reach(const std::deque<Entry>& entries) {
    for (size_t i = 0; i < active_.size(); ++i) {
      for (int32_t slot : entries[i].input_slots()) {
        if (!is_reached(slot)) continue;
        active_[i] = true;
        for (int32_t out : entries[i].output_slots()) {
          if (out >= 0) reached_[static_cast<size_t>(out)] = true;
        }
        break;
      }
    }
  }

  void step(size_t i, const Entry& entry) {
    if (!active_[i]) return;
    bool any = false;
    std::vector<Tensor> dy(entry.output_slots().size());
    for (size_t k = 0; k < dy.size(); ++k) {
      const int32_t slot = entry.output_slots()[k];
      if (slot < 0) continue;
      dy[k] = take(slot);
      any |= static_cast<bool>(dy[k]);
    }
    if (!any) return;
    if (entry.custom) fill_with_zeros(dy, entry);
    uint64_t wanted = 0;
    for (size_t k = 0; k < entry.num_inputs && k < 64; ++k) {
      wanted |= uint64_t{is_reached(entry.input_slots()[k])} << k;
    }
    std::vector<Adjoint> dx = run_backward(entry, dy, wanted, true);
    dy.clear();
    for (size_t k = 0; k < dx.size() && k < entry.num_inputs; ++k) {
      const int32_t slot = entry.input_slots()[k];
      if (dx[k] && is_reached(slot)) add(slot, std::move(dx[k]));
    }
  }

 private:
  /// What has flowed to the slot; stays where it is an answer too.
  Tensor take(int32_t slot) {
    Adjoint& adjoint = adjoints_[static_cast<size_t>(slot)];
    if (!adjoint) return {};
    if (!sources_[static_cast<size_t>(slot)]) return dense(std::exchange(adjoint, {}));
    Adjoint copy = adjoint;
    return dense(std::move(copy));
  }

  std::vector<Adjoint> adjoints_;
  std::vector<bool> reached_, sources_, active_;
};

void check_seed(const Tensor& seed, const Tensor& target) {
  if (seed.shape() == target.shape() && seed.dtype() == target.dtype()) return;
  fail("an output gradient has dtype ", name_of(seed.dtype()), " and shape ", seed.shape(),
       "; its target has ", name_of(target.dtype()), " and ", target.shape());
}

bool is_any_symbolic(std::span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    if (t && t.is_symbolic()) return true;
  }
  return false;
}

/// Definitions look at sizes: all of them must be known on the way.
bool has_unknown_sizes(const std::deque<Entry>& entries, size_t count, const Walk& walk) {
  for (size_t i = 0; i < count; ++i) {
    if (!walk.is_active(i)) continue;
    for (const Tensor& t : entries[i].tensors) {
      if (!t.shape().is_fully_known()) return true;
    }
  }
  return false;
}

/// Whether a way leads from each source alone to any of the targets.
std::vector<bool> connections(const std::deque<Entry>& entries, size_t count, int32_t num_slots,
                              std::span<const int32_t> targets, std::span<const int32_t> sources) {
  std::vector<bool> leads(static_cast<size_t>(num_slots));
  for (int32_t slot : targets) {
    if (slot >= 0) leads[static_cast<size_t>(slot)] = true;
  }
  for (size_t i = count; i-- > 0;) {
    bool any = false;
    for (int32_t slot : entries[i].output_slots())
      any |= slot >= 0 && leads[static_cast<size_t>(slot)];
    for (int32_t slot : entries[i].input_slots()) {
      if (any && slot >= 0) leads[static_cast<size_t>(slot)] = true;
    }
  }
  std::vector<bool> out;
  for (int32_t slot : sources) out.push_back(slot >= 0 && leads[static_cast<size_t>(slot)]);
  return out;
}

}  // namespace

std::vector<Adjoint> run_backward(const Entry& entry, std::span<Tensor> dy, uint64_t wanted,
                                  bool gives_up_dy) {
  if (entry.custom) return entry.custom->run(dy);
  if (gives_rows(entry)) return gathered_rows(entry, dy[0]);
  std::vector<Tensor> dx(entry.num_inputs);
  if (is_array_write(entry)) {
    std::vector<Tensor> cut =
        arrays::write_gradient(entry.inputs()[0].shape(), entry.inputs()[1], dy[0], gives_up_dy);
    dx[0] = std::move(cut[0]);
    dx[2] = std::move(cut[1]);
  } else {
    const OpCall call{*entry.op, entry.inputs(), entry.attrs};
    Grad grad(call, entry.outputs(), dy, dx, wanted);
    entry.op->gradient_rule()(grad);
  }
  std::vector<Adjoint> out(dx.size());
  for (size_t i = 0; i < dx.size(); ++i) out[i].values = std::move(dx[i]);
  return out;
}

std::vector<Adjoint> Tape::gradient(std::span<const Tensor> targets,
                                    std::span<const uint64_t> sources,
                                    std::span<const Tensor> seeds,
                                    std::span<const Tensor> source_tensors) {
  if (used_up_) {
    fail<InternalError>(
        "this tape was asked for gradients before; make it persistent to ask again");
  }
  if (!seeds.empty() && seeds.size() != targets.size()) {
    fail("there are ", targets.size(), " targets and ", seeds.size(), " output gradients");
  }
  // What the definitions run now may be recorded too, on a persistent tape: after these.
  const size_t count = entries_.size();
  Walk walk(num_slots_, count);
  std::vector<int32_t> slots, target_slots;
  for (uint64_t id : sources) {
    slots.push_back(id == 0 ? -1 : ids_.find(id));
    if (slots.back() >= 0) walk.add_source(slots.back());
  }
  walk.reach(entries_);
  for (const Tensor& target : targets) {
    const uint64_t id = target.impl()->id.load(std::memory_order_relaxed);
    target_slots.push_back(id == 0 ? -1 : ids_.find(id));
  }
  const auto defer = [&] {
    Question question{targets, sources, source_tensors, seeds,
                      connections(entries_, count, num_slots_, target_slots, slots)};
    if (!options_.persistent) end_many(false);
    return upcalls.defer_gradient(question);
  };
  const bool is_traced = is_any_symbolic(targets);
  if (is_traced && has_unknown_sizes(entries_, count, walk)) return defer();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!walk.is_reached(target_slots[i])) continue;
    const bool is_seeded = !seeds.empty() && seeds[i];
    if (is_seeded) check_seed(seeds[i], targets[i]);
    walk.add(target_slots[i], {is_seeded ? seeds[i] : ones_for(targets[i]), {}, {}});
  }
  used_up_ = !options_.persistent;
  if (used_up_) recording_ = false;
  try {
    // While a graph is being built nothing is kept but nodes, and the walk may have to be given up.
    const bool releases = !options_.persistent && !is_traced;
    for (size_t i = count; i-- > 0;) {
      if (!releases) {
        walk.step(i, entries_[i]);
        continue;
      }
      const Entry entry = std::move(entries_.back());
      entries_.pop_back();
      walk.step(i, entry);
    }
  } catch (const ValueUnknownError&) {
    if (!is_traced) throw;
    return defer();
  }
  if (used_up_) entries_.clear();
  std::vector<Adjoint> out(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (slots[i] < 0) continue;
    out[i] = walk.at(slots[i]);
    if (out[i].becomes_dense) {
      out[i] = {dense(std::move(out[i])), {}, {}};
    } else {
      join(out[i]);
    }
  }
  return out;
}

}  // namespace tidemark::autodiff
