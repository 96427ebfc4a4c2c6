#include "tidemark/base/attached.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>

#include <string>

namespace tidemark {
namespace {

class Counting final : public Observer {
 public:
  void op_ended(const char* op, uint64_t) noexcept override { last = op; }
  std::string last;
};

void tell(const char* op) {
  for_each_observer([&](Observer& observer) { observer.op_ended(op, 0); });
}

TEST(Attached, ObserversSeeWhatHappensWhileTheyAreAttached) {
  static Counting one, two;
  EXPECT_FALSE(is_observed());
  attach(one);
  attach(two);
  attach(two);  // once is enough
  EXPECT_TRUE(is_observed());
  tell("add");
  EXPECT_EQ(one.last, "add");
  EXPECT_EQ(two.last, "add");
  detach(one);
  detach(one);
  EXPECT_TRUE(is_observed());
  tell("multiply");
  EXPECT_EQ(one.last, "add");
  EXPECT_EQ(two.last, "multiply");
  detach(two);
  EXPECT_FALSE(is_observed());
}

TEST(Attached, OneObserverTooManyIsRefused) {
  static Counting all[detail::kMostObservers];
  static Counting extra;
  for (Counting& observer : all) attach(observer);
  EXPECT_THROW(attach(extra), InternalError);
  detach(all[1]);
  attach(extra);
  tell("add");
  EXPECT_EQ(extra.last, "add");
  for (Counting& observer : all) detach(observer);
  detach(extra);
  EXPECT_FALSE(is_observed());
}

int held = 1;

TEST(Attached, TheFrontEndsLockIsGivenAwayForTheTimeOfAScope) {
  { const LockGivenAway nobodys; }
  attach(FrontEnd{.give_lock_away = [] { return static_cast<void*>(&--held); },
                  .take_lock_back = [](void* token) { ++*static_cast<int*>(token); }});
  {
    const LockGivenAway none(false);
    EXPECT_EQ(held, 1);
    const LockGivenAway meanwhile;
    EXPECT_EQ(held, 0);
  }
  EXPECT_EQ(held, 1);
  attach(FrontEnd{});
}

}  // namespace
}  // namespace tidemark
