// How many rows a kernel will make that makes as many as values say.
//
// On the CPU such a kernel gets room for the most there may be, and tells how many rows are real.
// Where an accelerator has one, its rows are counted first, and the host, which waits for nothing
// but that number, makes outputs of the right size.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark {

/// Counts the rows of what `run` makes: called with its inputs and workspace and, as the only
/// output, an int64 on the device. What it leaves in the workspace is there when `run` is called.
/// Once for each kernel, while the library is loaded.
bool register_row_count(KernelRun run, KernelRun count);

/// Null: the kernel has none.
KernelRun row_count_of(const Kernel& kernel);

/// The shape of an output whose rows were counted.
Shape with_rows(const OpCall& call, Shape shape, int64_t rows);

}  // namespace tidemark
