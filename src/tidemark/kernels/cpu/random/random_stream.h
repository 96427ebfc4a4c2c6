// Which stream a call draws from.
#pragma once

#include <tidemark/kernel.h>

#include "tidemark/base/random_state.h"

namespace tidemark::cpu {

/// The stream of a stateless call (its input "seed" or "stream", given by index), or newly reserved
/// blocks of the process's generator.
inline RandomStream stream_of(KernelContext& k, int seed_input, uint64_t blocks) {
  if (seed_input >= 0 && k.call().op.input_param(seed_input).name == "stream") {
    const uint64_t* stream = k.in<uint64_t>(seed_input);
    return {stream[0], stream[1], stream[2]};
  }
  if (seed_input >= 0) {
    const Ints seed = k.input(seed_input).to_ints();
    return stateless_stream(static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]));
  }
  const Attr& seed = k.attr("seed");
  return random_state::reserve(seed.is_none() ? std::nullopt : std::optional(seed.as_int()),
                               blocks);
}

/// Index of the input "seed" or "stream", -1 when the op draws from the generator.
inline int seed_input(KernelContext& k) {
  const OpDef& op = k.call().op;
  for (int i = 0; i < k.num_inputs(); ++i) {
    if (op.input_param(i).name == "seed" || op.input_param(i).name == "stream") return i;
  }
  return -1;
}

}  // namespace tidemark::cpu
