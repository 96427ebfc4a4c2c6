// An op was given a dtype that it does not take.
#pragma once

#include <tidemark/error.h>

#include <string>

namespace tidemark {

/// Front ends may tell it from other bad arguments: TensorFlow raises a TypeError in graphs.
class TIDEMARK_API RefusedDTypeError : public Error {
 public:
  explicit RefusedDTypeError(const std::string& message) : Error(Code::invalid_argument, message) {}
};

}  // namespace tidemark
