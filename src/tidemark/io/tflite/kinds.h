// The operators of TFLite that are read: what each is called, and what stands in its options.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tidemark/export.h>

namespace tidemark::io::tflite {

/// How an option stands in the file.
enum class OptionForm : uint8_t { flag, byte, int32, int64, real, int32s, reals, text, graph };

struct Option {
  std::string_view name;
  int field;
  OptionForm form = OptionForm::int32;
  int64_t unless_given = 0;
};

/// What an operator does with tensors of integers that stand for reals.
enum class Treats : uint8_t {
  meaning,  // computes with what they stand for
  places,   // moves elements: the integers, where input and output stand for the same reals
  numbers,  // the integers themselves
};

struct OperatorKind {
  int32_t code;
  std::string_view name;
  uint8_t options_type = 0;  // which table of the union its options are
  std::span<const Option> options = {};
  Treats treats = Treats::meaning;
  /// Inputs that the operator itself changes: they outlive a call.
  std::span<const int64_t> states = {};
};

/// Null: such an operator is not read.
const OperatorKind* find_kind(int32_t code);
const OperatorKind* find_kind(std::string_view name);
/// "CONV_2D"; empty: a code of no name here.
std::string_view name_of_code(int32_t code);
TIDEMARK_API std::span<const OperatorKind> all_kinds();

}  // namespace tidemark::io::tflite
