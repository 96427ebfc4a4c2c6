#include "tidemark/kernels/cpu/fusion/shaped.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemark::fusion {
namespace {

const OpDef& op(const char* name) { return OpRegistry::instance().get(name); }

/// relu(x + bias) * scale + residual: what follows a product.
FusedProgram epilogue() {
  Builder b;
  const Value x = b.load(DType::float32), bias = b.load(DType::float32);
  const Value scale = b.load(DType::float32), residual = b.load(DType::float32);
  const Value y = b.map(op("relu"), {b.map(op("add"), {x, bias})});
  b.output(b.map(op("add"), {b.map(op("multiply"), {y, scale}), residual}));
  return b.finish();
}

std::vector<float> draw(int64_t n, float step) {
  std::vector<float> out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::sin(step * static_cast<float>(i));
  return out;
}

struct Case {
  int64_t rows, columns;
  std::vector<float> x, bias, scale, residual;

  Case(int64_t r, int64_t c)
      : rows(r),
        columns(c),
        x(draw(r * c, 0.37f)),
        bias(draw(c, 0.71f)),
        scale(draw(r, 0.13f)),
        residual(draw(r * c, 0.59f)) {}

  std::vector<float> expected() const {
    std::vector<float> out(x.size());
    for (int64_t i = 0; i < rows * columns; ++i) {
      const auto at = static_cast<size_t>(i);
      const float y = std::max(0.f, x[at] + bias[static_cast<size_t>(i % columns)]);
      out[at] = y * scale[static_cast<size_t>(i / columns)] + residual[at];
    }
    return out;
  }
};

class InPieces {
 public:
  InPieces(const CompiledFusion& fusion, const Case& c, bool has_scale_a_row)
      : case_(c), scale_{has_scale_a_row ? c.rows : 1, 1} {
    const Shape* shapes[] = {&whole_, &bias_, &scale_, &whole_};
    shaped_ = std::make_unique<ShapedFusion>(fusion, shapes);
    call_.in = in_;
    call_.out = out_;
  }

  /// Where x lies, as epilogues do; columns [0, cut) of all rows, then the others, then by ranges.
  std::vector<float> by_columns(int64_t cut) {
    begin();
    shaped_->run_piece(call_, 0, cut, case_.rows, case_.columns);
    shaped_->run_piece(call_, cut, case_.columns - cut, case_.rows, case_.columns);
    return data_;
  }
  std::vector<float> by_ranges(int64_t length) {
    begin();
    const int64_t total = case_.rows * case_.columns;
    for (int64_t at = 0; at < total; at += length) {
      shaped_->run_piece(call_, at, std::min(length, total - at));
    }
    return data_;
  }

 private:
  void begin() {
    data_ = case_.x;
    in_[0] = out_[0] = data_.data();
    in_[1] = case_.bias.data();
    in_[2] = case_.scale.data();
    in_[3] = case_.residual.data();
    ASSERT_TRUE(shaped_->runs_in_pieces());
    shaped_->start(call_);
  }

  const Case& case_;
  const Shape whole_{case_.rows, case_.columns}, bias_{case_.columns}, scale_;
  std::unique_ptr<ShapedFusion> shaped_;
  std::vector<float> data_;
  const void* in_[4];
  void* out_[1];
  ShapedFusion::Call call_;
};

TEST(ShapedFusion, GivesTheSameInWhateverPieces) {
  for (const BackEnd back_end : {BackEnd::interpreter, BackEnd::avx2, BackEnd::best}) {
    const BackEnd before = set_back_end(back_end);
    const auto fusion = CompiledFusion::make(epilogue());
    set_back_end(before);
    for (const int64_t columns : {2, 3, 64, 130, 700, 3000}) {
      Case c(37, columns);
      InPieces a_row(*fusion, c, true);
      const std::vector<float> want = c.expected();
      EXPECT_EQ(a_row.by_columns(columns / 2), want) << columns;
      EXPECT_EQ(a_row.by_ranges(columns), want) << columns;
      EXPECT_EQ(a_row.by_ranges(101), want) << columns;
      // One factor for all: the bias is laid out once for several rows.
      std::fill(c.scale.begin(), c.scale.end(), 0.75f);
      InPieces at_once(*fusion, c, false);
      const std::vector<float> plain = c.expected();
      EXPECT_EQ(at_once.by_columns((columns + 1) / 2), plain) << columns;
      EXPECT_EQ(at_once.by_ranges(37 * columns), plain) << columns;
      EXPECT_EQ(at_once.by_ranges(1013), plain) << columns;
    }
  }
}

}  // namespace
}  // namespace tidemark::fusion
