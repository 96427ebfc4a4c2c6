#include "tidemark/trace/doubt.h"

#include <algorithm>

#include "tidemark/trace/imagined.h"

namespace tidemark::trace {

namespace {

using graph::Imagined;
using graph::kWorlds;

/// More are not looked at one by one.
constexpr size_t kMostDoubted = 24;
constexpr int kWorldDoubted = 0;
/// Another size in place of kSizes[kWorldDoubted]: one that it divides, one larger than most
/// limits in programs, and none at all.
constexpr int64_t kOtherFactors[] = {2, 5040, 0};

/// One thing that nobody knows: a size of an input, or an element of a small one.
struct Unknown {
  size_t input = 0;
  int dim = 0;
  bool is_element = false;
};

std::vector<Unknown> unknowns_of(const OpCall& call) {
  std::vector<Unknown> out;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const Tensor& t = call.inputs[k];
    if (has_varying_elements(t)) {
      const Imagined& imagined = *graph::symbolic(t).imagined;
      if (!(imagined.value[0].shape() == imagined.value[1].shape())) continue;
      const auto first = imagined.value[0].to_ints(), second = imagined.value[1].to_ints();
      for (size_t e = 0; e < first.size(); ++e) {
        if (first[e] != second[e]) out.push_back({k, static_cast<int>(e), true});
      }
    } else if (has_worlds(t)) {
      for (int i = 0; i < t.rank(); ++i) {
        if (t.shape()[i] < 0) out.push_back({k, i, false});
      }
    }
  }
  return out;
}

/// The input with this one unknown multiplied; empty: impossible.
Tensor changed(const Tensor& input, const Unknown& one, int64_t factor) {
  if (!one.is_element) {
    Shape shape = input.shape();
    shape[one.dim] *= factor;
    return stand_in(input.dtype(), shape);
  }
  auto elements = input.to_ints();
  elements[static_cast<size_t>(one.dim)] *= factor;
  return tensor_of_ints(input.dtype(), elements, input.shape());
}

bool is_value_claimed(const Inferred& claim) {
  if (!claim.imagined || !claim.imagined->value[0]) return false;
  const auto& values = claim.imagined->value;
  return std::all_of(values + 1, values + kWorlds,
                     [&](const Tensor& v) { return v && v.to_ints() == values[0].to_ints(); });
}

bool is_shape_claimed(const Inferred& claim) {
  return claim.shape.has_rank() && std::any_of(claim.shape.begin(), claim.shape.end(),
                                               [](int64_t size) { return size >= 0; });
}

/// The sizes that differ from `other` are no longer known; each world has one of its own for them.
void take_back_sizes(Inferred& claim, const Shape& other) {
  const Shape left = common_shape(claim.shape, other);
  if (left == claim.shape || !claim.shape.has_rank()) return;
  if (!claim.imagined || !left.has_rank()) {
    claim.imagined = imagine(left);
  } else {
    for (int w = 0; w < kWorlds; ++w) {
      Shape& world = claim.imagined->shape[w];
      claim.imagined->value[w] = Tensor();
      for (int i = 0; world.has_rank() && i < left.rank(); ++i) {
        if (left[i] < 0 && claim.shape[i] >= 0) world[i] = kSizes[w];
      }
    }
  }
  claim.shape = left;
}

void take_back_value(Inferred& claim) {
  for (Tensor& value : claim.imagined->value) value = Tensor();
  if (claim.shape.is_fully_known()) claim.imagined.reset();
}

}  // namespace

void doubt(const OpCall& call, std::vector<Inferred>& claimed) {
  const bool any_value = std::any_of(claimed.begin(), claimed.end(), is_value_claimed);
  // Sizes that broadcast are those of an input.
  const bool any_size =
      !call.op.is_elementwise() && std::any_of(claimed.begin(), claimed.end(), is_shape_claimed);
  if (!any_value && !any_size) return;
  const std::vector<Unknown> unknowns = unknowns_of(call);
  if (unknowns.size() > kMostDoubted) return;
  std::vector<Tensor> inputs = inputs_in_world(call, kWorldDoubted);
  for (const Unknown& one : unknowns) {
    const Tensor usual = inputs[one.input];
    for (const int64_t factor : kOtherFactors) {
      try {
        inputs[one.input] = changed(usual, one, factor);
        if (!inputs[one.input]) continue;
        const std::vector<Output> said = run_rule(call, inputs, claimed.size());
        const std::vector<Tensor> values =
            any_value ? run_small(call, inputs, said) : std::vector<Tensor>();
        for (size_t i = 0; i < claimed.size(); ++i) {
          if (any_size) take_back_sizes(claimed[i], said[i].shape);
          const bool still = is_value_claimed(claimed[i]);
          if (still &&
              (values.empty() || values[i].to_ints() != claimed[i].imagined->value[0].to_ints())) {
            take_back_value(claimed[i]);
          }
        }
      } catch (const Error&) {
        // Impossible: this size follows from the others.
      }
    }
    inputs[one.input] = usual;
  }
}

}  // namespace tidemark::trace
