#include "tidemark/io/safetensors/header.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "tidemark/base/text/unicode.h"
#include "tidemark/io/input_file.h"

namespace tidemark::io::safetensors {

namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kAlign = 8;

/// In the order of the format, in which tensors are written from the back.
constexpr ElementType kTypes[] = {
    {"BOOL", DType::bool_, 8},
    {"F4", DType::invalid, 4},
    {"F6_E2M3", DType::invalid, 6},
    {"F6_E3M2", DType::invalid, 6},
    {"U8", DType::uint8, 8},
    {"I8", DType::int8, 8},
    {"F8_E5M2", DType::invalid, 8},
    {"F8_E4M3", DType::invalid, 8},
    {"F8_E8M0", DType::invalid, 8},
    {"F8_E4M3FNUZ", DType::invalid, 8},
    {"F8_E5M2FNUZ", DType::invalid, 8},
    {"I16", DType::int16, 16},
    {"U16", DType::uint16, 16},
    {"F16", DType::float16, 16},
    {"BF16", DType::bfloat16, 16},
    {"I32", DType::int32, 32},
    {"U32", DType::uint32, 32},
    {"F32", DType::float32, 32},
    {"C64", DType::complex64, 64},
    {"F64", DType::float64, 64},
    {"I64", DType::int64, 64},
    {"U64", DType::uint64, 64},
};

/// Takes the JSON of a header apart, piece by piece. The format needs texts, whole numbers and two
/// levels of objects; anything else is damage.
class Reader {
 public:
  Reader(const std::string& path, std::string_view json) : path_(path), rest_(json) {}

  [[noreturn]] void damaged(std::string_view what) const {
    fail_damaged(path_, message("its header ", what));
  }

  /// True iff the next sign is this one, which is taken then.
  bool take(char sign) {
    skip_space();
    if (rest_.empty() || rest_.front() != sign) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void need(char sign) {
    if (!take(sign)) {
      damaged(message("has no '", std::string_view(&sign, 1), "' where one belongs, before \"",
                      printable(rest_.substr(0, 20)), "\""));
    }
  }

  /// Calls `member(name)` for each of an object, which has to take the value. Names differ.
  template <class Member>
  void object(const Member& member) {
    need('{');
    if (take('}')) return;
    do {
      std::string name = string();
      need(':');
      member(std::move(name));
    } while (take(','));
    need('}');
  }

  template <class Element>
  void array(const Element& element) {
    need('[');
    if (take(']')) return;
    do {
      element();
    } while (take(','));
    need(']');
  }

  uint64_t number() {
    skip_space();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) {
      damaged(message("has no whole number where one belongs, at \"",
                      printable(rest_.substr(0, 20)), "\""));
    }
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  std::string string() {
    need('"');
    std::string out;
    for (;;) {
      if (rest_.empty()) damaged("ends inside of a text");
      const char c = rest_.front();
      if (static_cast<unsigned char>(c) < 0x20) damaged("has a control character in a text");
      if (c == '"') break;
      if (c == '\\') {
        rest_.remove_prefix(1);
        put_escaped(out);
        continue;
      }
      const text::CodePoint next = text::first_code_point(text::Encoding::utf8, rest_);
      if (!next.valid) damaged("is no UTF-8");
      out.append(rest_.substr(0, next.bytes));
      rest_.remove_prefix(next.bytes);
    }
    rest_.remove_prefix(1);
    return out;
  }

  void need_end() {
    skip_space();
    if (!rest_.empty()) damaged("goes on behind its end");
  }

 private:
  static std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) out += c >= ' ' && c < 0x7f ? c : '?';
    return out;
  }

  void skip_space() {
    const size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(first, rest_.size()));
  }

  uint32_t four_digits() {
    uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + std::min<size_t>(4, rest_.size()), value, 16);
    if (error != std::errc() || end != rest_.data() + 4) damaged("has a malformed \\u");
    rest_.remove_prefix(4);
    return value;
  }

  void put_escaped(std::string& out) {
    constexpr std::string_view kSigns = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const char sign = rest_.empty() ? '\0' : rest_.front();
    if (!rest_.empty()) rest_.remove_prefix(1);
    if (const size_t at = kSigns.find(sign); at != kSigns.npos) {
      out += kMeant[at];
      return;
    }
    if (sign != 'u') damaged("has a malformed escape in a text");
    uint32_t value = four_digits();
    if (value >= 0xD800 && value < 0xDC00 && rest_.starts_with("\\u")) {
      rest_.remove_prefix(2);
      const uint32_t low = four_digits();
      if (low < 0xDC00 || low > 0xDFFF) damaged("has half a pair of surrogates");
      value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
    }
    if (!text::is_code_point(value)) damaged("has half a pair of surrogates");
    char bytes[4];
    out.append(bytes,
               static_cast<size_t>(text::write_code_point(text::Encoding::utf8, value, bytes)));
  }

  const std::string& path_;
  std::string_view rest_;
};

/// The bytes that the elements take; throws where that is no whole number or overflows.
uint64_t bytes_of(const Reader& reader, const std::string& name, const Entry& entry) {
  uint64_t bits = entry.type->bits;
  for (const int64_t size : entry.shape) {
    if (__builtin_mul_overflow(bits, static_cast<uint64_t>(size), &bits)) {
      reader.damaged(message("gives '", name, "' the impossible shape ", entry.shape));
    }
  }
  if (bits % 8 != 0) {
    reader.damaged(message("gives '", name, "' of ", entry.type->name, " a part of a byte"));
  }
  return bits / 8;
}

