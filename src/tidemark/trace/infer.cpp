#include "tidemark/trace/infer.h"

#include <algorithm>
#include <cmath>

#include "tidemark/exec/eager.h"
#include "tidemark/tensor/kept_for_runs.h"

namespace tidemark::trace {

namespace {

using graph::Imagined;
using graph::kWorlds;

/// Sizes with many divisors, so that splitting and folding dimensions works out; the last is below
/// every limit that a program may set (`x[:5]`), and much is impossible in its world.
constexpr int64_t kSizes[kWorlds] = {720, 5040, 1};
constexpr int64_t kMostKnownElements = 32;
constexpr double kMostCombinations = 256;
/// No op wants more dimensions than this without taking any number of them.
constexpr int kRanksTried = 7;

struct Output {
  DType dtype = DType::invalid;
  Shape shape;
};

/// A tensor of this shape without elements; asking for them throws ValueUnknownError.
Tensor stand_in(DType dtype, const Shape& shape) {
  auto impl = std::make_unique<graph::SymbolicImpl>();
  impl->dtype = dtype;
  impl->is_symbolic = true;
  impl->shape = shape;
  impl->num_elements = shape.is_fully_known() ? shape.num_elements() : 0;
  return Tensor::adopt(impl.release());
}

Shape in_world(const Shape& shape, int world) {
  Shape out = shape;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] < 0) out[i] = kSizes[world];
  }
  return out;
}

Tensor input_in_world(const Tensor& t, int world) {
  if (!t.is_symbolic()) return t;
  const Imagined* imagined = graph::symbolic(t).imagined.get();
  if (!imagined) return t;
  if (imagined->value[world]) return imagined->value[world];
  return stand_in(t.dtype(), imagined->shape[world]);
}

std::vector<Output> run_rule(const OpCall& call, std::span<const Tensor> inputs, size_t count) {
  const OpCall imagined{call.op, inputs, call.attrs};
  InferContext context(imagined, static_cast<int>(count));
  call.op.shape_rule()(context);
  std::vector<Output> out(count);
  for (size_t i = 0; i < count; ++i) {
    const auto& said = context.output(static_cast<int>(i));
    out[i] = {said.dtype, said.shape};
    if (out[i].shape.has_rank() && call.op.has_rows_from_values(static_cast<int>(i))) {
      const int axis = call.op.attr_index("axis");
      const Attr* at = axis < 0 ? nullptr : &call.attrs[static_cast<size_t>(axis)];
      const int64_t which = at && !at->is_none() ? at->as_int() : 0;
      out[i].shape[static_cast<int>(which < 0 ? which + inputs[0].rank() : which)] = kUnknownDim;
    }
  }
  return out;
}

/// Elements of small integer outputs, when those of all inputs are known in this world. Ops that
/// tell a shape need no elements.
std::vector<Tensor> run_small(const OpCall& call, std::span<const Tensor> inputs,
                              const std::vector<Output>& outputs) {
  if (call.op.is_stateful() || call.op.is_heavy()) return {};
  for (const Output& out : outputs) {
    if (!(is_integer(out.dtype) || out.dtype == DType::bool_) || !out.shape.is_fully_known() ||
        out.shape.num_elements() > kMostKnownElements) {
      return {};
    }
  }
  const bool tells_shape = call.op.is_about_shape();
  for (const Tensor& t : inputs) {
    if (tells_shape ? !t.shape().is_fully_known()
                    : t.is_symbolic() || t.num_elements() > 4 * kMostKnownElements) {
      return {};
    }
  }
  std::vector<Tensor> values(outputs.size());
  try {
    exec::run_eager({call.op, inputs, call.attrs}, values);
  } catch (const Error&) {
    return {};  // the run itself will say what is wrong
  }
  for (const Tensor& t : values) kept_for_runs(t);  // the graph's, as long as it lives
  return values;
}

struct World {
  bool exists = false;
  std::vector<Output> outputs;
  std::vector<Tensor> values;
};

