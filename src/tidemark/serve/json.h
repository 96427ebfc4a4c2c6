// JSON out, and tensors in and out of JSON.
#pragma once

#include <simdjson.h>
#include <tidemark/tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tidemark/serve/reserved_memory.h"

namespace tidemark::serve {

/// The text in quotes, escaped; bytes that are no UTF-8 become U+FFFD.
void put_string(std::string& out, std::string_view text);

/// A number, bool or text: element `index` of the tensor.
void put_element(std::string& out, const Tensor& t, int64_t index, bool as_base64);
/// Nested lists of the elements [first, first + …) with the shape's sizes from `axis` on.
void put_elements(std::string& out, const Tensor& t, bool as_base64);
/// Row `row` of the first dimension.
void put_row(std::string& out, const Tensor& t, int64_t row, bool as_base64);

/// The text for a log: one line, no control characters, valid UTF-8, not endless.
std::string printable(std::string_view text);

/// False: the element is NaN or infinite, which put_element writes as JavaScript does.
bool is_json_number(const Tensor& t, int64_t index);

/// How many bytes put_elements writes at most.
size_t json_bytes(const Tensor& t);

/// A text that was parsed. Its memory counts against the limit, and goes with it.
class JsonDocument {
 public:
  /// Throws RequestError with what is wrong, ResourceExhaustedError where there is no room.
  explicit JsonDocument(std::string_view text);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const simdjson::dom::element& root() const { return root_; }

 private:
  ReservedMemory room_;
  std::unique_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
};

/// A tensor from nested lists. Throws RequestError for lists of unequal length, other kinds of
/// values than the dtype's and numbers it cannot hold. `what` names it in messages.
Tensor tensor_from(const simdjson::dom::element& value, DType dtype, std::string_view what);
/// What to take of a row, and its number.
using FieldOfRow =
    std::function<simdjson::dom::element(const simdjson::dom::element& row, int64_t index)>;
/// The tensor whose rows are what is taken of each; there is one at least.
Tensor tensor_from_rows(const simdjson::dom::array& rows, const FieldOfRow& field_of, DType dtype,
                        std::string_view what);
/// The elements in order, however they are nested, as a tensor of the shape.
Tensor tensor_of_shape(const simdjson::dom::element& values, DType dtype, const Shape& shape,
                       std::string_view what);

std::string base64(std::string_view bytes);
/// False: it is malformed.
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace tidemark::serve
