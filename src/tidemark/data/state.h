// Where an iterator stands, as bytes: written by one, read by another over an equal pipeline.
//
//   StateWriter to;
//   iterator->save(to);
//   StateReader from(to.bytes());
//   other->restore(from);
//
// Read with no trust: what is damaged or of another pipeline ends in an error, not in a crash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tidemark/data/dataset.h"

namespace tidemark::data {

class TIDEMARK_API StateWriter {
 public:
  void number(int64_t value);
  void text(std::string_view text);
  void tensor(const Tensor& t);
  void element(const Element& element);
  const std::string& bytes() const { return bytes_; }

 private:
  void raw(const void* data, size_t bytes);
  std::string bytes_;
};

class TIDEMARK_API StateReader {
 public:
  /// The bytes outlive the reader.
  explicit StateReader(std::string_view bytes) : rest_(bytes) {}
  int64_t number();
  /// A number in [0, most].
  int64_t count(int64_t most);
  std::string text();
  Tensor tensor();
  Element element();
  bool is_at_end() const { return rest_.empty(); }
  [[noreturn]] static void damaged(std::string_view what);

 private:
  Tensor dataset();
  std::string_view take(size_t bytes);
  void expect(char tag);
  std::string_view rest_;
};

/// No more of anything is read back.
inline constexpr int64_t kMostSaved = int64_t{1} << 40;

/// An iterator that may not be there.
inline void save_if(StateWriter& to, Iterator* iterator) {
  to.number(iterator != nullptr);
  if (iterator) iterator->save(to);
}
/// Begins it by `make` where one was saved.
template <class Make>
std::unique_ptr<Iterator> restore_if(StateReader& from, Make make) {
  if (!from.count(1)) return nullptr;
  std::unique_ptr<Iterator> made = make();
  made->restore(from);
  return made;
}

void save_draws(StateWriter& to, const Draws& draws);
Draws restore_draws(StateReader& from);

/// One element as bytes, and back: what cache files and saved datasets are made of.
TIDEMARK_API std::string encode(const Element& element);
TIDEMARK_API Element decode(std::string_view bytes);

}  // namespace tidemark::data
