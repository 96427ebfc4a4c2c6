// Tensor: a reference-counted handle to a dense, row-major block of elements.
//
//   td::Tensor t = td::Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
//   t.shape();                 // (2, 2)
//   t.data<float>()[3];        // 4
//   std::cout << t;            // as TensorFlow prints it
//
// Copies of a handle share the elements. Elements are released when the last handle (or view) goes.
#pragma once

#include <tidemark/device.h>
#include <tidemark/dtype.h>
#include <tidemark/shape.h>

#include <atomic>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

namespace memory {
struct Buffer;
}

namespace detail {

/// What a handle points to. Immutable once visible to a second handle, but for `refs` and `id`.
struct TensorImpl {
  std::atomic<uint32_t> refs{1};
  DType dtype = DType::invalid;
  /// True iff writing through this tensor is forbidden (memory borrowed from a read-only owner).
  bool read_only = false;
  /// True iff this stands for the output of a node of a graph: a graph::SymbolicImpl.
  bool is_symbolic = false;
  /// Whose memory `data` points into: the host reads the CPU's only.
  Device device{};
  /// First element: inside `buffer`. Null iff the tensor has no elements or is symbolic.
  void* data = nullptr;
  memory::Buffer* buffer = nullptr;  // counted reference; null iff symbolic
  int64_t num_elements = 0;
  /// Who this value is, for those that record computations; 0 until somebody asks. Never used
  /// twice, unlike addresses. A value written over by a donated input's successor loses it.
  std::atomic<uint64_t> id{0};
  Shape shape;
};

TIDEMARK_API void destroy(TensorImpl* impl) noexcept;
[[noreturn]] TIDEMARK_API void fail_symbolic(const TensorImpl& impl);
[[noreturn]] TIDEMARK_API void fail_elsewhere(const TensorImpl& impl);
std::vector<int64_t> known_ints(const TensorImpl& impl);

}  // namespace detail

class TIDEMARK_API Tensor {
 public:
  Tensor() noexcept = default;
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) { retain(); }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor copy(other);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() { release(); }

  /// A scalar of the C++ type's dtype.
  Tensor(float value);
  Tensor(double value);
  Tensor(int32_t value);
  Tensor(int64_t value);
  Tensor(bool value);
  /// A string. Other pointers are no tensors, and would become a bool.
  Tensor(const char* text);
  template <class T>
  Tensor(T*) = delete;

  /// A copy of the values; their number must be shape's. Not inlined, so that the return address
  /// is a place in the caller's code.
  template <class T>
  [[gnu::noinline]] static Tensor of(std::span<const T> values, const Shape& shape) {
    return copy_of(dtype_of<T>(), values.data(), static_cast<int64_t>(values.size()), shape,
                   __builtin_return_address(0));
  }
  template <class T>
  [[gnu::noinline]] static Tensor of(std::initializer_list<T> values, const Shape& shape) {
    return copy_of(dtype_of<T>(), values.begin(), static_cast<int64_t>(values.size()), shape,
                   __builtin_return_address(0));
  }
  template <class T>
  [[gnu::noinline]] static Tensor of(std::initializer_list<T> values) {
    return copy_of(dtype_of<T>(), values.begin(), static_cast<int64_t>(values.size()),
                   Shape{static_cast<int64_t>(values.size())}, __builtin_return_address(0));
  }
  static Tensor of_strings(std::span<const std::string_view> values, const Shape& shape);
  /// Elements with no defined value; for code that fills them before anybody else sees them.
  static Tensor uninitialized(DType dtype, const Shape& shape);

  explicit operator bool() const noexcept { return impl_ != nullptr; }
  DType dtype() const noexcept { return impl_->dtype; }
  const Shape& shape() const noexcept { return impl_->shape; }
  int rank() const noexcept { return impl_->shape.rank(); }
  int64_t dim(int axis) const noexcept { return impl_->shape.dim(axis); }
  /// Of a symbolic tensor whose shape is not fully known: 0.
  int64_t num_elements() const noexcept { return impl_->num_elements; }
  /// True: it stands for a value of a computation that has not run.
  bool is_symbolic() const noexcept { return impl_->is_symbolic; }
  Device device() const noexcept { return impl_->device; }
  /// The same elements on another device: this tensor where it is there already. To the CPU it
  /// waits for the work that makes them.
  Tensor to(Device device) const;
  size_t nbytes() const noexcept { return size_t(impl_->num_elements) * size_of(impl_->dtype); }

  /// An address of the tensor's device.
  const void* raw_data() const noexcept { return impl_->data; }
  /// For the one who made the tensor and has not shown it to anyone yet.
  void* mutable_raw_data() const noexcept { return impl_->data; }
  /// Elements as T, which must be the tensor's dtype (checked).
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>());
    return static_cast<const T*>(impl_->data);
  }
  template <class T>
  T* mutable_data() const {
    check_dtype(dtype_of<T>());
    return static_cast<T*>(impl_->data);
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  /// The only element; throws InvalidArgumentError unless there is exactly one.
  template <class T>
  T item() const {
    check_single();
    if (!device().is_cpu()) return *to(Device()).template data<T>();
    return *data<T>();
  }
  std::string_view string_at(int64_t index) const;
  /// Elements of a bool or any integer tensor, widened. Of a symbolic one: what is known for
  /// certain, or a FailedPreconditionError.
  std::vector<int64_t> to_ints() const;

  /// The same elements under another shape of as many elements.
  Tensor reshaped(const Shape& shape) const;
  /// Elements [begin, begin + count) of the first dimension, sharing the buffer.
  Tensor rows(int64_t begin, int64_t count) const;

  /// As TensorFlow's numpy-style print, without the surrounding "tf.Tensor(...)".
  std::string to_string() const;

  detail::TensorImpl* impl() const noexcept { return impl_; }
  /// Takes over the caller's reference.
  static Tensor adopt(detail::TensorImpl* impl) noexcept {
    Tensor t;
    t.impl_ = impl;
    return t;
  }
  /// Gives the reference to the caller.
  detail::TensorImpl* detach() noexcept { return std::exchange(impl_, nullptr); }
  /// True iff no other handle and no view shares the elements, and they may be written.
  bool is_unique() const noexcept;

 private:
  static Tensor copy_of(DType dtype, const void* values, int64_t count, const Shape& shape,
                        const void* caller);
  void check_dtype(DType wanted) const {
    if (impl_->dtype != wanted) fail_dtype(wanted);
    if (impl_->is_symbolic) detail::fail_symbolic(*impl_);
    if (!impl_->device.is_cpu()) detail::fail_elsewhere(*impl_);
  }
  [[noreturn]] void fail_dtype(DType wanted) const;
  void check_single() const;
  void retain() noexcept {
    if (impl_) impl_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    if (impl_ && impl_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) detail::destroy(impl_);
  }

  detail::TensorImpl* impl_ = nullptr;
};

TIDEMARK_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace tidemark
