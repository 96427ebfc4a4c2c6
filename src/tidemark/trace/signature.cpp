#include "tidemark/trace/signature.h"

namespace tidemark::trace {

Argument Argument::any_tensor(DType dtype, const Shape& shape, std::string name) {
  Argument out;
  out.kind_ = Kind::tensor;
  out.dtype_ = dtype;
  out.shape_ = shape;
  out.name_ = std::move(name);
  return out;
}

Argument Argument::any_number(DType dtype) {
  Argument out;
  out.kind_ = Kind::number;
  out.dtype_ = dtype;
  return out;
}

Argument Argument::exactly(std::unique_ptr<const Value> value, DType number) {
  Argument out;
  out.dtype_ = number;
  out.value_ = std::move(value);
  return out;
}

Argument::Argument(const Argument& other)
    : kind_(other.kind_),
      dtype_(other.dtype_),
      shape_(other.shape_),
      name_(other.name_),
      value_(other.value_ ? other.value_->copy() : nullptr) {}

Argument& Argument::operator=(Argument other) noexcept {
  kind_ = other.kind_;
  dtype_ = other.dtype_;
  shape_ = std::move(other.shape_);
  name_ = std::move(other.name_);
  value_ = std::move(other.value_);
  return *this;
}

std::optional<Argument> Argument::joined(const Argument& other) const {
  if (kind_ == Kind::tensor) {
    if (other.kind_ != Kind::tensor || dtype_ != other.dtype_) return {};
    const Shape both = common_shape(shape_, other.shape_);
    if (!both.has_rank()) return {};
    return any_tensor(dtype_, both);
  }
  if (number() == DType::invalid || number() != other.number()) return {};
  return any_number(dtype_);
}

bool Argument::operator==(const Argument& other) const {
  if (kind_ != other.kind_) return false;
  if (kind_ == Kind::value) return is(*other.value_);
  return dtype_ == other.dtype_ && shape_ == other.shape_;
}

}  // namespace tidemark::trace
