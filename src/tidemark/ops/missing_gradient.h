// What is thrown where a gradient is asked for that has a derivative but no definition.
#pragma once

#include <tidemark/error.h>

namespace tidemark {

/// In Python also a LookupError: TensorFlow looks gradients up in a registry.
class TIDEMARK_API MissingGradientError : public UnimplementedError {
 public:
  using UnimplementedError::UnimplementedError;
};

}  // namespace tidemark
