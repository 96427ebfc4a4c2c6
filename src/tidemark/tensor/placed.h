// Where values belong that the host has made: constants, first values of variables.
#pragma once

#include <tidemark/tensor.h>

namespace tidemark {

/// A value where the innermost scope wants it: of one that was made on the host a copy on the
/// scope's device, unless it belongs on the host; else the value itself.
TIDEMARK_API Tensor placed(const Tensor& value);

}  // namespace tidemark