World enter(const OpCall& call, int world, size_t count) {
  World out;
  std::vector<Tensor> inputs;
  for (const Tensor& t : call.inputs) {
    inputs.push_back(input_in_world(t, world));
    if (!inputs.back().shape().has_rank()) return out;
  }
  out.outputs = run_rule(call, inputs, count);
  for (Output& o : out.outputs) o.shape = in_world(o.shape, world);
  out.values = run_small(call, inputs, out.outputs);
  out.exists = true;
  return out;
}

/// A tensor of this rank of which nothing else is known.
Tensor stand_in_of_rank(DType dtype, int rank) {
  const Shape shape = Shape::filled(rank, kUnknownDim);
  Tensor out = stand_in(dtype, shape);
  graph::symbolic(out).imagined = imagine(shape);
  return out;
}

bool has_worlds(const Tensor& t) { return t.is_symbolic() && graph::symbolic(t).imagined; }

/// Sizes that an unknown one may have for the call to make sense: 1, those of other dimensions,
/// numbers among the attributes, and what small integer inputs say (a shape to reshape to), their
/// product too.
Ints sizes_seen(const OpCall& call) {
  Ints out{1};
  const auto add = [&](int64_t d) {
    if (d > 1 && std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
  };
  for (size_t i = 0; i < call.attrs.size(); ++i) {
    const Param& param = call.op.params()[static_cast<size_t>(call.op.attrs()[i])];
    const bool is_number = param.attr_kind == AttrKind::integer && !call.attrs[i].is_none();
    if (is_number) add(call.attrs[i].as_int());
  }
  for (const Tensor& t : call.inputs) {
    for (int64_t d : t.shape()) add(d);
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

/// What holds of both; all of `more` where nothing was found before.
void join_into(std::vector<Output>& found, const std::vector<Output>& more) {
  if (found.empty()) {
    found = more;
    return;
  }
  for (size_t i = 0; i < more.size(); ++i) {
    found[i].shape = common_shape(found[i].shape, more[i].shape);
  }
}

/// Counts up in the given base, from all 0; false: all have come up.
bool next_combination(std::vector<size_t>& digits, size_t base) {
  for (size_t& digit : digits) {
    if (++digit < base) return true;
    digit = 0;
  }
  return false;
}

/// Looks for sizes in place of unknown ones under which a call makes sense. What the rule then says
/// holds, but for what differs between two worlds: that came from sizes that nobody knows.
class Repair {
 public:
  Repair(const OpCall& call, size_t count) : call_(call), count_(count) { start_anew(); }

  bool find(std::vector<Output>& out) {
    // Only these put every dimension beside the one that lies across from it.
    if (call_.op.is_elementwise() && try_aligned(out)) return true;
    return try_one(out) || try_all(out) || try_aligned(out);
  }

 private:
  static constexpr int kTried = 2;  // worlds; in the third much is impossible

  void start_anew() {
    for (int w = 0; w < kTried; ++w) {
      inputs_[w].clear();
      for (const Tensor& t : call_.inputs) inputs_[w].push_back(input_in_world(t, w));
    }
  }

  void set(const Unknown& one, int64_t size) {
    for (std::vector<Tensor>& inputs : inputs_) {
      Tensor& input = inputs[one.input];
      Shape shape = input.shape();
      shape[one.dim] = size;
      input = stand_in(input.dtype(), shape);
    }
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

  /// All of them at once, in all combinations if those are few: what those that work agree in
  /// holds.
  bool try_all(std::vector<Output>& out) {
    if (std::pow(candidates_.size(), unknown_.size()) > kMostCombinations) return false;
    start_anew();
    std::vector<size_t> chosen(unknown_.size());
    std::vector<Output> found;
    while (next_combination(chosen, candidates_.size())) {
      for (size_t u = 0; u < unknown_.size(); ++u) set(unknown_[u], candidates_[chosen[u]]);
      if (attempt(out)) join_into(found, out);
    }
    out = std::move(found);
    return !out.empty();
  }

  const OpCall& call_;
  size_t count_;
  const Ints candidates_ = sizes_seen(call_);
  const std::vector<Unknown> unknown_ = unknown_sizes(call_);
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

std::vector<Inferred> from_outputs(std::vector<Output>&& outputs) {
  std::vector<Inferred> out;
  for (Output& o : outputs) {
    out.push_back({o.dtype, o.shape, imagine(o.shape)});
  }
  return out;
}

/// Nothing but the dtypes is known: the rule needs values that only a run can tell.
std::vector<Inferred> unknown_outputs(const OpCall& call, size_t count) {
  std::vector<Output> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = {call.op.declared_output_dtype(static_cast<int>(i), call), Shape::unknown()};
    if (out[i].dtype == DType::invalid) out[i].dtype = call.inputs[0].dtype();
  }
  return from_outputs(std::move(out));
}

std::vector<size_t> inputs_of_unknown_rank(const OpCall& call) {
  std::vector<size_t> out;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    if (!call.inputs[k].shape().has_rank()) out.push_back(k);
  }
  return out;
}

/// What holds of the outputs whatever the ranks of `open` inputs are, of those that the op takes.
std::vector<Inferred> infer_for_all_ranks(const OpCall& call, std::span<const size_t> open,
                                          size_t count) {
  if (std::pow(kRanksTried, open.size()) > kMostCombinations * 2) {
    return unknown_outputs(call, count);
  }
  std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.end());
  std::vector<size_t> ranks(open.size());
  std::vector<Output> found;
  std::string refused;
  do {
    for (size_t i = 0; i < open.size(); ++i) {
      inputs[open[i]] = stand_in_of_rank(inputs[open[i]].dtype(), static_cast<int>(ranks[i]));
    }
    try {
      std::vector<Output> one;
      for (const Inferred& output : infer({call.op, inputs, call.attrs}, count)) {
        one.push_back({output.dtype, output.shape});
      }
      join_into(found, one);
      const bool is_any_known = std::any_of(found.begin(), found.end(),
                                            [](const Output& o) { return o.shape.has_rank(); });
      if (!is_any_known) break;  // other ranks tell nothing more
    } catch (const Error& error) {
      refused = error.what();
    }
  } while (next_combination(ranks, kRanksTried));
  if (found.empty() && count > 0) throw ImaginedSizesError(refused);
  return from_outputs(std::move(found));
}

/// All worlds are one: every shape is fully known.
std::vector<Inferred> infer_plain(const OpCall& call, size_t count) {
  std::vector<Output> outputs = run_rule(call, call.inputs, count);
  std::vector<Tensor> values = run_small(call, call.inputs, outputs);
  std::vector<Inferred> out = from_outputs(std::move(outputs));
  for (size_t i = 0; i < values.size(); ++i) out[i].imagined = imagine_value(values[i]);
  return out;
}

/// Whether something that depends on unknown sizes goes into the call as elements.
bool has_sizes_as_values(const OpCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(), [](const Tensor& t) {
    return has_worlds(t) && graph::symbolic(t).imagined->value[0] && !graph::known_value(t);
  });
}

/// `truth_varies`: that a question about sizes is answered alike in all worlds proves nothing.
std::vector<Inferred> join(World (&worlds)[kWorlds], size_t count, bool truth_varies) {
  std::vector<Inferred> out(count);
  for (size_t i = 0; i < count; ++i) {
    Inferred& joined = out[i];
    joined.dtype = worlds[0].outputs[i].dtype;
    joined.imagined = std::make_unique<Imagined>();
    bool has_value = true;
    for (int w = 0; w < kWorlds; ++w) {
      const World& world = worlds[w].exists ? worlds[w] : worlds[0];
      const Shape& shape = world.outputs[i].shape;
      joined.shape = w == 0 ? shape : common_shape(joined.shape, shape);
      joined.imagined->shape[w] = worlds[w].exists ? shape : Shape::unknown();
      has_value &= !worlds[w].values.empty();
    }
    if (truth_varies && joined.dtype == DType::bool_) has_value = false;
    for (int w = 0; has_value && w < kWorlds; ++w) {
      joined.imagined->value[w] = std::move(worlds[w].values[i]);
    }
    if (joined.shape.is_fully_known() && !has_value) joined.imagined.reset();
    if (!joined.shape.has_rank()) joined.imagined = imagine(joined.shape);
  }
  return out;
}

}  // namespace

