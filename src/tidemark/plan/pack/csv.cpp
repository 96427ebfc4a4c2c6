#include "tidemark/plan/pack/csv.h"

#include <tidemark/error.h>

#include <array>
#include <charconv>
#include <unordered_map>

namespace tidemark::plan {

namespace {

enum Column { kId, kLower, kUpper, kSize, kAlignment, kOffset, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"id",   "lower",     "upper",
                                                           "size", "alignment", "offset"};
constexpr int kRequired = kAlignment;  // the columns before it

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// Cuts off everything up to the next `end`, or all that is left.
std::string_view next_piece(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return piece;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  const bool ends_empty = !line.empty() && line.back() == ',';
  while (!line.empty()) cells.push_back(trimmed(next_piece(line, ',')));
  if (ends_empty) cells.emplace_back();
  return cells;
}

/// Text from outside, short enough for a message.
std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > kLongest ? "…\"" : "\"");
}

class Parser {
 public:
  BufferTable parse(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    while (!text.empty()) {
      ++line_;
      const std::string_view line = trimmed(next_piece(text, '\n'));
      if (line.empty()) continue;
      if (columns_.empty()) {
        read_header(cells_of(line));
      } else {
        read_row(cells_of(line));
      }
    }
    if (columns_.empty()) refuse("the file has no header; it must begin with id,lower,upper,size");
    return std::move(table_);
  }

 private:
  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    fail("line ", line_, ": ", pieces...);
  }

  void read_header(const std::vector<std::string_view>& cells) {
    std::array<bool, kColumns> seen{};
    for (const std::string_view cell : cells) {
      int column = 0;
      while (column < kColumns && kNames[column] != cell) ++column;
      if (column == kColumns) {
        refuse("unknown column ", quoted(cell),
               "; the header names id, lower, upper, size and, if wished, alignment and offset");
      }
      if (seen[column]) refuse("the column ", quoted(cell), " is there twice");
      seen[column] = true;
      columns_.push_back(static_cast<Column>(column));
    }
    for (int column = 0; column < kRequired; ++column) {
      if (!seen[column]) refuse("the header lacks the column ", quoted(kNames[column]));
    }
  }

  void read_row(const std::vector<std::string_view>& cells) {
    if (cells.size() != columns_.size()) {
      refuse("has ", cells.size(), " values, but the header names ", columns_.size());
    }
    LiveRange range;
    std::string id;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string_view cell = cells[i];
      switch (columns_[i]) {
        case kId:
          id = cell;
          break;
        case kLower:
          range.lower = number(kLower, cell);
          break;
        case kUpper:
          range.upper = number(kUpper, cell);
          break;
        case kSize:
          range.size = number(kSize, cell);
          break;
        case kAlignment:
          range.alignment = number(kAlignment, cell);
          break;
        case kOffset:
          range.fixed = cell.empty() ? kAnywhere : number(kOffset, cell);
          break;
        case kColumns:
          break;
      }
    }
    check(range, id);
    table_.ids.push_back(std::move(id));
    table_.ranges.push_back(range);
  }

  void check(const LiveRange& b, const std::string& id) {
    if (id.empty()) refuse("the id is empty");
    const auto [at, is_new] = line_of_id_.try_emplace(id, line_);
    if (!is_new) refuse("the id ", quoted(id), " was given on line ", at->second, " already");
    if (b.size < 0) refuse("the size is ", b.size, "; it must be at least 0");
    if (b.lower >= b.upper) {
      refuse("lower is ", b.lower, " and upper ", b.upper, "; lower must be less than upper");
    }
    if (b.alignment < 1) refuse("the alignment is ", b.alignment, "; it must be at least 1");
    if (b.fixed < kAnywhere) refuse("the offset is ", b.fixed, "; it must be at least 0");
  }

  int64_t number(Column column, std::string_view cell) const {
    int64_t value = 0;
    const char* end = cell.data() + cell.size();
    const auto [at, error] = std::from_chars(cell.data(), end, value);
    if (error == std::errc::result_out_of_range) {
      refuse(kNames[column], " is ", quoted(cell), ", which does not fit into 64 bits");
    }
    if (error != std::errc() || at != end) {
      refuse(kNames[column], " is ", quoted(cell), "; it must be a whole number");
    }
    return value;
  }

  int64_t line_ = 0;
  std::vector<Column> columns_;
  std::unordered_map<std::string, int64_t> line_of_id_;
  BufferTable table_;
};

}  // namespace

BufferTable parse_csv(std::string_view text) { return Parser().parse(text); }

}  // namespace tidemark::plan
