// HashTable: keys to rows of values, for tf.lookup.
//
// A table lives as long as somebody holds it. Ops name it by its number, which keeps nothing alive.
// Keys and values lie in buffers of memory/, counted like a variable's. Members may be called from
// several threads at once.
#pragma once

#include <tidemark/tensor.h>

#include <memory>
#include <shared_mutex>

#include "tidemark/memory/buffer.h"

namespace tidemark {

/// Bytes of memory/ that grow.
class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  ~GrowingBuffer() { reset(); }
  GrowingBuffer(const GrowingBuffer&) = delete;
  void swap(GrowingBuffer& other) noexcept { std::swap(buffer_, other.buffer_); }

  /// Makes room for that many bytes, keeping the first `used`. Throws ResourceExhaustedError and
  /// changes nothing when there is none.
  void reserve(size_t bytes, size_t used);
  void reset() noexcept;
  size_t capacity() const { return buffer_ ? buffer_->bytes : 0; }
  char* data() const { return buffer_ ? static_cast<char*>(buffer_->data) : nullptr; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }

 private:
  memory::Buffer* buffer_ = nullptr;
};

class TIDEMARK_API HashTable {
 public:
  /// Keys: int32, int64 or string. Values: any dtype, rows of the shape. Throws
  /// InvalidArgumentError for others.
  static std::shared_ptr<HashTable> create(DType key, DType value, const Shape& value_shape);
  /// Throws NotFoundError when nobody holds the table of that number any more.
  static std::shared_ptr<HashTable> get(int64_t number);
  ~HashTable();
  HashTable(const HashTable&) = delete;

  int64_t number() const { return number_; }
  DType key_dtype() const { return key_dtype_; }
  DType value_dtype() const { return value_dtype_; }
  const Shape& value_shape() const { return value_shape_; }
  int64_t size() const;
  /// Bytes of memory/ the table holds.
  int64_t nbytes() const;

  /// Throws InvalidArgumentError unless keys (and values) have the table's dtypes, and values the
  /// keys' shape followed by the table's.
  void check_keys(const Tensor& keys) const;
  void check_values(const Tensor& keys, const Tensor& values) const;

  /// `overwrite` false: a key that is there with another value throws InvalidArgumentError; those
  /// before it stay.
  void insert(const Tensor& keys, const Tensor& values, bool overwrite);
  void remove(const Tensor& keys);
  void clear();

  /// For each key in turn, while nobody changes the table: the row's number, -1 where there is
  /// none.
  template <class Fn>
  void for_rows(const Tensor& keys, Fn fn) const {
    std::shared_lock lock(mutex_);
    for (int64_t i = 0; i < keys.num_elements(); ++i) fn(i, find(keys, i));
  }
  /// Calls fn while nobody changes the table.
  template <class Fn>
  void locked(Fn fn) const {
    std::shared_lock lock(mutex_);
    fn(rows_);
  }
  // --- inside for_rows and locked ---
  int64_t row_elements() const { return row_elements_; }
  const char* row(int64_t index) const {
    return values_.data() + static_cast<size_t>(index) * row_bytes();
  }
  std::string_view string_value(int64_t row, int64_t element) const;
  std::string_view string_key(int64_t row) const;
  int64_t int_key(int64_t row) const { return keys_.as<int64_t>()[row]; }

 private:
  struct Key {
    int64_t number = 0;
    std::string_view text;
  };
  HashTable(DType key, DType value, const Shape& value_shape);
  Key key_at(const Tensor& keys, int64_t i) const;
  Key key_of_row(int64_t row) const;
  uint64_t hash(const Key& key) const;
  bool same(int64_t row, const Key& key) const;
  size_t row_bytes() const { return static_cast<size_t>(row_elements_) * size_of(value_dtype_); }
  /// The slot that refers to the key's row, or the free one where it would go.
  uint64_t slot_of(const Key& key) const;
  int64_t find(const Tensor& keys, int64_t i) const;
  void reserve_rows(int64_t rows);
  void reserve_characters(size_t more);
  StringRef keep(std::string_view text);
  void write_row(int64_t row, const Tensor& values, int64_t at);
  bool row_equals(int64_t row, const Tensor& values, int64_t at) const;
  void free_slot(uint64_t slot);

  const DType key_dtype_, value_dtype_;
  const Shape value_shape_;
  const int64_t row_elements_;
  int64_t number_ = 0;
  mutable std::shared_mutex mutex_;
  int64_t rows_ = 0;
  uint64_t slot_mask_ = 0;  // slots are a power of two, at most half of them taken
  GrowingBuffer slots_;     // row + 1, 0: free
  GrowingBuffer keys_, values_, characters_;
  size_t characters_used_ = 0;
};

}  // namespace tidemark
