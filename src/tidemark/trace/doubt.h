// Claims that hold by chance alone: in each imagined world all unknown sizes are equal.
#pragma once

#include "tidemark/trace/infer.h"

namespace tidemark::trace {

/// Takes back what changes as soon as one unknown size, or one unknown element, is another while
/// all others stay: `shape(x)[0] - shape(y)[0]` is not known to be 0.
void doubt(const OpCall& call, std::vector<Inferred>& claimed);

}  // namespace tidemark::trace