Shape common_shape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i]) out[i] = kUnknownDim;
  }
  return out;
}

bool is_within(const Shape& given, const Shape& declared) {
  if (!declared.has_rank()) return true;
  if (!given.has_rank() || given.rank() != declared.rank()) return false;
  for (int i = 0; i < given.rank(); ++i) {
    if (declared[i] >= 0 && declared[i] != given[i]) return false;
  }
  return true;
}

std::unique_ptr<Imagined> imagine(const Shape& shape) {
  if (shape.is_fully_known()) return {};
  auto out = std::make_unique<Imagined>();
  if (!shape.has_rank()) {
    for (Shape& world : out->shape) world = shape;
    return out;
  }
  for (int w = 0; w < kWorlds; ++w) out->shape[w] = in_world(shape, w);
  return out;
}

void narrow(const Tensor& t, const Shape& shape) {
  if (!shape.has_rank()) return;
  detail::TensorImpl& impl = *t.impl();
  Shape both = impl.shape.has_rank() ? impl.shape : Shape::filled(shape.rank(), kUnknownDim);
  bool fits = both.rank() == shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) {
    fits = both[i] < 0 || shape[i] < 0 || both[i] == shape[i];
    if (both[i] < 0) both[i] = shape[i];
  }
  if (!fits) fail("a tensor of shape ", impl.shape, " cannot have shape ", shape);
  if (!impl.is_symbolic || both == impl.shape) return;
  graph::SymbolicImpl& symbolic = graph::symbolic(t);
  const bool had_rank = impl.shape.has_rank();
  impl.shape = both;
  if (both.is_fully_known()) impl.num_elements = both.num_elements();
  if (!symbolic.imagined) return;
  for (int w = 0; w < kWorlds; ++w) {
    Shape& world = symbolic.imagined->shape[w];
    if (!had_rank || !world.has_rank()) world = in_world(both, w);
    for (int i = 0; i < both.rank(); ++i) {
      if (both[i] >= 0) world[i] = both[i];
    }
    if (symbolic.imagined->value[w] && !(symbolic.imagined->value[w].shape() == world)) {
      symbolic.imagined->value[w] = Tensor();
    }
  }
}

