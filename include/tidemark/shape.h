// Sizes of the dimensions of a tensor.
//
//   td::Shape s{2, 3};
//   s.rank();                  // 2
//   s.num_elements();          // 6
//   s.to_string();             // "(2, 3)"
//
// While a function is traced a dimension, or the rank itself, may be unknown. Tensors that hold
// values always have a fully known shape.
#pragma once

#include <tidemark/error.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>

namespace tidemark {

/// A dimension whose size is not known yet.
inline constexpr int64_t kUnknownDim = -1;

class TIDEMARK_API Shape {
 public:
  static constexpr int kMaxRank = 254;

  Shape() noexcept : heap_(nullptr), rank_(0) {}
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  Shape(const Shape& other) : Shape() { *this = other; }
  Shape(Shape&& other) noexcept { steal(other); }
  Shape& operator=(const Shape& other) {
    if (other.rank_ <= kInline && rank_ <= kInline) {
      rank_ = other.rank_;
      std::memcpy(inline_, other.inline_, sizeof(inline_));
    } else if (this != &other) {
      copy_slow(other);
    }
    unknown_rank_ = other.unknown_rank_;
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~Shape() { release(); }

  /// A shape about which nothing is known.
  static Shape unknown() {
    Shape s;
    s.unknown_rank_ = true;
    return s;
  }
  /// `rank` dimensions, all of the given size.
  static Shape filled(int rank, int64_t size);

  bool has_rank() const noexcept { return !unknown_rank_; }
  int rank() const noexcept { return rank_; }
  int64_t operator[](int i) const noexcept { return data()[i]; }
  int64_t& operator[](int i) noexcept { return data()[i]; }
  /// dims()[axis], where a negative axis counts from the end. The axis must be in range.
  int64_t dim(int axis) const noexcept { return data()[axis < 0 ? axis + rank_ : axis]; }

  const int64_t* data() const noexcept { return rank_ <= kInline ? inline_ : heap_; }
  int64_t* data() noexcept { return rank_ <= kInline ? inline_ : heap_; }
  std::span<const int64_t> dims() const noexcept { return {data(), size_t(rank_)}; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + rank_; }

  bool is_fully_known() const noexcept;
  /// Product of the dimensions; 1 for a scalar. Throws InvalidArgumentError when it does not fit
  /// in an int64 or a dimension is unknown or negative.
  int64_t num_elements() const;

  void push_back(int64_t dim);
  void insert(int position, int64_t dim);
  void erase(int position);

  bool operator==(const Shape& other) const noexcept {
    if (rank_ != other.rank_ || unknown_rank_ != other.unknown_rank_) return false;
    const int64_t* a = data();
    const int64_t* b = other.data();
    for (int i = 0; i < rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

  /// "()", "(3,)", "(2, None)", "<unknown>": as TensorFlow prints it.
  std::string to_string() const;
  /// "[2,3]": as TensorFlow's error messages print it.
  std::string to_brackets() const;

 private:
  static constexpr int kInline = 6;

  void steal(Shape& other) noexcept {
    std::memcpy(static_cast<void*>(this), &other, sizeof(Shape));
    other.rank_ = 0;
  }
  void release() noexcept {
    if (rank_ > kInline) delete[] heap_;
  }
  void copy_slow(const Shape& other);

  union {
    int64_t inline_[kInline];
    int64_t* heap_;  // owned, rank_ entries, when rank_ > kInline
  };
  uint8_t rank_;
  bool unknown_rank_ = false;
};

/// The shape both broadcast to, by NumPy's rule; unknown dimensions stay unknown unless the other
/// side decides them. Throws InvalidArgumentError naming both shapes when they do not fit.
TIDEMARK_API Shape broadcast_shapes(const Shape& a, const Shape& b);

/// axis counted from the front; throws InvalidArgumentError unless -rank <= axis < rank.
TIDEMARK_API int normalize_axis(int64_t axis, int rank, std::string_view what = "axis");

}  // namespace tidemark
