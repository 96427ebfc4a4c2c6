#include "tidemark/base/text/regex.h"

#include <tidemark/error.h>

#include "tidemark/base/plugin.h"

namespace tidemark::text {

namespace {

const TidemarkRe2Table& table() {
  static std::string& why = *new std::string;
  static const auto* const opened = static_cast<const TidemarkRe2Table*>(
      open_plugin("libtidemark_re2.so", "tidemark_re2_table", why));
  if (!opened) fail<UnimplementedError>("there are no regular expressions here, as ", why);
  return *opened;
}

}  // namespace

std::unique_ptr<const Regex> Regex::compile(std::string_view pattern) {
  char error[200];
  const TidemarkRe2Table& re2 = table();
  TidemarkRegex* compiled =
      re2.compile(pattern.data(), pattern.size(), kMaxBytes, error, sizeof error);
  if (!compiled) fail<InvalidArgumentError>("Invalid pattern: ", pattern, ", error: ", error);
  return std::make_unique<const Regex>(re2, compiled);
}

}  // namespace tidemark::text
