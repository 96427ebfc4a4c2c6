// What of a call's arguments a trace depends on, and which calls it fits.
//
//   Signature traced{nullptr, {Argument::any_tensor(DType::float32, {kUnknownDim, 3})}};
//   traced.accepts(nullptr, 1, [&](size_t) { return GivenTensor{x}; });   // x is (any, 3)
//
// A front end takes the arguments of a call apart into leaves. A leaf is a tensor, which counts by
// its dtype and shape, or a value of the front end's language, which counts by what it is worth or
// by which object it is. A number is a value until two of them were seen.
#pragma once

#include <tidemark/tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/trace/infer.h"

namespace tidemark::trace {

/// A value of the front end's language: compared, never looked into. Only values of one front end
/// meet.
class Value {
 public:
  virtual ~Value() = default;
  virtual std::unique_ptr<Value> copy() const = 0;
  /// Whether a trace made for this value is right for the other one.
  virtual bool is_same(const Value& other) const = 0;
  /// True: it counts by which object it is, not by what it is worth.
  virtual bool is_object() const = 0;
};

/// How leaves are put together, where they are not simply the arguments in their order.
class Structure {
 public:
  virtual ~Structure() = default;
  virtual bool is_same(const Structure& other) const = 0;
};

/// One leaf: of a call what it is, of a trace what it takes.
class TIDEMARK_API Argument {
 public:
  enum class Kind : uint8_t {
    tensor,  // any of the dtype whose shape is within the shape
    number,  // any that the dtype carries: an input of the graph
    value,   // this one
  };

  static Argument any_tensor(DType dtype, const Shape& shape, std::string name = {});
  /// `dtype`: what every number of its kind fits into, such as int64.
  static Argument any_number(DType dtype);
  /// `number`: the dtype that carries any number of its kind, if it is one.
  static Argument exactly(std::unique_ptr<const Value> value, DType number = DType::invalid);

  Argument(const Argument& other);
  Argument(Argument&&) noexcept = default;
  Argument& operator=(Argument other) noexcept;

  Kind kind() const { return kind_; }
  bool is_input() const { return kind_ != Kind::value; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// Of a tensor: what the user calls it; may be empty.
  const std::string& name() const { return name_; }
  const Value& value() const { return *value_; }

  /// Whether all that `given` may be is one of this. A `given` answers like an Argument: tensor()
  /// points to what has a dtype and a shape, or is null; number() is the dtype that carries it, or
  /// invalid; is(value) compares.
  template <class Given>
  bool accepts(const Given& given) const {
    if (kind_ == Kind::tensor) {
      const auto* t = given.tensor();
      return t && t->dtype() == dtype_ && is_within(t->shape(), shape_);
    }
    return kind_ == Kind::number ? given.number() == dtype_ : given.is(*value_);
  }
  const Argument* tensor() const { return kind_ == Kind::tensor ? this : nullptr; }
  DType number() const { return kind_ == Kind::tensor ? DType::invalid : dtype_; }
  bool is(const Value& value) const { return kind_ == Kind::value && value.is_same(*value_); }

  /// What accepts both: sizes that differ are unknown, two numbers of a kind are any number of it.
  /// Nothing where they differ in more.
  std::optional<Argument> joined(const Argument& other) const;
  /// Names do not count.
  bool operator==(const Argument& other) const;

 private:
  Argument() = default;

  Kind kind_ = Kind::value;
  DType dtype_ = DType::invalid;
  Shape shape_;
  std::string name_;
  std::unique_ptr<const Value> value_;
};

/// A tensor as what a call gives.
struct GivenTensor {
  const Tensor& given;
  const Tensor* tensor() const { return &given; }
  DType number() const { return DType::invalid; }
  bool is(const Value&) const { return false; }
};

inline bool are_same(const Structure* a, const Structure* b) {
  return a == b || (a && b && a->is_same(*b));
}

struct TIDEMARK_API Signature {
  std::shared_ptr<const Structure> structure;  // null: leaf i is argument i
  std::vector<Argument> args;                  // one a leaf

  /// Whether a trace for this fits a call of `count` leaves, of which given(i) is one: the one
  /// matcher of all front ends.
  template <class Given>
  bool accepts(const Structure* of_call, size_t count, const Given& given) const {
    if (args.size() != count || !are_same(structure.get(), of_call)) return false;
    for (size_t i = 0; i < count; ++i) {
      if (!args[i].accepts(given(i))) return false;
    }
    return true;
  }
  bool accepts(const Signature& call) const {
    return accepts(call.structure.get(), call.args.size(),
                   [&](size_t i) -> const Argument& { return call.args[i]; });
  }
  /// As many leaves, put together alike.
  bool is_like(const Signature& other) const {
    return args.size() == other.args.size() && are_same(structure.get(), other.structure.get());
  }
  bool operator==(const Signature& other) const { return is_like(other) && args == other.args; }
};

}  // namespace tidemark::trace
