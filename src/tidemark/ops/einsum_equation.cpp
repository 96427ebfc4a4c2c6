#include "tidemark/ops/einsum_equation.h"

#include <algorithm>
#include <array>
#include <string>

namespace tidemark {

namespace {

/// The letters of one term; -1 stands for the ellipsis.
struct Term {
  std::vector<int> symbols;
  bool has_ellipsis = false;
};

class Parser {
 public:
  Parser(std::string_view equation, std::span<const Shape> shapes)
      : equation_(equation), shapes_(shapes) {
    for (char c : equation) {
      if (c != ' ') text_ += c;
    }
  }

  EinsumEquation parse() {
    const size_t arrow = text_.find("->");
    const bool is_explicit = arrow != std::string::npos;
    read_inputs(std::string_view(text_).substr(0, arrow));
    if (is_explicit) {
      read_output(read_term(std::string_view(text_).substr(arrow + 2)));
    } else {
      imply_output();
    }
    return std::move(result_);
  }

 private:
  template <class... Pieces>
  [[noreturn]] void fail(const Pieces&... pieces) const {
    tidemark::fail<InvalidArgumentError>("[einsum] equation \"", equation_, "\": ", pieces...);
  }

  Term read_term(std::string_view text) const {
    Term term;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        term.symbols.push_back(c);
      } else if (text.substr(i, 3) == "..." && !term.has_ellipsis) {
        term.has_ellipsis = true;
        term.symbols.push_back(-1);
        i += 2;
      } else {
        fail("'", std::string(1, c),
             "' is not allowed there; a term consists of letters and one "
             "\"...\" at most, as in \"...ij,...jk->...ik\"");
      }
    }
    return term;
  }

  void read_inputs(std::string_view text) {
    size_t begin = 0;
    for (;;) {
      const size_t comma = text.find(',', begin);
      read_input(read_term(text.substr(begin, comma - begin)));
      if (comma == std::string_view::npos) break;
      begin = comma + 1;
    }
    if (result_.inputs.size() != shapes_.size()) {
      fail("describes ", result_.inputs.size(), " operands, but ", shapes_.size(), " were given");
    }
  }

  void read_input(const Term& term) {
    const size_t index = result_.inputs.size();
    if (index >= shapes_.size()) {
      fail("describes more than the ", shapes_.size(), " operands that were given");
    }
    const Shape& shape = shapes_[index];
    if (!shape.has_rank()) fail("the rank of operand ", index, " has to be known");
    const int letters = static_cast<int>(term.symbols.size()) - (term.has_ellipsis ? 1 : 0);
    const int covered = shape.rank() - letters;
    if (covered < 0 || (covered > 0 && !term.has_ellipsis)) {
      fail("term ", index, " names ", letters, " dimensions, but operand ", index, " has shape ",
           shape.to_brackets());
    }
    ellipsis_rank_ = std::max(ellipsis_rank_, covered);
    result_.inputs.push_back(labels_of(term, covered));
    for (int label : result_.inputs.back()) {
      if (label < kEllipsis) ++uses_[static_cast<size_t>(label)];
    }
  }

  static Labels labels_of(const Term& term, int ellipsis_rank) {
    Labels labels;
    for (int symbol : term.symbols) {
      if (symbol >= 0) {
        labels.push_back(symbol);
      } else {
        for (int i = ellipsis_rank; i-- > 0;) labels.push_back(kEllipsis + i);
      }
    }
    return labels;
  }

  void read_output(const Term& term) {
    for (int symbol : term.symbols) {
      if (symbol >= 0 && uses_[static_cast<size_t>(symbol)] == 0) {
        fail("the output names '", std::string(1, static_cast<char>(symbol)),
             "', which no input has");
      }
    }
    if (ellipsis_rank_ > 0 && !term.has_ellipsis) {
      fail("the inputs have dimensions under \"...\", so the output needs \"...\", too");
    }
    result_.output = labels_of(term, ellipsis_rank_);
  }

  void imply_output() {
    for (int i = ellipsis_rank_; i-- > 0;) result_.output.push_back(kEllipsis + i);
    for (int c = 0; c < kEllipsis; ++c) {
      if (uses_[static_cast<size_t>(c)] == 1) result_.output.push_back(c);
    }
  }

  std::string_view equation_;
  std::span<const Shape> shapes_;
  std::string text_;
  EinsumEquation result_;
  int ellipsis_rank_ = 0;
  std::array<int, kEllipsis> uses_{};
};

}  // namespace

EinsumEquation parse_einsum(std::string_view equation, std::span<const Shape> shapes) {
  return Parser(equation, shapes).parse();
}

}  // namespace tidemark
