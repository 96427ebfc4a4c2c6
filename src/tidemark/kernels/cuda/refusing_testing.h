// Tests that have each call of a driver, and of the libraries beside it, refused in turn.
#pragma once

#include <gtest/gtest.h>
#include <tidemark/error.h>

#include <string>

#include "tidemark/kernels/cuda/testing.h"

namespace tidemark::cuda {

/// Runs `work` again and again, one call of the driver later refused each time, until none is;
/// after each, `check` is asked.
template <class Work, class Check>
int refuse_each_call(int refusal, Work work, Check check) {
  FakeDriver& fake = FakeDriver::now();
  for (int call = 1;; ++call) {
    fake.calls = 0;
    fake.refused_call = call;
    fake.refusal = refusal;
    bool is_through = false;
    try {
      is_through = work();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("gpu:0"), std::string::npos) << error.what();
    }
    const bool was_refused = fake.calls >= call;
    fake.refused_call = 0;
    check(call);
    if (!was_refused) {
      EXPECT_TRUE(is_through);
      return call - 1;
    }
  }
}

}  // namespace tidemark::cuda
