// Facts about an op, for a layer that comes before the definitions.
#pragma once

#include <tidemark/export.h>

#include <string>

namespace tidemark {

class OpDef;

namespace graph {

// Defined beside OpDef.
TIDEMARK_API const std::string& op_name(const OpDef& op);
/// Not a pure function of its inputs.
TIDEMARK_API bool op_is_stateful(const OpDef& op);

}  // namespace graph
}  // namespace tidemark
