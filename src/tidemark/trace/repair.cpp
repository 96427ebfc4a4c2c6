#include "tidemark/trace/repair.h"

#include <algorithm>
#include <cmath>

#include "tidemark/trace/infer.h"

namespace tidemark::trace {

bool next_combination(std::vector<size_t>& digits, size_t base) {
  for (size_t& digit : digits) {
    if (++digit < base) return true;
    digit = 0;
  }
  return false;
}

namespace {

constexpr double kMostCombinations = 1300;

/// Sizes that an unknown one may have for the call to make sense: 1, those of other dimensions,
/// ranks, numbers among the attributes, and what small integer inputs say (a shape to reshape to),
/// their product too. Where those would be too many: sizes of other dimensions alone.
Ints sizes_seen(const OpCall& call, bool in_shapes_alone) {
  Ints out{1};
  const auto add = [&](int64_t d) {
    if (d > 1 && std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
  };
  for (const Tensor& t : call.inputs) {
    for (int64_t d : t.shape()) add(d);
  }
  if (in_shapes_alone) return out;
  for (size_t i = 0; i < call.attrs.size(); ++i) {
    const Param& param = call.op.params()[static_cast<size_t>(call.op.attrs()[i])];
    const bool is_number = param.attr_kind == AttrKind::integer && !call.attrs[i].is_none();
    if (is_number) add(call.attrs[i].as_int());
  }
  for (const Tensor& t : call.inputs) {
    add(t.rank());
    if (!is_integer(t.dtype()) || t.num_elements() > kMostKnownElements) continue;
    const Tensor known = t.is_symbolic() ? graph::known_value(t) : t;
    if (!known || known.num_elements() == 0) continue;
    int64_t product = 1;
    for (int64_t d : known.to_ints()) {
      add(d);
      product *= std::clamp<int64_t>(d, 1, 1 << 20);
      if (product > (int64_t{1} << 40)) break;
    }
    add(product);
  }
  return out;
}

/// The size that a tensor which broadcasts with input `k` has at its dimension `i`; 0: none says.
int64_t aligned_size(const OpCall& call, size_t k, int i) {
  const int from_last = call.inputs[k].rank() - i;
  for (const Tensor& other : call.inputs) {
    if (!other.shape().has_rank() || other.rank() < from_last) continue;
    const int64_t size = other.shape()[other.rank() - from_last];
    if (size > 1) return size;
  }
  return 0;
}

struct Unknown {
  size_t input = 0;
  int dim = 0;
};

std::vector<Unknown> unknown_sizes(const OpCall& call) {
  std::vector<Unknown> out;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const Shape& shape = call.inputs[k].shape();
    if (!has_worlds(call.inputs[k]) || !shape.has_rank()) continue;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) out.push_back({k, i});
    }
  }
  return out;
}

/// Looks for sizes in place of unknown ones under which a call makes sense. What the rule then says
/// holds, but for what differs between two worlds: that came from sizes that nobody knows.
class Repair {
 public:
  Repair(const OpCall& call, size_t count) : call_(call), count_(count) {
    is_complete_ = are_few();
    if (!is_complete_) candidates_ = sizes_seen(call, true);
  }

  Found find(std::vector<Output>& out) {
    // Only these put every dimension beside the one that lies across from it.
    if (call_.op.is_elementwise() && try_aligned(out)) return Found::something;
    if (try_one(out) || try_all(out) || try_aligned(out)) return Found::something;
    return is_complete_ ? Found::nothing : Found::untried;
  }

 private:
  static constexpr int kTried = 2;  // worlds; in the third much is impossible

  void start_anew() {
    for (int w = 0; w < kTried; ++w) inputs_[w] = inputs_in_world(call_, w);
  }

  void set(const Unknown& one, int64_t size) {
    for (std::vector<Tensor>& inputs : inputs_) {
      Tensor& input = inputs[one.input];
      Shape shape = input.shape();
      shape[one.dim] = size;
      input = stand_in(input.dtype(), shape);
    }
  }

  bool are_few() const {
    return std::pow(candidates_.size() + 1, unknown_.size()) <= kMostCombinations;
  }

