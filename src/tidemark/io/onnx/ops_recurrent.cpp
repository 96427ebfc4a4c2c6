// RNN, GRU and LSTM: a loop over time with one product a step.
#include <tidemark/control_flow.h>

#include <algorithm>

#include "tidemark/io/onnx/recurrent.h"

namespace tidemark::io::onnx {

namespace {

constexpr int64_t kMostStepsInLine = 4;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char ch) {
    return static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
  });
  return out;
}

Activation activation_of(const Call& c, std::string_view name, double alpha, double beta,
                         bool has_alpha, bool has_beta) {
  const std::string kind = lower(name);
  const auto a = [=](double unless_given) { return has_alpha ? alpha : unless_given; };
  const auto b = [=](double unless_given) { return has_beta ? beta : unless_given; };
  if (kind == "tanh") return [](const Tensor& x) { return tanh(x); };
  if (kind == "sigmoid") return [](const Tensor& x) { return sigmoid(x); };
  if (kind == "relu") return [](const Tensor& x) { return relu(x); };
  if (kind == "softsign") return [](const Tensor& x) { return softsign(x); };
  if (kind == "softplus") return [](const Tensor& x) { return softplus(x); };
  if (kind == "elu") {
    return [=](const Tensor& x) {
      return select(less(x, number(0, x)), expm1(x) * number(a(1), x), x);
    };
  }
  if (kind == "leakyrelu") return [=](const Tensor& x) { return leaky_relu(x, a(0.01)); };
  if (kind == "affine") {
    return [=](const Tensor& x) { return x * number(a(1), x) + number(b(0), x); };
  }
  if (kind == "hardsigmoid") {
    return [=](const Tensor& x) { return clip(x * number(a(0.2), x) + number(b(0.5), x), 0, 1); };
  }
  if (kind == "scaledtanh") {
    return [=](const Tensor& x) { return tanh(x * number(b(1), x)) * number(a(1), x); };
  }
  if (kind == "thresholdedrelu") {
    return [=](const Tensor& x) { return select(greater(x, number(a(1), x)), x, zeros_like(x)); };
  }
  c.fail("the activation ", name, " is none of ONNX's");
}

/// The activations of all directions, with their numbers handed out in order.
std::vector<Activation> activations_of(const Call& c, std::vector<std::string_view> unless_given,
                                       int64_t directions) {
  std::vector<std::string_view> names;
  for (int64_t d = 0; d < directions; ++d) {
    names.insert(names.end(), unless_given.begin(), unless_given.end());
  }
  if (const Attribute* given = c.attr("activations")) names = given->texts;
  if (names.size() != unless_given.size() * static_cast<size_t>(directions)) {
    c.fail("needs ", unless_given.size(), " activations a direction");
  }
  const Attribute *alphas = c.attr("activation_alpha"), *betas = c.attr("activation_beta");
  std::vector<Activation> out;
  const auto at = [](const Attribute* list, size_t i) {
    return list && i < list->reals.size() ? static_cast<double>(list->reals[i]) : 0.0;
  };
  for (size_t i = 0; i < names.size(); ++i) {
    out.push_back(activation_of(c, names[i], at(alphas, i), at(betas, i),
                                alphas && i < alphas->reals.size(),
                                betas && i < betas->reals.size()));
  }
  return out;
}

Direction turned_back(Direction out, const Tensor& lengths, bool is_backwards) {
  if (is_backwards) {
    out.y = lengths ? reverse_sequence(out.y, lengths, 0, 1) : reverse(out.y, Ints{0});
  }
  return out;
}

/// Sequences that have ended keep their state and give zeros.
Tensor mask_ended(std::vector<Tensor>& next, std::span<const Tensor> before, const Tensor& at,
                  const Tensor& lengths) {
  if (!lengths) return next[0];
  const Tensor goes_on = expand_dims(less(at, lengths), 1);
  const Tensor y = select(goes_on, next[0], zeros_like(next[0]));
  for (size_t i = 0; i < next.size(); ++i) next[i] = select(goes_on, next[i], before[i]);
  return y;
}

