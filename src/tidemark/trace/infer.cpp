#include "tidemark/trace/infer.h"

#include <algorithm>
#include <cmath>

#include "tidemark/trace/doubt.h"
#include "tidemark/trace/imagined.h"
#include "tidemark/trace/repair.h"

namespace tidemark::trace {

namespace {

using graph::Imagined;
using graph::kWorlds;

/// No op wants as many dimensions without taking any number of them.
constexpr int kRanksTried = 6;
constexpr double kMostRanksCombined = 512;

struct World {
  bool exists = false;
  std::vector<Output> outputs;
  std::vector<Tensor> values;
};

World enter(const OpCall& call, int world, size_t count) {
  World out;
  const std::vector<Tensor> inputs = inputs_in_world(call, world);
  for (const Tensor& t : inputs) {
    if (!t.shape().has_rank()) return out;
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

/// Too many sizes are unknown to find some under which the call makes sense.
class UntriedSizesError final : public ImaginedSizesError {
 public:
  using ImaginedSizesError::ImaginedSizesError;
};

std::vector<Inferred> infer_of_ranks(const OpCall& call, size_t count);

/// What holds of the outputs whatever the ranks of `open` inputs are, of those that the op takes.
std::vector<Inferred> infer_for_all_ranks(const OpCall& call, std::span<const size_t> open,
                                          size_t count) {
  if (std::pow(kRanksTried, open.size()) > kMostRanksCombined) {
    return unknown_outputs(call, count);
  }
  std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.end());
  std::vector<size_t> ranks(open.size());
  std::vector<Output> found;
  std::string refused;
  bool is_all_tried = true;
  do {
    for (size_t i = 0; i < open.size(); ++i) {
      inputs[open[i]] = stand_in_of_rank(inputs[open[i]].dtype(), static_cast<int>(ranks[i]));
    }
    try {
      std::vector<Output> one;
      for (const Inferred& output : infer_of_ranks({call.op, inputs, call.attrs}, count)) {
        one.push_back({output.dtype, output.shape});
      }
      join_into(found, one);
      const bool is_any_known = std::any_of(found.begin(), found.end(),
                                            [](const Output& o) { return o.shape.has_rank(); });
      if (!is_any_known) break;  // other ranks tell nothing more
    } catch (const UntriedSizesError&) {
      is_all_tried = false;
    } catch (const Error& error) {
      if (refused.empty()) refused = error.what();
    }
  } while (next_combination(ranks, kRanksTried));
  if (found.empty() && !is_all_tried) return unknown_outputs(call, count);
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

/// Where imagined sizes are impossible: by others that are not.
std::vector<Inferred> infer_by_repair(const OpCall& call, size_t count, const Error& refusal) {
  std::vector<Output> found;
  switch (find_sizes(call, count, found)) {
    case Found::something:
      return from_outputs(std::move(found));
    case Found::untried:
      throw UntriedSizesError(refusal.what());
    case Found::nothing:
      break;
  }
  if (refusal.code() != Code::invalid_argument) throw;
  throw ImaginedSizesError(refusal.what());
}

/// All ranks are known.
std::vector<Inferred> infer_of_ranks(const OpCall& call, size_t count) {
  World worlds[kWorlds];
  try {
    for (int w = 0; w < kWorlds; ++w) {
      try {
        worlds[w] = enter(call, w, count);
      } catch (const ValueUnknownError&) {
        throw;
      } catch (const Error& error) {
        if (w < 2) return infer_by_repair(call, count, error);
      }
    }
  } catch (const ValueUnknownError&) {
    return unknown_outputs(call, count);
  }
  if (!worlds[0].exists || !worlds[1].exists) return unknown_outputs(call, count);
  const bool truth_varies =
      std::any_of(call.inputs.begin(), call.inputs.end(), has_varying_elements);
  std::vector<Inferred> out = join(worlds, count, truth_varies);
  doubt(call, out);
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
  const bool plain = std::none_of(call.inputs.begin(), call.inputs.end(), has_worlds) &&
                     !joins_parts_of_a_shape(call);
  try {
    if (const auto open = inputs_of_unknown_rank(call); !open.empty()) {
      return infer_for_all_ranks(call, open, num_outputs);
    }
    return plain ? infer_plain(call, num_outputs) : infer_of_ranks(call, num_outputs);
  } catch (const UntriedSizesError&) {
    return unknown_outputs(call, num_outputs);
  } catch (const ValueUnknownError&) {
    return unknown_outputs(call, num_outputs);
  }
}

}  // namespace tidemark::trace