Shape read_shape(Reader& reader, const std::string& name) {
  Shape shape;
  reader.array([&] {
    const uint64_t size = reader.number();
    if (shape.rank() == Shape::kMaxRank || size > uint64_t{INT64_MAX}) {
      reader.damaged(message("gives '", name, "' an impossible shape"));
    }
    shape.push_back(static_cast<int64_t>(size));
  });
  return shape;
}

Entry read_entry(Reader& reader, const std::string& name) {
  Entry entry;
  bool has_shape = false;
  std::vector<uint64_t> span;
  reader.object([&](const std::string& member) {
    if (member == "dtype" && !entry.type) {
      const std::string type = reader.string();
      entry.type = find_type(type);
      if (!entry.type) reader.damaged(message("gives '", name, "' the unknown dtype ", type));
    } else if (member == "shape" && !has_shape) {
      entry.shape = read_shape(reader, name);
      has_shape = true;
    } else if (member == "data_offsets" && span.empty()) {
      reader.array([&] {
        if (span.size() == 2) reader.damaged(message("gives '", name, "' more than two offsets"));
        span.push_back(reader.number());
      });
    } else {
      reader.damaged(message("has \"", member, "\" in '", name,
                             "'; dtype, shape and data_offsets belong there, each once"));
    }
  });
  if (!entry.type || !has_shape || span.size() != 2) {
    reader.damaged(message("lacks the dtype, shape or data_offsets of '", name, "'"));
  }
  entry.begin = span[0];
  entry.end = span[1];
  if (entry.end < entry.begin || entry.end - entry.begin != bytes_of(reader, name, entry)) {
    reader.damaged(message("gives '", name, "' the bytes from ", entry.begin, " to ", entry.end,
                           ", which are not those of ", entry.type->name, " and shape ",
                           entry.shape));
  }
  return entry;
}

void read_metadata(Reader& reader, Header& header) {
  reader.object([&](std::string key) {
    std::string value = reader.string();
    if (!header.metadata.emplace(std::move(key), std::move(value)).second) {
      reader.damaged("has a key of its metadata twice");
    }
  });
}

using Named = const std::pair<const std::string, Entry>*;

std::vector<Named> by_place(const Header& header) {
  std::vector<Named> all;
  for (const auto& named : header.entries) all.push_back(&named);
  std::ranges::sort(all, {},
                    [](Named one) { return std::pair(one->second.begin, one->second.end); });
  return all;
}

/// Every byte of the data belongs to one tensor.
void check_places(const Reader& reader, const Header& header, uint64_t data_bytes) {
  uint64_t end = 0;
  for (const Named one : by_place(header)) {
    if (one->second.begin != end) {
      reader.damaged(message("lets '", one->first, "' begin at byte ", one->second.begin,
                             " where the one before ends at ", end));
    }
    end = one->second.end;
  }
  if (end != data_bytes) {
    reader.damaged(message("describes ", end, " bytes of data; the file has ", data_bytes));
  }
}

void put_text(std::string& out, std::string_view text) {
  constexpr std::string_view kSigns = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (const size_t at = kSigns.find(c); at != kSigns.npos) {
      out += '\\';
      out += kNames[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

const ElementType* find_type(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &ElementType::name);
  return found == std::end(kTypes) ? nullptr : found;
}

const ElementType* find_type(DType dtype) {
  const auto* found = std::ranges::find(kTypes, dtype, &ElementType::dtype);
  return found == std::end(kTypes) || dtype == DType::invalid ? nullptr : found;
}

bool is_written_before(const ElementType* type, std::string_view name,
                       const ElementType* other_type, std::string_view other_name) {
  return type != other_type ? type > other_type : name < other_name;
}

Header read_header(const std::string& path, std::string_view json, uint64_t data_bytes) {
  Reader reader(path, json);
  Header header;
  bool has_metadata = false;
  if (!json.starts_with('{')) reader.damaged("does not begin with '{'");
  reader.object([&](std::string name) {
    if (name == kMetadata) {
      if (std::exchange(has_metadata, true)) reader.damaged("has its metadata twice");
      return read_metadata(reader, header);
    }
    Entry entry = read_entry(reader, name);
    const auto [at, is_new] = header.entries.emplace(std::move(name), std::move(entry));
    if (!is_new) reader.damaged(message("names '", at->first, "' twice"));
  });
  reader.need_end();
  check_places(reader, header, data_bytes);
  return header;
}

std::string write_header(const Header& header) {
  std::string out = "{";
  const auto put_name = [&](std::string_view name) {
    if (out.back() != '{') out += ',';
    put_text(out, name);
    out += ':';
  };
  if (!header.metadata.empty()) {
    put_name(kMetadata);
    out += '{';
    for (const auto& [key, value] : header.metadata) {
      put_name(key);
      put_text(out, value);
    }
    out += '}';
  }
  for (const Named one : by_place(header)) {
    put_name(one->first);
    out += message("{\"dtype\":\"", one->second.type->name, "\",\"shape\":[");
    for (const int64_t size : one->second.shape) {
      if (out.back() != '[') out += ',';
      out += std::to_string(size);
    }
    out += message("],\"data_offsets\":[", one->second.begin, ",", one->second.end, "]}");
  }
  out += '}';
  out.append((kAlign - out.size() % kAlign) % kAlign, ' ');
  return out;
}

}  // namespace tidemark::io::safetensors
