#include "tidemark/ops/text/formatting.h"

#include <tidemark/error.h>

namespace tidemark::text {

PrintFormat::PrintFormat(const OpCall& call) {
  const DType dtype = call.inputs[0].dtype();
  const bool scientific = call.attr("scientific").as_bool();
  const bool shortest = call.attr("shortest").as_bool();
  const int64_t precision = call.attr("precision").as_int();
  const int64_t width = call.attr("width").as_int();
  const std::string& fill = call.attr("fill").as_string();
  constexpr int64_t kMost = 1 << 20;  // beyond it printf's own arithmetic is at its end
  const auto refuse = [](const auto&... pieces) {
    fail<InvalidArgumentError>("[as_string] ", pieces...);
  };
  if (scientific && shortest) refuse("Cannot select both scientific and shortest notation");
  if (!kInexact.contains(dtype)) {
    if (scientific || shortest) {
      refuse("scientific and shortest format not supported for datatype ", name_of(dtype));
    }
    if (precision >= 0) refuse("precision not supported for datatype ", name_of(dtype));
  }
  if (precision > kMost || width > kMost) {
    refuse("precision and width must be at most ", kMost, "; given ", precision, " and ", width);
  }
  if (fill.size() > 1) refuse("Fill string must be one or fewer characters");
  if (!fill.empty() && std::string_view(" +-0#").find(fill) == std::string_view::npos) {
    refuse("Fill argument not supported: \"", fill, "\"");
  }
  const char* conversion = shortest ? "g" : scientific ? "e" : "f";
  if (is_integer(dtype)) conversion = is_signed(dtype) ? "lld" : "llu";
  char one[64], digits[24] = "", columns[24] = "";
  if (width >= 0) std::snprintf(columns, sizeof columns, "%lld", static_cast<long long>(width));
  if (precision >= 0) {
    std::snprintf(digits, sizeof digits, ".%lld", static_cast<long long>(precision));
  }
  std::snprintf(one, sizeof one, "%%%s%s%s%s", fill.c_str(), columns, digits, conversion);
  std::snprintf(text, sizeof text, is_complex(dtype) ? "(%s,%s)" : "%s", one, one);
}

}  // namespace tidemark::text
