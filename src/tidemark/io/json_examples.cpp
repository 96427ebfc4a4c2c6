#include "tidemark/io/json_examples.h"

#include <tidemark/io.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "tidemark/base/text/base64.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/input_file.h"
#include "tidemark/io/keras/json.h"
#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"

namespace tidemark::io {

namespace {

using keras::Json;

/// Of the list's field, by the names that JSON has for it.
enum ListField : uint32_t { kBytes = 1, kFloats = 2, kInts = 3 };
constexpr std::pair<std::string_view, ListField> kLists[] = {
    {"bytesList", kBytes},   {"bytes_list", kBytes}, {"floatList", kFloats},
    {"float_list", kFloats}, {"int64List", kInts},   {"int64_list", kInts},
};

std::string bytes_from(const std::string& text) {
  std::string web_safe = text;
  std::ranges::replace(web_safe, '+', '-');
  std::ranges::replace(web_safe, '/', '_');
  BytesSink out;
  if (!text::put_from_base64(web_safe, out)) fail("\"", text, "\" is not in base64");
  return std::move(out.bytes);
}

template <class T>
T number_from(const Json& item) {
  if (item.is_number()) {
    if constexpr (std::is_same_v<T, float>) return static_cast<float>(item.as_real());
    return static_cast<T>(item.as_int());
  }
  const std::string& digits = item.as_text();
  T out{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    fail("\"", digits, "\" is no number");
  }
  return out;
}

/// BytesList, FloatList or Int64List.
std::string list_bytes(ListField kind, const Json& given) {
  BytesSink out, packed;
  const Json* values = given.find("value");
  if (!values || values->as_list().empty()) return {};
  for (const Json& item : values->as_list()) {
    if (kind == kBytes) put_bytes_field(out, 1, bytes_from(item.as_text()));
    if (kind == kInts) put_varint(packed, static_cast<uint64_t>(number_from<int64_t>(item)));
    if (kind == kFloats) {
      const auto value = number_from<float>(item);
      packed.append({reinterpret_cast<const char*>(&value), sizeof(value)});
    }
  }
  if (kind != kBytes) put_bytes_field(out, 1, packed.bytes);
  return std::move(out.bytes);
}

std::string feature_bytes(const Json& given) {
  BytesSink out;
  for (const auto& [name, list] : given.as_object()) {
    const auto* known = std::ranges::find(kLists, name, [](const auto& one) { return one.first; });
    if (known == std::end(kLists)) fail("a feature has no field \"", name, "\"");
    put_bytes_field(out, known->second, list_bytes(known->second, list));
  }
  return std::move(out.bytes);
}

std::string example_bytes(const Json& example) {
  BytesSink out;
  for (const auto& [name, given] : example.as_object()) {
    BytesSink features;
    if (name != "features") fail("Example has no field \"", name, "\"");
    for (const auto& [part, all] : given.as_object()) {
      if (part != "feature") fail("Features has no field \"", part, "\"");
      for (const auto& [key, feature] : all.as_object()) {
        BytesSink entry;
        put_bytes_field(entry, 1, key);
        put_bytes_field(entry, 2, feature_bytes(feature));
        put_bytes_field(features, 1, entry.bytes);
      }
    }
    put_bytes_field(out, 1, features.bytes);
  }
  return std::move(out.bytes);
}

}  // namespace

std::string example_of_json(std::string_view json) {
  const auto refuse = [](const Error& error) {
    fail("[decode_json_example] Error while parsing JSON: ", error.what(),
         "; an Example like {\"features\": {\"feature\": {\"a\": {\"floatList\": {\"value\": "
         "[1]}}}}} "
         "is expected");
  };
  try {
    return example_bytes(keras::read_json("the example", json));
  } catch (const DataLossError& error) {
    refuse(error);
  } catch (const InvalidArgumentError& error) {
    refuse(error);
  }
  return {};
}

Tensor decode_json_example(const Tensor& json_examples) {
  TIDEMARK_HERE;
  const auto decoded = [](const std::vector<Tensor>& x) {
    std::vector<std::string> made;
    for (int64_t i = 0; i < x[0].num_elements(); ++i) {
      made.push_back(example_of_json(x[0].string_at(i)));
    }
    const std::vector<std::string_view> views(made.begin(), made.end());
    return std::vector{Tensor::of_strings(views, x[0].shape())};
  };
  return nn::when_run("decode_json_example", decoded, {json_examples},
                      {{DType::string, json_examples.shape()}})[0];
}

}  // namespace tidemark::io
