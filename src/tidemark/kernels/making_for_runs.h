// MakingForRuns: tells caches of kernels that what is made now will be asked for again.
#pragma once

namespace tidemark {

/// While one is alive, what this thread makes is for runs to come.
class MakingForRuns {
 public:
  MakingForRuns() { ++depth_; }
  ~MakingForRuns() { --depth_; }
  MakingForRuns(const MakingForRuns&) = delete;
  static bool is_on() { return depth_ > 0; }

 private:
  inline static thread_local int depth_ = 0;
};

}  // namespace tidemark
