// Code that only compiles is not needed by the runs that follow.
#pragma once

namespace tidemark::exec {

/// To be called before and after a graph is compiled, and when it has run for the first time, which
/// is when libraries make the last of their machine code. Lets the code that did it, or traced, go
/// from resident memory; a program that compiles all the time needs it, so then ever less often.
/// Does nothing where TIDEMARK_IDLE_CODE=keep, which tells how much of a figure of resident memory
/// is due to this.
void release_idle_code();

}  // namespace tidemark::exec
