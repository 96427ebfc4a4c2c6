// The name of an op, for a layer that comes before the definitions.
#pragma once

#include <tidemark/export.h>

#include <string>

namespace tidemark {

class OpDef;

namespace graph {

/// Defined beside OpDef.
TIDEMARK_API const std::string& op_name(const OpDef& op);

}  // namespace graph
}  // namespace tidemark
