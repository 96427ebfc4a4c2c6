// The fused LSTM over a sequence.
#include "tidemark/io/onnx/recurrent.h"
#include "tidemark/io/tflite/quantised.h"
#include "tidemark/io/tflite/rounded.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

/// Where the operator's inputs stand; gates in the order: input, forget, cell, output.
constexpr size_t kInputWeights = 1, kRecurrentWeights = 5;
constexpr size_t kPeepholes = 9;  // of the gates input, forget, output
constexpr size_t kBiases = 12, kProjection = 16, kProjectionBias = 17;
constexpr size_t kState = 18, kCellState = 19, kNormalisers = 20;
constexpr size_t kIn = 0, kForget = 1, kCell = 2, kOut = 3, kGates = 4;

Tensor bounded(const Tensor& x, double at) { return at > 0 ? clip(x, -at, at) : x; }

/// x before it meets weights that are integers.
using Round = std::function<Tensor(const Tensor& x)>;
/// An input as reals.
using Read = std::function<Tensor(size_t)>;

class SequenceLstm {
 public:
  SequenceLstm(const Call& call, const Read& read, Round round)
      : c(call), read_(read), round_(std::move(round)) {
    if (c.integer("diagonal", 0) != 0) {
      tidemark::fail<UnimplementedError>("recurrent weights that are diagonals are not read");
    }
    is_coupled_ = !c.has(kInputWeights);
    first_ = is_coupled_ ? kForget : kIn;
    cells_ = known_dim(c.in(kInputWeights + kForget), 0);
    is_normalised_ = c.has(kNormalisers + kForget);
    weights_.hidden = known_dim(c.in(kRecurrentWeights + kForget), 1);
    weights_.w = joined(kInputWeights);
    weights_.r = joined(kRecurrentWeights);
    const Tensor biases = joined(kBiases);
    weights_.wb = is_normalised_ ? zeros_like(biases) : biases;
  }

  Values run() {
    const bool is_time_first = c.integer("time_major", 0) != 0;
    const Tensor given = round_(c.in(0));
    const Tensor x = is_time_first ? given : transposed(given, {1, 0, 2});
    const auto begun = [&](size_t place, int64_t width) {
      if (c.has(place)) return c.in(place);
      const Tensor sizes[] = {expand_dims(dim_of(x, 1), 0), vector_of({width})};
      return fill(concat(sizes, 0), number(0, x));
    };
    const Direction done = run_direction(
        x, weights_, {begun(kState, weights_.hidden), begun(kCellState, cells_)}, Tensor(), false,
        {}, [this](const Weights& w, const Tensor& gates, std::span<const Tensor> state, auto) {
          return step(w, gates, state);
        });
    Values out{is_time_first ? done.y : transposed(done.y, {1, 0, 2})};
    out.insert(out.end(), done.last.begin(), done.last.end());
    return out;
  }

 private:
  /// One of each gate, one below the other.
  Tensor joined(size_t from) const {
    std::vector<Tensor> parts;
    for (size_t gate = first_; gate < kGates; ++gate) parts.push_back(read_(from + gate));
    return concat(parts, 0);
  }

  /// The gate's part of the sums, and what is between it and its activation.
  Tensor gate_of(const Tensor& sums, size_t gate, const Tensor& cell) const {
    const auto at = static_cast<int64_t>(gate - first_) * cells_;
    Tensor x = sliced(sums, -1, at, at + cells_);
    const size_t peephole = kPeepholes + (gate == kOut ? 2 : gate);
    if (gate != kCell && c.has(peephole)) x = x + read_(peephole) * cell;
    if (!is_normalised_) return x;
    const Tensor centred = x - mean(x, Ints{-1}, true);
    const Tensor spread = mean(square(centred), Ints{-1}, true);
    return centred * rsqrt(spread + number(1e-8, x)) * read_(kNormalisers + gate) +
           read_(kBiases + gate);
  }

  std::vector<Tensor> step(const Weights& w, const Tensor& gates,
                           std::span<const Tensor> state) const {
    const Tensor sums = gates + matmul(round_(state[0]), w.r, false, true);
    const Tensor& before = state[1];
    const Tensor forget = sigmoid(gate_of(sums, kForget, before));
    const Tensor in =
        is_coupled_ ? number(1, forget) - forget : sigmoid(gate_of(sums, kIn, before));
    const Tensor fresh = activated(c, gate_of(sums, kCell, before));
    const Tensor cell = bounded(forget * before + in * fresh, c.real("cell_clip", 0));
    const Tensor shown = sigmoid(gate_of(sums, kOut, cell)) * activated(c, cell);
    return {projected(shown), cell};
  }

  Tensor projected(const Tensor& x) const {
    if (!c.has(kProjection)) return x;
    const Tensor y = matmul(round_(x), read_(kProjection), false, true);
    return bounded(c.has(kProjectionBias) ? y + read_(kProjectionBias) : y,
                   c.real("projection_clip", 0));
  }

  const Call& c;
  const Read& read_;
  const Round round_;
  bool is_coupled_ = false, is_normalised_ = false;
  size_t first_ = kIn;
  int64_t cells_ = 0;
  Weights weights_;
};

Values lstm(const Call& c) {
  const Read read = [&](size_t i) { return c.in(i); };
  return SequenceLstm(c, read, [](const Tensor& x) { return x; }).run();
}

Values lstm_with_rounded_inputs(const Call& c) {
  const Read read = [&](size_t i) {
    const std::string name = message("input ", i);
    if (!c.attr(name)) return c.in(i);
    const NowIfKnown now(c.in(i));
    const Tensor x = less_zero(c, i, numbers_of(c, name), DType::float32);
    const std::span<const float> scales = scales_of(c, name);
    if (scales.size() == 1) return x * Tensor(scales[0]);
    return x * Tensor::of<float>(scales, Shape{static_cast<int64_t>(scales.size()), 1});
  };
  const bool is_between = c.integer("asymmetric", 0) != 0;
  return SequenceLstm(c, read,
                      [is_between](const Tensor& x) {
                        const Ints rows{-1};
                        const Rounded near =
                            is_between ? rounded_between(x, rows) : rounded_about_zero(x, rows);
                        return near.numbers * near.scale;
                      })
      .run();
}

constexpr Entry kEntries[] = {
    entry("UNIDIRECTIONAL_SEQUENCE_LSTM", lstm),
    entry("UNIDIRECTIONAL_SEQUENCE_LSTM with rounded inputs", lstm_with_rounded_inputs),
};

}  // namespace

std::span<const Entry> recurrent_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
