// An error of a run, with the node that raised it and the line that made the node.
#pragma once

#include "tidemark/session/session.h"

namespace tidemark::session {

/// Throws an error of the same type; exec::failed_step says where the run stopped.
[[noreturn]] void throw_naming_node(const Error& error, const Request& request);

}  // namespace tidemark::session
