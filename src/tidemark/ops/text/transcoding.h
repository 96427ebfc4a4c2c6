// Code points read from strings and written to them, over a sink.
#pragma once

#include <tidemark/error.h>

#include "tidemark/base/text/unicode.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

/// What becomes of malformed input, from the attributes of an op.
struct ErrorPolicy {
  enum class Kind : uint8_t { replace, ignore, strict };
  Kind kind = Kind::replace;
  uint32_t replacement = 0xFFFD;
  bool replace_controls = false;

  explicit ErrorPolicy(const OpCall& call) {
    const std::string& name = call.attr("errors").as_string();
    if (name != "replace" && name != "ignore" && name != "strict") {
      fail<InvalidArgumentError>("[", call.op.name(),
                                 "] errors must be 'replace', 'ignore' or 'strict'; given '", name,
                                 "'");
    }
    kind = name == "replace" ? Kind::replace : name == "ignore" ? Kind::ignore : Kind::strict;
    const int64_t value = call.attr("replacement_char").as_int();
    if (!is_code_point(value)) {
      fail<InvalidArgumentError>("[", call.op.name(),
                                 "] replacement_char out of unicode codepoint range: ", value);
    }
    replacement = static_cast<uint32_t>(value);
  }
};

/// The code points of a string as the policy wants them: put(value, offset in bytes, bytes).
template <class Put>
void decode(std::string_view s, Encoding encoding, const ErrorPolicy& policy, const OpCall& call,
            Put put) {
  size_t offset = 0, count = 0;
  while (offset < s.size()) {
    if (++count % kCharactersALook == 0) check_interrupt();
    const CodePoint point = first_code_point(encoding, s.substr(offset));
    const size_t at = offset;
    offset += point.bytes;
    if (point.valid) {
      const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
      put(policy.replace_controls && control ? policy.replacement : point.value, at, point.bytes);
    } else if (policy.kind == ErrorPolicy::Kind::strict) {
      fail<InvalidArgumentError>("[", call.op.name(), "] Invalid formatting on input string");
    } else if (policy.kind == ErrorPolicy::Kind::replace) {
      put(policy.replacement, at, point.bytes);
    }
  }
}

template <class Sink>
void put_code_point(Encoding encoding, uint32_t value, Sink& sink) {
  char bytes[4];
  sink.append(
      std::string_view(bytes, static_cast<size_t>(write_code_point(encoding, value, bytes))));
}

/// unicode_encode: code points of one row, malformed ones treated as the policy says.
template <class Sink>
void put_encoded(std::span<const int32_t> values, Encoding encoding, const ErrorPolicy& policy,
                 const OpCall& call, Sink& sink) {
  for (const int32_t value : values) {
    if (is_code_point(value)) {
      put_code_point(encoding, static_cast<uint32_t>(value), sink);
    } else if (policy.kind == ErrorPolicy::Kind::strict) {
      fail<InvalidArgumentError>("[", call.op.name(),
                                 "] Code point is out of range for Unicode, or is a surrogate.");
    } else if (policy.kind == ErrorPolicy::Kind::replace) {
      put_code_point(encoding, policy.replacement, sink);
    }
  }
}

/// unicode_transcode: every element.
template <class Sink>
void transcode(const OpCall& call, Sink& sink) {
  ErrorPolicy policy(call);
  policy.replace_controls = call.attr("replace_control_characters").as_bool();
  const Encoding from = encoding_from_name(call.op.name(), call.attr("input_encoding").as_string());
  const Encoding to = encoding_from_name(call.op.name(), call.attr("output_encoding").as_string());
  for (int64_t i = 0; i < call.inputs[0].num_elements(); ++i) {
    decode(call.inputs[0].string_at(i), from, policy, call,
           [&](uint32_t value, size_t, uint32_t) { put_code_point(to, value, sink); });
    sink.close();
  }
}

}  // namespace tidemark::text
