// Where ops run, on the standard error, in the form of TensorFlow's log_device_placement: a line
// for each op that runs by itself, and one for each step of a plan when it is made.
//
//   profile::log_placement(true);         // what any thread runs, until it is switched off
//   profile::log_placement_here(true);    // what this thread runs, until as many calls end it
//
//   Executing op matmul in device /job:localhost/replica:0/task:0/device:EMULATED:0
//   product: (matmul): /job:localhost/replica:0/task:0/device:EMULATED:0
#pragma once

#include <tidemark/export.h>

namespace tidemark::profile {

/// Throws InternalError where too many observe already.
TIDEMARK_API void log_placement(bool on);
TIDEMARK_API void log_placement_here(bool begin);

}  // namespace tidemark::profile
