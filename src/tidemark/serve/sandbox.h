// A sandbox around the whole server: what a model could make the process do beyond answering is
// refused by the kernel. Linux alone.
//
//   enter_sandbox({models_folder});   // before there are threads
//   ... listen ...
//   close_sandbox();                  // before the first model is read
#pragma once

#include <string>
#include <vector>

namespace tidemark::serve {

/// From now on this thread and those it starts read files below these paths, in the system's
/// libraries and what the kernel tells of the process and the machine; no file is written.
/// Throws UnimplementedError where the kernel has no Landlock.
void enter_sandbox(const std::vector<std::string>& readable);

/// From now on all threads of the process use only the system calls that reading models and
/// answering requests take: no programs, processes, new sockets or changed files; others fail with
/// EPERM. Throws UnimplementedError where the kernel has no seccomp filters.
void close_sandbox();

}  // namespace tidemark::serve