/// A few steps one behind the other: no loop to enter and to leave, and one plan for all.
Direction run_in_line(const Tensor& gates, int64_t steps, const Weights& w,
                      std::vector<Tensor> state, const Tensor& lengths, bool is_backwards,
                      std::span<const Activation> f, const CellRule& cell) {
  std::vector<Tensor> ys;
  for (int64_t at = 0; at < steps; ++at) {
    std::vector<Tensor> next = cell(w, picked(gates, 0, at), state, f);
    ys.push_back(mask_ended(next, state, Tensor(at), lengths));
    state = std::move(next);
  }
  return turned_back({stack(ys, 0), std::move(state)}, lengths, is_backwards);
}

}  // namespace

Direction run_direction(const Tensor& x, const Weights& w, std::vector<Tensor> state,
                        const Tensor& lengths, bool is_backwards, std::span<const Activation> f,
                        const CellRule& cell) {
  const Tensor zero(int64_t{0}), one(int64_t{1});
  const Tensor time = dim_of(x, 0);
  Tensor seen = x;
  if (is_backwards) {
    seen = lengths ? reverse_sequence(x, lengths, 0, 1) : reverse(x, Ints{0});
  }
  // All steps' products with the input at once.
  const Tensor gates = matmul(seen, w.w, false, true) + w.wb;
  if (const int64_t steps = x.dim(0); steps != kUnknownDim && steps <= kMostStepsInLine) {
    return run_in_line(gates, steps, w, std::move(state), lengths, is_backwards, f, cell);
  }
  Array outputs(x.dtype(), as(time, DType::int32), {.element_shape = Shape{x.dim(1), w.hidden}});
  std::vector<Tensor> variables{zero, outputs.tensor()};
  LoopOptions options;
  options.shapes = {Shape{}, Shape::unknown()};
  for (const Tensor& s : state) {
    variables.push_back(s);
    options.shapes.push_back(s.shape());
  }
  const std::vector<Tensor> end = while_loop(
      [&](std::span<const Tensor> v) { return less(v[0], time); },
      [&](std::span<const Tensor> v) {
        std::vector<Tensor> next = cell(w, gather(gates, v[0], std::nullopt, 0), v.subspan(2), f);
        const Tensor y = mask_ended(next, v.subspan(2), v[0], lengths);
        const Array written = outputs.with(v[1]).write(as(v[0], DType::int32), y);
        std::vector<Tensor> out{v[0] + one, written.tensor()};
        out.insert(out.end(), next.begin(), next.end());
        return out;
      },
      variables, options);
  return turned_back({outputs.with(end[1]).stack(), {end.begin() + 2, end.end()}}, lengths,
                     is_backwards);
}

