#include "tidemark/io/keras/json.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "tidemark/io/input_file.h"

namespace tidemark::io::keras {

int64_t Json::as_int() const {
  const double number = as_real();
  if (number != std::floor(number) || std::abs(number) > 9e15) fail_kind("a whole number");
  return static_cast<int64_t>(number);
}

const Json* Json::find(std::string_view name) const {
  const Object& members = as_object();
  const auto found = members.find(name);
  return found == members.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view name) const {
  const Json* found = find(name);
  if (!found)
    fail<DataLossError>("the model's description has no \"", name, "\" where one belongs");
  return *found;
}

void Json::fail_kind(std::string_view wanted) {
  fail<DataLossError>("the model's description has something else where ", wanted, " belongs");
}

namespace {

class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  Json whole() {
    Json out = value(0);
    skip_space();
    if (!rest_.empty()) damaged();
    return out;
  }

 private:
  static constexpr int kDeepest = 100;

  [[noreturn]] void damaged() const { fail_damaged(path_, "its description is no JSON"); }
  void skip_space() {
    const size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(start, rest_.size()));
  }
  bool take(std::string_view text) {
    skip_space();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void need(std::string_view text) {
    if (!take(text)) damaged();
  }

  Json value(int depth) {
    if (depth > kDeepest) damaged();
    if (take("null")) return Json();
    if (take("true")) return Json::of(true);
    if (take("false")) return Json::of(false);
    if (take("NaN")) return Json::of(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return Json::of(std::numeric_limits<double>::infinity());
    if (take("-Infinity")) return Json::of(-std::numeric_limits<double>::infinity());
    skip_space();
    if (rest_.empty()) damaged();
    if (rest_.front() == '"') return Json::of(text());
    if (take("[")) return list(depth);
    if (take("{")) return object(depth);
    return number();
  }
  Json number() {
    double out = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc()) damaged();
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return Json::of(out);
  }
  Json list(int depth) {
    Json::List out;
    if (take("]")) return Json::of(std::move(out));
    do {
      out.push_back(value(depth + 1));
    } while (take(","));
    need("]");
    return Json::of(std::move(out));
  }
  Json object(int depth) {
    Json::Object out;
    if (take("}")) return Json::of(std::move(out));
    do {
      skip_space();
      std::string name = text();
      need(":");
      out.insert_or_assign(std::move(name), value(depth + 1));
    } while (take(","));
    need("}");
    return Json::of(std::move(out));
  }
  std::string text() {
    need("\"");
    std::string out;
    for (;;) {
      if (rest_.empty()) damaged();
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return out;
      out += c == '\\' ? escaped() : std::string(1, c);
    }
  }
  /// Names of Keras are ASCII but for what users write: code points beyond are kept as UTF-8.
  std::string escaped() {
    if (rest_.empty()) damaged();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (const size_t at = kFrom.find(c); at != std::string_view::npos) return {kTo[at]};
    uint32_t code = 0;
    if (c != 'u' || rest_.size() < 4) damaged();
    if (std::from_chars(rest_.data(), rest_.data() + 4, code, 16).ptr != rest_.data() + 4) {
      damaged();
    }
    rest_.remove_prefix(4);
    if (code < 0x80) return {static_cast<char>(code)};
    const auto tail = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
    if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(code)};
    return {static_cast<char>(0xE0 | code >> 12), tail(code >> 6), tail(code)};
  }

  const std::string& path_;
  std::string_view rest_;
};

}  // namespace

Json read_json(const std::string& path, std::string_view text) {
  return Reader(path, text).whole();
}

}  // namespace tidemark::io::keras