std::unique_ptr<Imagined> imagine_value(const Tensor& value) {
  if (!(is_integer(value.dtype()) || value.dtype() == DType::bool_) ||
      value.num_elements() > kMostKnownElements) {
    return {};
  }
  auto out = std::make_unique<Imagined>();
  for (int w = 0; w < kWorlds; ++w) {
    out->shape[w] = value.shape();
    out->value[w] = value;
  }
  return out;
}

std::vector<Inferred> infer(const OpCall& call, size_t num_outputs) {
  const bool plain = std::none_of(call.inputs.begin(), call.inputs.end(), has_worlds);
  try {
    if (const auto open = inputs_of_unknown_rank(call); !open.empty()) {
      return infer_for_all_ranks(call, open, num_outputs);
    }
    if (plain) return infer_plain(call, num_outputs);
    World worlds[kWorlds];
    for (int w = 0; w < kWorlds; ++w) {
      try {
        worlds[w] = enter(call, w, num_outputs);
      } catch (const ValueUnknownError&) {
        throw;
      } catch (const Error& error) {
        if (w == 2) continue;
        std::vector<Output> found;
        // Large sizes first: where those will do, a size that others have is no better than any.
        if (!found_when_large(call, num_outputs, found)) {
          found.clear();
          if (!Repair(call, num_outputs).find(found)) {
            if (error.code() != Code::invalid_argument) throw;
            throw ImaginedSizesError(error.what());
          }
        }
        return from_outputs(std::move(found));
      }
    }
    if (!worlds[0].exists || !worlds[1].exists) return unknown_outputs(call, num_outputs);
    return join(worlds, num_outputs, has_sizes_as_values(call));
  } catch (const ValueUnknownError&) {
    return unknown_outputs(call, num_outputs);
  }
}

}  // namespace tidemark::trace
