// Attr: what an op is told beside its tensors.
//
//   td::Attr axis = td::Ints{0, 1};
//   axis.kind();               // AttrKind::ints
//   axis.to_string();          // "[0, 1]"
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/error.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark {

using Ints = std::vector<int64_t>;

enum class AttrKind : uint8_t { boolean, integer, real, dtype, string, ints };

/// The value of an attribute: fixed when the op is called, never a tensor.
class TIDEMARK_API Attr {
 public:
  Attr() = default;  // none
  Attr(bool value) : value_(value) {}
  Attr(int value) : value_(static_cast<int64_t>(value)) {}
  Attr(int64_t value) : value_(value) {}
  Attr(double value) : value_(value) {}
  Attr(DType value) : value_(value) {}
  Attr(const char* value) : value_(std::string(value)) {}
  Attr(std::string value) : value_(std::move(value)) {}
  Attr(Ints value) : value_(std::move(value)) {}
  Attr(std::nullopt_t) {}
  template <class T>
  Attr(const std::optional<T>& value) {
    if (value) *this = Attr(*value);
  }

  /// Of a value that is not none.
  AttrKind kind() const { return static_cast<AttrKind>(value_.index() - 1); }
  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  bool as_bool() const { return std::get<bool>(value_); }
  int64_t as_int() const { return std::get<int64_t>(value_); }
  double as_real() const { return std::get<double>(value_); }
  DType as_dtype() const { return std::get<DType>(value_); }
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const Ints& as_ints() const { return std::get<Ints>(value_); }
  std::string to_string() const;
  bool operator==(const Attr&) const = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, DType, std::string, Ints> value_;
};

}  // namespace tidemark
