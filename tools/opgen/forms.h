// Under which names and in which ways an op can be called in C++.
//
// The op's own name takes its parameters one after the other. Each name that TensorFlow has for it
// (`.python("tf.math.reduce_mean")`) is a function of the same parameters, in a namespace for each
// part between `tf` and the last; and each of these can take what has a default as one struct, for
// designated initialisers: sum(x, {.keepdims = true}).
#pragma once

#include <tidemark/op.h>

#include <string>
#include <vector>

namespace opgen {

struct Name {
  std::string space;  // inside tidemark: "", "nn", "math::special"
  std::string name;
  /// The namespace that has the function already: it is only made visible in `space`. The same as
  /// `space`: it is a function of its own.
  std::string declared_in;
};

/// The op's own name first, then TensorFlow's; none twice.
std::vector<Name> names_of(const tidemark::OpDef& op);

/// "SumOptions"; empty: the op has no parameter with a default.
std::string options_type(const tidemark::OpDef& op);
/// The struct of that name.
std::string options_definition(const tidemark::OpDef& op);

}  // namespace opgen
