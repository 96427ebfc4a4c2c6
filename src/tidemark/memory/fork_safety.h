#pragma once

namespace tidemark::memory {

/// Lets a child process use memory/ whatever other threads did at the fork. Called once.
void make_fork_safe();

}  // namespace tidemark::memory
