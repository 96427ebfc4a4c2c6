#include "tidemark/data/state.h"

#include <cstring>
#include <limits>

#include "tidemark/data/file.h"
#include "tidemark/data/nested.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::data {

namespace {

constexpr int64_t kMostTensors = 1 << 20;
constexpr int kMostDims = 32;

bool is_known(DType dtype) {
  return dtype != DType::invalid && (dtype == DType::string || size_of(dtype) > 0);
}

}  // namespace

void StateWriter::raw(const void* data, size_t bytes) {
  bytes_.append(static_cast<const char*>(data), bytes);
}

void StateWriter::number(int64_t value) {
  bytes_.push_back('n');
  raw(&value, sizeof(value));
}

void StateWriter::text(std::string_view text) {
  bytes_.push_back('s');
  const auto size = static_cast<int64_t>(text.size());
  raw(&size, sizeof(size));
  raw(text.data(), text.size());
}

void StateWriter::tensor(const Tensor& t) {
  if (is_dataset(t)) {
    const auto rows = listed_elements(*dataset_of(t));
    if (!rows) {
      fail<FailedPreconditionError>(
          "elements that are datasets cannot be saved unless they are windows. Make tensors of "
          "them (flat_map) before they are shuffled, cached or made ahead");
    }
    bytes_.push_back('d');
    number(static_cast<int64_t>(rows->size()));
    for (const Element& row : *rows) element(row);
    return;
  }
  bytes_.push_back('t');
  bytes_.push_back(static_cast<char>(t.dtype()));
  bytes_.push_back(static_cast<char>(t.rank()));
  for (int i = 0; i < t.rank(); ++i) {
    const int64_t size = t.dim(i);
    raw(&size, sizeof(size));
  }
  if (t.dtype() != DType::string) return raw(t.to(Device()).raw_data(), t.nbytes());
  for (int64_t i = 0; i < t.num_elements(); ++i) text(t.string_at(i));
}

void StateWriter::element(const Element& element) {
  number(static_cast<int64_t>(element.size()));
  for (const Tensor& t : element) tensor(t);
}

void StateReader::damaged(std::string_view what) {
  throw DataLossError(message("the saved state of an iterator is damaged: ", what));
}

std::string_view StateReader::take(size_t bytes) {
  if (bytes > rest_.size()) damaged("it ends too early");
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

void StateReader::expect(char tag) {
  if (take(1)[0] != tag) damaged("something else was expected; was it saved by another pipeline?");
}

int64_t StateReader::number() {
  expect('n');
  int64_t value = 0;
  std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
  return value;
}

int64_t StateReader::count(int64_t most) {
  const int64_t value = number();
  if (value < 0 || value > most) damaged(message("a count of ", value));
  return value;
}

std::string StateReader::text() {
  expect('s');
  int64_t size = 0;
  std::memcpy(&size, take(sizeof(size)).data(), sizeof(size));
  if (size < 0) damaged("a text of negative length");
  return std::string(take(static_cast<size_t>(size)));
}

Tensor StateReader::dataset() {
  std::vector<Element> rows;
  for (int64_t left = count(kMostSaved); left > 0; --left) rows.push_back(element());
  return as_tensor(listed(std::move(rows)));
}

Tensor StateReader::tensor() {
  const char tag = take(1)[0];
  if (tag == 'd') return dataset();
  if (tag != 't') damaged("something else was expected; was it saved by another pipeline?");
  const auto dtype = static_cast<DType>(take(1)[0]);
  const int rank = take(1)[0];
  if (!is_known(dtype) || rank < 0 || rank > kMostDims) damaged("a tensor of no known type");
  Shape shape;
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    int64_t size = 0;
    std::memcpy(&size, take(sizeof(size)).data(), sizeof(size));
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) damaged("a size out of range");
    shape.push_back(size);
  }
  // Every element takes at least a byte of what is left, so damage cannot ask for much memory.
  if (count < 0 || static_cast<uint64_t>(count) > rest_.size()) damaged("it ends too early");
  if (dtype != DType::string) {
    const std::string_view data = take(static_cast<size_t>(count) * size_of(dtype));
    Tensor out = new_tensor(dtype, shape);
    if (!data.empty()) std::memcpy(out.mutable_raw_data(), data.data(), data.size());
    return out;
  }
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) texts.push_back(text());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return Tensor::of_strings(views, shape);
}

Element StateReader::element() {
  Element out;
  const int64_t size = count(kMostTensors);
  for (int64_t i = 0; i < size; ++i) out.push_back(tensor());
  return out;
}

void save_draws(StateWriter& to, const Draws& draws) {
  to.number(draws.seeds().first);
  to.number(draws.seeds().second);
  to.number(static_cast<int64_t>(draws.drawn()));
}

Draws restore_draws(StateReader& from) {
  const int64_t first = from.number(), second = from.number();
  Draws draws({first, second});
  draws.move_to(static_cast<uint64_t>(from.number()));
  return draws;
}

std::string encode(const Element& element) {
  StateWriter to;
  to.element(element);
  return to.bytes();
}

Element decode(std::string_view bytes) {
  StateReader from(bytes);
  Element out = from.element();
  if (!from.is_at_end()) StateReader::damaged("something follows an element");
  return out;
}

}  // namespace tidemark::data
