// The session whose run this thread is in.
#pragma once

#include "tidemark/session/session.h"

namespace tidemark::session {

/// The values of variables for the runs on this thread until the end of the scope.
class CurrentValues {
 public:
  explicit CurrentValues(std::shared_ptr<Values> values);
  ~CurrentValues();
  CurrentValues(const CurrentValues&) = delete;

 private:
  std::shared_ptr<Values> mine_;
  Values* outer_;
};

/// Throws outside of a run.
Values& current_values();

}  // namespace tidemark::session
