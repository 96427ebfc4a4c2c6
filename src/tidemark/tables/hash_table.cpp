#include "tidemark/tables/hash_table.h"

#include <tidemark/error.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "tidemark/base/text/fingerprint.h"

namespace tidemark {

namespace {

/// Tables by number. Weak: holding a number keeps nothing alive.
struct Tables {
  std::mutex mutex;
  int64_t last = 0;
  std::unordered_map<int64_t, std::weak_ptr<HashTable>> by_number;

  static Tables& instance() {
    static auto* tables = new Tables;  // tables may outlive static objects
    return *tables;
  }
};

int64_t elements_of(const Shape& shape) {
  if (!shape.is_fully_known()) {
    fail<InvalidArgumentError>("a table's values need a fully known shape; given ", shape);
  }
  return shape.num_elements();
}

}  // namespace

void GrowingBuffer::reserve(size_t bytes, size_t used) {
  if (bytes <= capacity()) return;
  const size_t wanted = std::max(bytes, capacity() + capacity() / 2);
  memory::Buffer* larger = memory::allocate({.bytes = wanted, .holder = memory::Holder::variable});
  if (used > 0) std::memcpy(larger->data, data(), used);
  reset();
  buffer_ = larger;
}

void GrowingBuffer::reset() noexcept {
  if (buffer_) memory::release(buffer_);
  buffer_ = nullptr;
}

std::shared_ptr<HashTable> HashTable::create(DType key, DType value, const Shape& value_shape) {
  if (!dtype_set(DType::int32, DType::int64, DType::string).contains(key)) {
    fail<InvalidArgumentError>("keys of a table must be int32, int64 or string; given ",
                               name_of(key));
  }
  if (!kAny.contains(value)) fail<InvalidArgumentError>("a table cannot hold ", name_of(value));
  std::shared_ptr<HashTable> table(new HashTable(key, value, value_shape));
  Tables& tables = Tables::instance();
  std::lock_guard lock(tables.mutex);
  table->number_ = ++tables.last;
  tables.by_number.emplace(table->number_, table);
  return table;
}

std::shared_ptr<HashTable> HashTable::get(int64_t number) {
  Tables& tables = Tables::instance();
  std::lock_guard lock(tables.mutex);
  const auto it = tables.by_number.find(number);
  std::shared_ptr<HashTable> table = it == tables.by_number.end() ? nullptr : it->second.lock();
  if (!table) {
    fail<NotFoundError>("there is no table ", number,
                        ": it was dropped, or never made. Keep a reference to the table for as "
                        "long as ops use it");
  }
  return table;
}

HashTable::HashTable(DType key, DType value, const Shape& value_shape)
    : key_dtype_(key),
      value_dtype_(value),
      value_shape_(value_shape),
      row_elements_(elements_of(value_shape)) {}

HashTable::~HashTable() {
  Tables& tables = Tables::instance();
  std::lock_guard lock(tables.mutex);
  tables.by_number.erase(number_);
}

int64_t HashTable::size() const {
  std::shared_lock lock(mutex_);
  return rows_;
}

int64_t HashTable::nbytes() const {
  std::shared_lock lock(mutex_);
  return static_cast<int64_t>(slots_.capacity() + keys_.capacity() + values_.capacity() +
                              characters_.capacity());
}

void HashTable::check_keys(const Tensor& keys) const {
  if (keys.dtype() == key_dtype_) return;
  fail<InvalidArgumentError>("the table's keys are ", name_of(key_dtype_), "; given keys of ",
                             name_of(keys.dtype()));
}

void HashTable::check_values(const Tensor& keys, const Tensor& values) const {
  check_keys(keys);
  if (values.dtype() != value_dtype_) {
    fail<InvalidArgumentError>("the table's values are ", name_of(value_dtype_),
                               "; given values of ", name_of(values.dtype()));
  }
  Shape wanted = Shape::filled(keys.rank() + value_shape_.rank(), 0);
  for (int i = 0; i < keys.rank(); ++i) wanted[i] = keys.dim(i);
  for (int i = 0; i < value_shape_.rank(); ++i) wanted[keys.rank() + i] = value_shape_[i];
  if (values.shape() != wanted) {
    fail<InvalidArgumentError>("Expected shape ", wanted, " for value, got ", values.shape());
  }
}

HashTable::Key HashTable::key_at(const Tensor& keys, int64_t i) const {
  switch (key_dtype_) {
    case DType::int32:
      return {keys.data<int32_t>()[i], {}};
    case DType::int64:
      return {keys.data<int64_t>()[i], {}};
    default:
      return {0, keys.string_at(i)};
  }
}

HashTable::Key HashTable::key_of_row(int64_t row) const {
  if (key_dtype_ == DType::string) return {0, string_key(row)};
  return {int_key(row), {}};
}

uint64_t HashTable::hash(const Key& key) const {
  if (key_dtype_ == DType::string) return text::farm_fingerprint(key.text);
  uint64_t x = static_cast<uint64_t>(key.number);
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

bool HashTable::same(int64_t row, const Key& key) const {
  return key_dtype_ == DType::string ? string_key(row) == key.text : int_key(row) == key.number;
}

std::string_view HashTable::string_key(int64_t row) const {
  const StringRef ref = keys_.as<StringRef>()[row];
  return {characters_.data() + ref.offset, ref.length};
}

std::string_view HashTable::string_value(int64_t row, int64_t element) const {
  const StringRef ref = values_.as<StringRef>()[row * row_elements_ + element];
  return {characters_.data() + ref.offset, ref.length};
}

uint64_t HashTable::slot_of(const Key& key) const {
  const auto* slots = slots_.as<int64_t>();
  uint64_t slot = hash(key) & slot_mask_;
  while (slots[slot] != 0 && !same(slots[slot] - 1, key)) slot = (slot + 1) & slot_mask_;
  return slot;
}

int64_t HashTable::find(const Tensor& keys, int64_t i) const {
  if (rows_ == 0) return -1;
  return slots_.as<int64_t>()[slot_of(key_at(keys, i))] - 1;
}

void HashTable::reserve_rows(int64_t rows) {
  const auto count = static_cast<size_t>(rows);
  const auto used = static_cast<size_t>(rows_);
  const size_t key_bytes = key_dtype_ == DType::string ? sizeof(StringRef) : sizeof(int64_t);
  keys_.reserve(count * key_bytes, used * key_bytes);
  values_.reserve(count * row_bytes(), used * row_bytes());
  const uint64_t wanted = std::bit_ceil(count * 2 + 2);
  if (slots_.data() && wanted <= slot_mask_ + 1) return;
  GrowingBuffer fresh;
  fresh.reserve(wanted * sizeof(int64_t), 0);
  std::memset(fresh.data(), 0, wanted * sizeof(int64_t));
  slots_.swap(fresh);
  slot_mask_ = wanted - 1;
  for (int64_t row = 0; row < rows_; ++row) {
    auto* slots = slots_.as<int64_t>();
    uint64_t slot = hash(key_of_row(row)) & slot_mask_;
    while (slots[slot] != 0) slot = (slot + 1) & slot_mask_;
    slots[slot] = row + 1;
  }
}

/// Copies what is still referred to when there is no room, so that replaced values do not pile up.
void HashTable::reserve_characters(size_t more) {
  if (characters_used_ + more <= characters_.capacity()) return;
  size_t live = 0;
  const auto each = [&](auto fn) {
    if (key_dtype_ == DType::string) {
      for (int64_t i = 0; i < rows_; ++i) fn(keys_.as<StringRef>()[i]);
    }
    if (value_dtype_ == DType::string) {
      for (int64_t i = 0; i < rows_ * row_elements_; ++i) fn(values_.as<StringRef>()[i]);
    }
  };
  each([&](const StringRef& ref) { live += ref.length; });
  GrowingBuffer fresh;
  fresh.reserve(std::max<size_t>((live + more) + (live + more) / 2, 256), 0);
  size_t next = 0;
  each([&](StringRef& ref) {
    if (ref.length > 0) {
      std::memcpy(fresh.data() + next, characters_.data() + ref.offset, ref.length);
    }
    ref.offset = next;
    next += ref.length;
  });
  characters_.swap(fresh);
  characters_used_ = next;
}

StringRef HashTable::keep(std::string_view text) {
  const StringRef ref{characters_used_, text.size()};
  if (!text.empty()) std::memcpy(characters_.data() + characters_used_, text.data(), text.size());
  characters_used_ += text.size();
  return ref;
}

void HashTable::write_row(int64_t row, const Tensor& values, int64_t at) {
  if (value_dtype_ != DType::string) {
    if (row_bytes() == 0) return;
    const char* source = static_cast<const char*>(values.raw_data());
    std::memcpy(values_.data() + static_cast<size_t>(row) * row_bytes(),
                source + static_cast<size_t>(at) * row_bytes(), row_bytes());
    return;
  }
  for (int64_t j = 0; j < row_elements_; ++j) {
    values_.as<StringRef>()[row * row_elements_ + j] =
        keep(values.string_at(at * row_elements_ + j));
  }
}

bool HashTable::row_equals(int64_t row, const Tensor& values, int64_t at) const {
  if (value_dtype_ != DType::string) {
    const char* source = static_cast<const char*>(values.raw_data());
    return row_bytes() == 0 ||
           std::memcmp(this->row(row), source + static_cast<size_t>(at) * row_bytes(),
                       row_bytes()) == 0;
  }
  for (int64_t j = 0; j < row_elements_; ++j) {
    if (string_value(row, j) != values.string_at(at * row_elements_ + j)) return false;
  }
  return true;
}

void HashTable::insert(const Tensor& keys, const Tensor& values, bool overwrite) {
  check_values(keys, values);
  const int64_t count = keys.num_elements();
  std::unique_lock lock(mutex_);
  size_t characters = 0;
  for (const Tensor* t : {&keys, &values}) {
    if (t->dtype() != DType::string) continue;
    for (const StringRef& ref : t->values<StringRef>()) characters += ref.length;
  }
  // All room first: from here on nothing can fail but a key's second value.
  reserve_rows(rows_ + count);
  reserve_characters(characters);
  for (int64_t i = 0; i < count; ++i) {
    const Key key = key_at(keys, i);
    int64_t& slot = slots_.as<int64_t>()[slot_of(key)];
    if (slot != 0) {
      if (overwrite) {
        write_row(slot - 1, values, i);
      } else if (!row_equals(slot - 1, values, i)) {
        fail<InvalidArgumentError>("HashTable has different value for same key. Key ",
                                   key_dtype_ == DType::string
                                       ? std::string(key.text.substr(0, 100))
                                       : std::to_string(key.number),
                                   " is given a second value");
      }
      continue;
    }
    if (key_dtype_ == DType::string) {
      keys_.as<StringRef>()[rows_] = keep(key.text);
    } else {
      keys_.as<int64_t>()[rows_] = key.number;
    }
    write_row(rows_, values, i);
    slot = ++rows_;
  }
}

/// Closes the gap a freed slot leaves in the runs of probing.
void HashTable::free_slot(uint64_t slot) {
  auto* slots = slots_.as<int64_t>();
  slots[slot] = 0;
  for (uint64_t at = (slot + 1) & slot_mask_; slots[at] != 0; at = (at + 1) & slot_mask_) {
    const int64_t row = slots[at];
    slots[at] = 0;
    uint64_t home = hash(key_of_row(row - 1)) & slot_mask_;
    while (slots[home] != 0) home = (home + 1) & slot_mask_;
    slots[home] = row;
  }
}

void HashTable::remove(const Tensor& keys) {
  check_keys(keys);
  std::unique_lock lock(mutex_);
  for (int64_t i = 0; i < keys.num_elements() && rows_ > 0; ++i) {
    const uint64_t slot = slot_of(key_at(keys, i));
    const int64_t row = slots_.as<int64_t>()[slot] - 1;
    if (row < 0) continue;
    const int64_t last = rows_ - 1;
    if (row != last) slots_.as<int64_t>()[slot_of(key_of_row(last))] = row + 1;
    slots_.as<int64_t>()[slot] = last + 1;  // until it is freed; the two rows change places
    if (row != last) {
      const size_t key_bytes = key_dtype_ == DType::string ? sizeof(StringRef) : sizeof(int64_t);
      char* key_data = keys_.data();
      std::swap_ranges(key_data + static_cast<size_t>(row) * key_bytes,
                       key_data + static_cast<size_t>(row + 1) * key_bytes,
                       key_data + static_cast<size_t>(last) * key_bytes);
      std::swap_ranges(values_.data() + static_cast<size_t>(row) * row_bytes(),
                       values_.data() + static_cast<size_t>(row + 1) * row_bytes(),
                       values_.data() + static_cast<size_t>(last) * row_bytes());
    }
    free_slot(slot);
    rows_ = last;
  }
}

void HashTable::clear() {
  std::unique_lock lock(mutex_);
  rows_ = 0;
  slot_mask_ = 0;
  characters_used_ = 0;
  slots_.reset();
  keys_.reset();
  values_.reset();
  characters_.reset();
}

}  // namespace tidemark
