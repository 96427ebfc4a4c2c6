// The parameters of an op as C++ text.
#pragma once

#include <tidemark/op.h>

#include <string>

namespace opgen {

/// A name of a definition as C++ may spell it.
std::string cpp_name(const std::string& name);
/// "std::optional<Ints>".
std::string type_of(const tidemark::Param& p);
/// The default as an expression.
std::string literal(const tidemark::Param& p);
/// The first of the last parameters that all have defaults; C++ allows them only there.
size_t first_default(const tidemark::OpDef& op);
/// "const Tensor& x, Ints axis = Ints{}", of the parameters before `end`.
std::string parameters(const tidemark::OpDef& op, bool with_defaults, size_t end);
std::string result_type(const tidemark::OpDef& op);
bool has_one_output(const tidemark::OpDef& op);

}  // namespace opgen
