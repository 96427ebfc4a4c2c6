// What an op refuses and TensorFlow refuses before any op runs, with an error of Python's own.
#pragma once

#include <tidemark/error.h>

#include <string>

namespace tidemark {

/// A dtype that the op does not take: in graphs TensorFlow raises a TypeError.
class TIDEMARK_API RefusedDTypeError : public Error {
 public:
  explicit RefusedDTypeError(const std::string& message) : Error(Code::invalid_argument, message) {}
};

/// Shapes or values that TensorFlow's function looks at itself: it raises a ValueError.
class TIDEMARK_API RefusedValueError : public Error {
 public:
  explicit RefusedValueError(const std::string& message) : Error(Code::invalid_argument, message) {}
};

}  // namespace tidemark
