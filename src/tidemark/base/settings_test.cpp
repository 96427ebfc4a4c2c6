#include "tidemark/base/settings.h"

#include <tidemark/bytes.h>
#include <tidemark/error.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string_view>

namespace tidemark::settings {
namespace {

/// Sets an environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

constexpr Setting kNumber{"TIDEMARK_TEST_NUMBER", Kind::integer, "3", "A number."};
constexpr Setting kSwitch{"TIDEMARK_TEST_SWITCH", Kind::flag, "0", "A switch."};
constexpr Setting kSize{"TIDEMARK_TEST_SIZE", Kind::bytes, "", "A size."};

TEST(Settings, FallBackWhenUnsetOrEmpty) {
  EXPECT_EQ(integer(kNumber), 3);
  EXPECT_FALSE(flag(kSwitch));
  EXPECT_FALSE(bytes(kSize).has_value());
  Variable empty("TIDEMARK_TEST_NUMBER", "");
  EXPECT_EQ(integer(kNumber), 3);
}

TEST(Settings, ReadTheEnvironment) {
  Variable number("TIDEMARK_TEST_NUMBER", "17");
  Variable on("TIDEMARK_TEST_SWITCH", "on");
  Variable size("TIDEMARK_TEST_SIZE", "1.5 KiB");
  EXPECT_EQ(integer(kNumber), 17);
  EXPECT_TRUE(flag(kSwitch));
  EXPECT_EQ(bytes(kSize), 1536);
}

TEST(Settings, RefuseNonsenseByName) {
  for (const char* value : {"x", "1x", "-1", "1.5", "99999999999999999999"}) {
    Variable number("TIDEMARK_TEST_NUMBER", value);
    EXPECT_THROW(integer(kNumber), InvalidArgumentError) << value;
  }
  Variable maybe("TIDEMARK_TEST_SWITCH", "maybe");
  EXPECT_THROW(flag(kSwitch), InvalidArgumentError);
  Variable size("TIDEMARK_TEST_SIZE", "1 ton");
  try {
    bytes(kSize);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string_view(error.what()).find("TIDEMARK_TEST_SIZE=\"1 ton\""),
              std::string_view::npos);
  }
}

TEST(Settings, NameUnknownVariablesAndTheNearestKnownOne) {
  EXPECT_EQ(unknown_variables(), "");
  Variable misspelt("TIDEMARK_MEMORY_LIMITS", "1g");
  Variable known("TIDEMARK_MEMORY_LIMIT", "1g");
  EXPECT_EQ(unknown_variables(),
            "tidemark: unknown environment variable TIDEMARK_MEMORY_LIMITS, ignored; did you mean "
            "TIDEMARK_MEMORY_LIMIT?\n");
}

TEST(Settings, TableIsDocumentedAndNamedOnce) {
  std::set<std::string_view> names;
  for (const Setting* setting : table()) {
    EXPECT_TRUE(std::string_view(setting->name).starts_with("TIDEMARK_"));
    EXPECT_TRUE(names.insert(setting->name).second) << setting->name;
    EXPECT_GT(std::string_view(setting->doc).size(), 20u) << setting->name;
    if (*setting->fallback == '\0') continue;
    if (setting->kind == Kind::integer) {
      EXPECT_NO_THROW(integer(*setting));
    }
    if (setting->kind == Kind::flag) {
      EXPECT_NO_THROW(flag(*setting));
    }
  }
}

}  // namespace
}  // namespace tidemark::settings
