// A front end's values and structures, made up for the tests of signatures and traces.
#pragma once

#include "tidemark/trace/signature.h"

namespace tidemark::trace {

class TestValue final : public Value {
 public:
  TestValue(int64_t value, bool is_object) : value_(value), is_object_(is_object) {}
  std::unique_ptr<Value> copy() const override { return std::make_unique<TestValue>(*this); }
  bool is_same(const Value& other) const override {
    return value_ == static_cast<const TestValue&>(other).value_;
  }
  bool is_object() const override { return is_object_; }
  int64_t value() const { return value_; }

 private:
  int64_t value_;
  bool is_object_;
};

class TestStructure final : public Structure {
 public:
  explicit TestStructure(std::string name) : name_(std::move(name)) {}
  bool is_same(const Structure& other) const override {
    return name_ == static_cast<const TestStructure&>(other).name_;
  }

 private:
  std::string name_;
};

inline Argument number(int64_t value) {
  return Argument::exactly(std::make_unique<TestValue>(value, false), DType::int64);
}
/// A value that is no number.
inline Argument word(int64_t value) {
  return Argument::exactly(std::make_unique<TestValue>(value, false));
}
inline Argument object(int64_t id) {
  return Argument::exactly(std::make_unique<TestValue>(id, true));
}

}  // namespace tidemark::trace