namespace {

/// What the three ops share: directions, layout, initial state, results.
Values run_recurrent(const Call& c, int64_t gates, size_t states,
                     std::vector<std::string_view> names, const CellRule& cell) {
  const bool batch_first = c.integer("layout", 0) != 0;
  const auto swapped = [&](const Tensor& t) {
    return batch_first ? transposed(t, rank_of(t) == 3 ? Ints{1, 0, 2} : Ints{1, 2, 0, 3}) : t;
  };
  const Tensor x = swapped(c.in(0));
  const std::string direction = c.text("direction", "forward");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const int64_t hidden = known_dim(c.in(2), -1);
  const Tensor lengths = c.has(4) ? as(c.in(4), DType::int64) : Tensor();
  const std::vector<Activation> all = activations_of(c, names, directions);
  const size_t each = names.size();
  std::vector<Tensor> ys;
  std::vector<std::vector<Tensor>> lasts(states);
  for (int64_t d = 0; d < directions; ++d) {
    const auto mine = [&](size_t input) { return picked(c.in(input), 0, d); };
    Weights w{mine(1), mine(2), {}, {}, {}, hidden};
    if (c.has(3)) {
      const Tensor b = mine(3);
      w.wb = sliced(b, 0, 0, gates * hidden);
      w.rb = sliced(b, 0, gates * hidden, 2 * gates * hidden);
    } else {
      w.wb = w.rb = fill(vector_of({gates * hidden}), number(0, x));
    }
    if (c.has(7)) w.peepholes = mine(7);
    std::vector<Tensor> state;
    for (size_t s = 0; s < states; ++s) {
      if (c.has(5 + s)) {
        state.push_back(picked(swapped(c.in(5 + s)), 0, d));
      } else {
        const Tensor sizes[] = {expand_dims(dim_of(x, 1), 0), vector_of({hidden})};
        state.push_back(fill(concat(sizes, 0), number(0, x)));
      }
    }
    const std::span<const Activation> f(all.data() + static_cast<size_t>(d) * each, each);
    const bool is_backwards = direction == "reverse" || d == 1;
    Direction done = run_direction(x, w, std::move(state), lengths, is_backwards, f, cell);
    ys.push_back(done.y);
    for (size_t s = 0; s < states; ++s) lasts[s].push_back(done.last[s]);
  }
  Tensor y = stack(ys, 1);  // [time, directions, batch, hidden]
  if (batch_first) y = transposed(y, {2, 0, 1, 3});
  Values out{y};
  for (const auto& last : lasts) out.emplace_back(stack(last, batch_first ? 1 : 0));
  return out;
}

Tensor bounded(const Tensor& x, double clip_at) {
  return clip_at > 0 ? clip(x, -clip_at, clip_at) : x;
}

Values rnn(const Call& c) {
  const double at = c.real("clip", 0);
  return run_recurrent(c, 1, 1, {"Tanh"},
                       [at](const Weights& w, const Tensor& gates, std::span<const Tensor> state,
                            std::span<const Activation> f) {
                         const Tensor sums = gates + matmul(state[0], w.r, false, true) + w.rb;
                         return std::vector<Tensor>{f[0](bounded(sums, at))};
                       });
}

Values gru(const Call& c) {
  const bool is_linear_first = c.integer("linear_before_reset", 0) != 0;
  const double at = c.real("clip", 0);
  return run_recurrent(
      c, 3, 1, {"Sigmoid", "Tanh"},
      [=](const Weights& w, const Tensor& gates, std::span<const Tensor> state,
          std::span<const Activation> f) {
        const Tensor& h = state[0];
        const int64_t n = w.hidden;
        const auto part = [&](const Tensor& t, int64_t g) {
          return sliced(t, -1, g * n, (g + 1) * n);
        };
        const auto rows = [&](int64_t from, int64_t to) {
          return sliced(w.r, 0, from * n, to * n);
        };
        const Tensor both = sliced(gates, -1, 0, 2 * n) + matmul(h, rows(0, 2), false, true) +
                            sliced(w.rb, 0, 0, 2 * n);
        const Tensor z = f[0](bounded(part(both, 0), at)), r = f[0](bounded(part(both, 1), at));
        const Tensor rb = part(w.rb, 2);
        const Tensor recurrent = is_linear_first ? r * (matmul(h, rows(2, 3), false, true) + rb)
                                                 : matmul(r * h, rows(2, 3), false, true) + rb;
        const Tensor fresh = f[1](bounded(part(gates, 2) + recurrent, at));
        return std::vector<Tensor>{(number(1, z) - z) * fresh + z * h};
      });
}

Values lstm(const Call& c) {
  const double at = c.real("clip", 0);
  const bool is_coupled = c.integer("input_forget", 0) != 0;
  return run_recurrent(
      c, 4, 2, {"Sigmoid", "Tanh", "Tanh"},
      [=](const Weights& w, const Tensor& gates, std::span<const Tensor> state,
          std::span<const Activation> f) {
        const int64_t n = w.hidden;
        const Tensor sums = gates + matmul(state[0], w.r, false, true) + w.rb;
        const auto gate = [&](int64_t g) { return sliced(sums, -1, g * n, (g + 1) * n); };
        const auto peep = [&](const Tensor& sum, int64_t g, const Tensor& cell) {
          return w.peepholes ? sum + sliced(w.peepholes, 0, g * n, (g + 1) * n) * cell : sum;
        };
        const Tensor i = f[0](bounded(peep(gate(0), 0, state[1]), at));
        const Tensor forget =
            is_coupled ? number(1, i) - i : f[0](bounded(peep(gate(2), 2, state[1]), at));
        const Tensor cell = forget * state[1] + i * f[1](bounded(gate(3), at));
        const Tensor o = f[0](bounded(peep(gate(1), 1, cell), at));
        return std::vector<Tensor>{o * f[2](cell), cell};
      });
}

constexpr Entry kEntries[] = {
    {"RNN", rnn},
    {"GRU", gru},
    {"LSTM", lstm},
};

}  // namespace

std::span<const Entry> recurrent_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