  bool attempt(std::vector<Output>& out) {
    try {
      out = run_rule(call_, inputs_[0], count_);
      const std::vector<Output> other = run_rule(call_, inputs_[1], count_);
      for (size_t i = 0; i < count_; ++i) out[i].shape = common_shape(out[i].shape, other[i].shape);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  /// All unknown sizes replaced by those they have to have if the inputs broadcast.
  bool try_aligned(std::vector<Output>& out) {
    start_anew();
    for (const Unknown& one : unknown_) {
      if (const int64_t size = aligned_size(call_, one.input, one.dim)) set(one, size);
    }
    return attempt(out);
  }

  /// One unknown size replaced by one that others have: [None] + [5] is [5]. What all that work
  /// agree in holds; small sizes show where it does not, as a size may be the rank of the result.
  bool try_one(std::vector<Output>& out) {
    Ints sizes = candidates_;
    sizes.insert(sizes.end(), {2, 3, 4});
    for (const Unknown& one : unknown_) {
      start_anew();
      std::vector<Output> found;
      for (const int64_t size : sizes) {
        set(one, size);
        if (attempt(out)) join_into(found, out);
      }
      out = std::move(found);
      if (!out.empty()) return true;
    }
    return false;
  }

  /// All of them at once, each also left as it was imagined, in all combinations if those are few:
  /// what those that work agree in holds.
  bool try_all(std::vector<Output>& out) {
    if (!are_few()) return false;
    std::vector<size_t> chosen(unknown_.size());
    std::vector<Output> found;
    do {
      start_anew();
      for (size_t u = 0; u < unknown_.size(); ++u) {
        if (chosen[u] < candidates_.size()) set(unknown_[u], candidates_[chosen[u]]);
      }
      if (attempt(out)) join_into(found, out);
    } while (next_combination(chosen, candidates_.size() + 1));
    out = std::move(found);
    return !out.empty();
  }

  const OpCall& call_;
  size_t count_;
  const std::vector<Unknown> unknown_ = unknown_sizes(call_);
  Ints candidates_ = sizes_seen(call_, false);
  bool is_complete_ = false;
  std::vector<Tensor> inputs_[kTried];
};

/// The unknown sizes larger than any limit a rule may have (a padding by reflection takes no more
/// than the size). What both attempts agree in holds.
bool found_when_large(const OpCall& call, size_t count, std::vector<Output>& out) {
  for (const int64_t size : {kSizes[0] * 5040, kSizes[1] * 5040}) {
    try {
      std::vector<Tensor> inputs;
      for (const Tensor& t : call.inputs) {
        const Tensor known = t.is_symbolic() ? graph::known_value(t) : Tensor();
        inputs.push_back(known ? known : t);
        if (!has_worlds(t) || graph::symbolic(t).imagined->value[0]) continue;
        if (!t.shape().has_rank()) return false;
        Shape shape = t.shape();
        for (int i = 0; i < shape.rank(); ++i) shape[i] = shape[i] < 0 ? size : shape[i];
        inputs.back() = stand_in(t.dtype(), shape);
      }
      join_into(out, run_rule(call, inputs, count));
    } catch (const Error&) {
      return false;
    }
  }
  return true;
}

/// The elements as they are, and beside them tensors of which nothing is known: the sizes that a
/// shape says may be others than those that have been imagined for what it is given to.
bool found_beside_elements(const OpCall& call, size_t count, std::vector<Output>& out) {
  if (std::none_of(call.inputs.begin(), call.inputs.end(), has_varying_elements)) return false;
  try {
    for (int w = 0; w < graph::kWorlds - 1; ++w) {
      std::vector<Tensor> inputs = inputs_in_world(call, w);
      for (Tensor& t : inputs) {
        if (t.is_symbolic() && !graph::known_value(t)) t = stand_in(t.dtype(), Shape::unknown());
      }
      join_into(out, run_rule(call, inputs, count));
    }
  } catch (const Error&) {
    return false;
  }
  return std::any_of(out.begin(), out.end(), [](const Output& o) { return o.shape.has_rank(); });
}

}  // namespace

Found find_sizes(const OpCall& call, size_t count, std::vector<Output>& out) {
  // Large sizes first: where those will do, a size that others have is no better than any.
  if (found_when_large(call, count, out)) return Found::something;
  out.clear();
  const Found found = Repair(call, count).find(out);
  if (found == Found::something) return found;
  out.clear();
  return found_beside_elements(call, count, out) ? Found::something : found;
}

}  // namespace tidemark::trace
