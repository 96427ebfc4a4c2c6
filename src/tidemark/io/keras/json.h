// JSON of files that Keras wrote, as values to look into.
//
//   Json config = read_json(path, bytes);
//   int64_t units = config.at("config").at("units").as_int();
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark::io::keras {

/// Asking for another kind than is there, or for a member that is missing, throws DataLossError.
class Json {
 public:
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;
  using Value = std::variant<std::nullptr_t, bool, double, std::string, List, Object>;

  Json() = default;
  template <class T>
  static Json of(T value) {
    Json out;
    out.value_.template emplace<T>(std::move(value));
    return out;
  }

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_number() const { return std::holds_alternative<double>(value_); }
  bool as_bool() const { return get<bool>("true or false"); }
  double as_real() const { return get<double>("a number"); }
  int64_t as_int() const;
  const std::string& as_text() const { return get<std::string>("a text"); }
  const List& as_list() const { return get<List>("a list"); }
  const Object& as_object() const { return get<Object>("an object"); }
  /// Null: it has no such member.
  const Json* find(std::string_view name) const;
  const Json& at(std::string_view name) const;

 private:
  [[noreturn]] static void fail_kind(std::string_view wanted);
  template <class T>
  const T& get(std::string_view wanted) const {
    const T* found = std::get_if<T>(&value_);
    if (!found) fail_kind(wanted);
    return *found;
  }

  Value value_ = nullptr;
};

/// Throws DataLossError for what is no JSON, or deeper than a model is.
Json read_json(const std::string& path, std::string_view text);

}  // namespace tidemark::io::keras
