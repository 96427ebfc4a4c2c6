// Tables of a flatbuffer whose writer is not trusted.
//
//   Flatbuffer file(bytes, "model.tflite");
//   const Table model = file.root("TFL3");
//   for (const Table& graph : model.tables(2)) std::cout << graph.text(4);
//
// Every place is checked against the file before it is looked at. What is asked for altogether is
// bounded by the file's size, so that tables that share their parts do not multiply.
#pragma once

#include <tidemark/attr.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io::tflite {

class Flatbuffer;

class Table {
 public:
  Table(const Flatbuffer& file, uint64_t at);

  bool has(int field) const { return place_of(field) != 0; }
  /// A number that stands in the table itself.
  template <class T>
  T number(int field, T unless_given = T{}) const;
  std::string_view text(int field) const;
  /// The bytes of a vector of bytes.
  std::string_view bytes(int field) const;
  std::optional<Table> table(int field) const;
  std::vector<Table> tables(int field) const;
  /// A vector of T as int64.
  template <class T>
  Ints numbers(int field) const;
  std::vector<float> reals(int field) const;

 private:
  friend class Flatbuffer;
  uint64_t place_of(int field) const;
  /// Where what the field refers to lies; 0: the field is not given.
  uint64_t target_of(int field) const;
  /// The elements of a vector: where they lie, and how many.
  std::pair<uint64_t, uint64_t> vector_of(int field, uint64_t width) const;

  const Flatbuffer* file_;
  uint64_t at_, fields_;  // the table; its list of places
  uint16_t fields_bytes_ = 0;
};

class Flatbuffer {
 public:
  Flatbuffer(std::string_view bytes, std::string path)
      : bytes_(bytes), path_(std::move(path)), left_(bytes.size() + 1024) {}
  /// Throws DataLossError where the file has another identifier.
  Table root(std::string_view identifier) const;
  std::string_view bytes() const { return bytes_; }
  [[noreturn]] void damaged(std::string_view what) const;

  template <class T>
  T at(uint64_t place) const {
    T value;
    std::memcpy(&value, part(place, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view part(uint64_t place, uint64_t count) const;
  /// Counts what is read of vectors and tables.
  void spend(uint64_t items) const;

 private:
  std::string_view bytes_;
  std::string path_;
  mutable uint64_t left_;
};

template <class T>
T Table::number(int field, T unless_given) const {
  const uint64_t place = place_of(field);
  return place == 0 ? unless_given : file_->at<T>(place);
}

template <class T>
Ints Table::numbers(int field) const {
  const auto [place, count] = vector_of(field, sizeof(T));
  Ints out;
  for (uint64_t i = 0; i < count; ++i) {
    out.push_back(static_cast<int64_t>(file_->at<T>(place + i * sizeof(T))));
  }
  return out;
}

}  // namespace tidemark::io::tflite
