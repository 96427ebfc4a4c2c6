// What an op refuses and TensorFlow refuses before any op runs, with an error of Python's own.
#pragma once

#include <tidemark/error.h>

namespace tidemark {

/// A dtype that the op does not take: in graphs TensorFlow raises a TypeError.
class TIDEMARK_API RefusedDTypeError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

/// Shapes or values that TensorFlow's function looks at itself: it raises a ValueError.
class TIDEMARK_API RefusedValueError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

}  // namespace tidemark
