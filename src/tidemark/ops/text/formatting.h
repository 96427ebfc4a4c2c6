// Numbers as text, over a sink.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>

#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

/// Appends what snprintf gives.
template <class... Values>
void put_formatted(CharacterCount& sink, const char* format, Values... values) {
  sink.add(std::snprintf(nullptr, 0, format, values...));
}
template <class Sink, class... Values>
void put_formatted(Sink& sink, const char* format, Values... values) {
  const int size = std::snprintf(nullptr, 0, format, values...);
  char small[64];
  if (size < static_cast<int>(sizeof small)) {
    std::snprintf(small, sizeof small, format, values...);
    return sink.append(std::string_view(small, static_cast<size_t>(size)));
  }
  // The last character goes where snprintf would put its terminator: one byte more than counted.
  std::snprintf(sink.extend(static_cast<size_t>(size)), static_cast<size_t>(size) + 1, format,
                values...);
}

/// The conversion as_string uses for its input, as printf takes it.
struct PrintFormat {
  /// Throws InvalidArgumentError where the attributes do not go with the dtype.
  explicit PrintFormat(const OpCall& call);
  char text[140];
};

template <class T, class Sink>
void put_number(const char* format, T value, Sink& sink) {
  if constexpr (std::is_same_v<T, bool>) {
    sink.append(std::string_view(value ? "true" : "false"));
  } else if constexpr (is_complex(dtype_of<T>())) {
    put_formatted(sink, format, static_cast<double>(value.real()),
                  static_cast<double>(value.imag()));
  } else if constexpr (is_floating(dtype_of<T>())) {
    put_formatted(sink, format, static_cast<double>(static_cast<float>(value)));
  } else if constexpr (std::is_signed_v<T>) {
    put_formatted(sink, format, static_cast<long long>(value));
  } else {
    put_formatted(sink, format, static_cast<unsigned long long>(value));
  }
}
template <class Sink>
void put_number(const char* format, double value, Sink& sink) {
  put_formatted(sink, format, value);
}

/// as_string: every element of a tensor of T.
template <class T, class Sink>
void put_numbers(const OpCall& call, Sink& sink) {
  const PrintFormat format(call);
  for (const T& value : call.inputs[0].values<T>()) {
    put_number(format.text, value, sink);
    sink.close();
  }
}

template <class Sink>
void put_padded_strings(const OpCall& call, Sink& sink) {
  const PrintFormat format(call);  // checks the attributes
  const int64_t width = call.attr("width").as_int();
  const bool left = call.attr("fill").as_string() == "-";
  for (int64_t i = 0; i < call.inputs[0].num_elements(); ++i) {
    const std::string_view value = call.inputs[0].string_at(i);
    const int64_t missing = std::max<int64_t>(width - static_cast<int64_t>(value.size()), 0);
    if (left) sink.append(value);
    sink.fill(' ', missing);
    if (!left) sink.append(value);
    sink.close();
  }
}

/// One element as TensorFlow's C++ side prints it: numbers as short as reads back, strings quoted.
template <class T, class Sink>
void put_summary_element(const Tensor& t, int64_t i, Sink& sink) {
  if constexpr (std::is_same_v<T, StringRef>) {
    sink.append('"');
    sink.append(t.string_at(i));
    sink.append('"');
  } else {
    const T value = t.data<T>()[i];
    if constexpr (std::is_same_v<T, bool>) {
      sink.append(value ? '1' : '0');
    } else if constexpr (is_complex(dtype_of<T>())) {
      put_formatted(sink, "(%g,%g)", static_cast<double>(value.real()),
                    static_cast<double>(value.imag()));
    } else if constexpr (std::is_same_v<T, double>) {
      char text[32];
      std::snprintf(text, sizeof text, "%.15g", value);
      put_formatted(sink, std::strtod(text, nullptr) == value ? "%.15g" : "%.17g", value);
    } else if constexpr (is_floating(dtype_of<T>())) {
      char text[32];
      const auto real = static_cast<float>(value);
      std::snprintf(text, sizeof text, "%.6g", static_cast<double>(real));
      put_formatted(sink, std::strtof(text, nullptr) == real ? "%.6g" : "%.9g",
                    static_cast<double>(real));
    } else {
      put_number(std::is_signed_v<T> ? "%lld" : "%llu", value, sink);
    }
  }
}

/// Rows in brackets, as many of the first and of the last as `most` says (all when negative).
template <class T, class Sink>
void put_summary_rows(const Tensor& t, int axis, int64_t begin, int64_t most, Sink& sink) {
  const int rank = t.rank();
  if (axis == rank) return put_summary_element<T>(t, begin, sink);
  int64_t stride = 1;
  for (int d = axis + 1; d < rank; ++d) stride *= t.dim(d);
  const int64_t rows = t.dim(axis);
  const bool cut = most >= 0 && rows - most > most;  // twice `most` may not fit
  const auto separate = [&] {
    if (axis + 1 == rank) return sink.append(' ');
    for (int d = axis + 1; d < rank; ++d) sink.append('\n');
    for (int d = 0; d <= axis; ++d) sink.append(' ');
  };
  sink.append('[');
  for (int64_t row = 0; row < rows; ++row) {
    if (row > 0) separate();
    if (cut && row == most) {
      sink.append(std::string_view("..."));
      row = rows - most - 1;
      continue;
    }
    put_summary_rows<T>(t, axis + 1, begin + row * stride, most, sink);
  }
  sink.append(']');
}

/// tensor_summary: the whole tensor as one string.
template <class T, class Sink>
void put_summary(const OpCall& call, Sink& sink) {
  const Tensor& t = call.inputs[0];
  if (t.num_elements() == 0) {
    sink.append(std::string_view("[]"));
  } else {
    put_summary_rows<T>(t, 0, 0, call.attr("summarize").as_int(), sink);
  }
  sink.close();
}

}  // namespace tidemark::text
