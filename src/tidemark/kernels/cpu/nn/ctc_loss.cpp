// The loss of connectionist temporal classification and its gradient: sums over all alignments by
// going forwards (and backwards) through the labels with blanks between them, in logarithms.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/nn/ctc.h"

namespace tidemark::cpu {

namespace {

using namespace ctc;

/// Sequences worked on at a time: as many have memory.
int64_t lanes(int64_t batch) {
  return std::max<int64_t>(1, std::min<int64_t>(batch, num_threads()));
}

/// Doubles one sequence needs. States: a label each, and blanks before, between and after.
struct Sizes {
  int64_t time, classes, states;
  Sizes(const Shape& logits, const Shape& labels)
      : time(logits[0]), classes(logits[2]), states(2 * labels[1] + 1) {}
  /// Two rows of states, and the states' classes.
  int64_t forward() const { return 3 * states; }
  /// The whole table, two rows, classes; sums for each class, normalisers for each frame.
  int64_t both() const { return (time + 3) * states + classes + time; }
};

template <class T>
struct Sequence {
  const T* logits;  // of this sequence's first frame
  int64_t stride;   // from frame to frame
  int64_t frames, classes, blank, states;
  const double* class_of;  // of every state; small integers

  double score(int64_t frame, int64_t state) const {
    return logits[frame * stride + static_cast<int64_t>(class_of[state])];
  }
  /// A label may follow the one before without a blank between them if they differ.
  bool may_skip(int64_t state) const {
    return state % 2 == 1 && state >= 2 && class_of[state] != class_of[state - 2];
  }
  double normaliser(int64_t frame) const {
    return log_normaliser(logits + frame * stride, classes);
  }

  /// Row `frame` of the forward table from the row before (null: the first).
  void forwards(int64_t frame, double log_sum_of_frame, const double* before, double* row) const {
    for (int64_t s = 0; s < states; ++s) {
      double reach = kNever;
      if (!before) {
        reach = s < 2 ? 0 : kNever;
      } else {
        reach = before[s];
        if (s >= 1) reach = log_sum(reach, before[s - 1]);
        if (may_skip(s)) reach = log_sum(reach, before[s - 2]);
      }
      row[s] = reach == kNever ? kNever : reach + score(frame, s) - log_sum_of_frame;
    }
  }

  /// From the end: what follows after state s in frame `frame` (not counting that frame).
  void backwards(int64_t frame, double log_sum_of_next, const double* after, double* row) const {
    for (int64_t s = 0; s < states; ++s) {
      if (!after) {
        row[s] = s + 2 >= states ? 0 : kNever;
        continue;
      }
      double reach = follow(frame + 1, log_sum_of_next, after, s);
      if (s + 1 < states) reach = log_sum(reach, follow(frame + 1, log_sum_of_next, after, s + 1));
      if (s + 2 < states && may_skip(s + 2)) {
        reach = log_sum(reach, follow(frame + 1, log_sum_of_next, after, s + 2));
      }
      row[s] = reach;
    }
  }
  double follow(int64_t frame, double log_sum_of_frame, const double* after, int64_t s) const {
    return after[s] == kNever ? kNever : after[s] + score(frame, s) - log_sum_of_frame;
  }

  double log_probability(const double* last_row) const {
    if (frames == 0) return states == 1 ? 0 : kNever;
    return states == 1 ? last_row[0] : log_sum(last_row[states - 1], last_row[states - 2]);
  }
};

/// Reads sequence b of a call whose logits are input `first`; `classes` gets the states' classes.
template <class T>
Sequence<T> read_sequence(const KernelContext& k, int first, int64_t b, double* class_of) {
  const Shape &logits = k.input(first).shape(), &labels = k.input(first + 1).shape();
  const int64_t classes = logits[2];
  const int64_t length = length_at(k, first + 2, b, labels[1]);
  Sequence<T> sequence{k.in<T>(first) + b * classes,
                       logits[1] * classes,
                       length_at(k, first + 3, b, logits[0]),
                       classes,
                       blank_of(k, classes),
                       2 * length + 1,
                       class_of};
  for (int64_t s = 0; s < sequence.states; ++s) {
    const int64_t label =
        s % 2 == 0 ? sequence.blank : int_at(k.input(first + 1), b * labels[1] + s / 2);
    // The blank among the labels is a label like others, as in TensorFlow: lists are filled up so.
    if (label < 0 || label >= classes) {
      k.fail("'labels' must be in [0, ", classes, "); element ", s / 2, " of sequence ", b, " is ",
             label);
    }
    class_of[s] = static_cast<double>(label);
  }
  return sequence;
}

/// Calls fn(b, memory) for every sequence, each with as many doubles.
template <class Fn>
void for_each_sequence(KernelContext& k, int64_t batch, int64_t doubles, const Fn& fn) {
  if (batch == 0) return;
  const int64_t count = lanes(batch), each = (batch + count - 1) / count;
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) {
      double* memory = k.workspace<double>() + lane * doubles;
      const int64_t last = std::min(batch, (lane + 1) * each);
      for (int64_t b = lane * each; b < last; ++b) fn(b, memory);
    }
  });
}

template <class T>
struct Loss {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Sizes sizes(call.inputs[0].shape(), call.inputs[1].shape());
    return static_cast<size_t>(lanes(call.inputs[0].dim(1)) * sizes.forward()) * sizeof(double);
  }

  static void run(KernelContext& k) {
    const Sizes sizes(k.input(0).shape(), k.input(1).shape());
    for_each_sequence(k, k.input(0).dim(1), sizes.forward(), [&](int64_t b, double* memory) {
      const Sequence<T> sequence = read_sequence<T>(k, 0, b, memory);
      double *row = memory + sizes.states, *before = row + sizes.states;
      for (int64_t t = 0; t < sequence.frames; ++t) {
        check_interrupt();
        std::swap(row, before);
        sequence.forwards(t, sequence.normaliser(t), t == 0 ? nullptr : before, row);
      }
      k.out<T>(0)[b] = static_cast<T>(-sequence.log_probability(row));
    });
  }
};

template <class T>
struct LossGradient {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Sizes sizes(call.inputs[1].shape(), call.inputs[2].shape());
    return static_cast<size_t>(lanes(call.inputs[1].dim(1)) * sizes.both()) * sizeof(double);
  }

  static void run(KernelContext& k) {
    const Sizes sizes(k.input(1).shape(), k.input(2).shape());
    for_each_sequence(k, k.input(1).dim(1), sizes.both(),
                      [&](int64_t b, double* memory) { one(k, b, sizes, memory); });
  }

  /// In frame t the gradient is the class's probability less its share of the alignments.
  static void one(KernelContext& k, int64_t b, const Sizes& sizes, double* memory) {
    const Sequence<T> sequence = read_sequence<T>(k, 1, b, memory);
    double* shares = memory + sizes.states;
    double* normalisers = shares + sizes.classes;
    double *row = normalisers + sizes.time, *after = row + sizes.states;
    double* table = after + sizes.states;
    for (int64_t t = 0; t < sequence.frames; ++t) {
      check_interrupt();
      normalisers[t] = sequence.normaliser(t);
      double* current = table + t * sizes.states;
      sequence.forwards(t, normalisers[t], t == 0 ? nullptr : current - sizes.states, current);
    }
    const double total =
        sequence.log_probability(table + std::max<int64_t>(sequence.frames - 1, 0) * sizes.states);
    const double dloss = k.in<T>(0)[b];
    T* out = k.out<T>(0) + b * sizes.classes;
    for (int64_t t = sizes.time; t-- > 0;) {
      check_interrupt();
      T* gradient = out + t * sequence.stride;
      if (t >= sequence.frames || total == kNever) {
        std::fill_n(gradient, sizes.classes, T(0));
        continue;
      }
      std::swap(row, after);
      const bool is_last = t + 1 == sequence.frames;
      sequence.backwards(t, is_last ? 0 : normalisers[t + 1], is_last ? nullptr : after, row);
      std::fill_n(shares, sizes.classes, 0.0);
      for (int64_t s = 0; s < sequence.states; ++s) {
        const double both = table[t * sizes.states + s] + row[s] - total;
        shares[static_cast<int64_t>(sequence.class_of[s])] += std::exp(both);
      }
      const T* scores = sequence.logits + t * sequence.stride;
      for (int64_t c = 0; c < sizes.classes; ++c) {
        const double probability = std::exp(static_cast<double>(scores[c]) - normalisers[t]);
        gradient[c] = static_cast<T>(dloss * (probability - shares[c]));
      }
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Loss, float, double> loss("ctc_loss");
const TypedKernelsOf<KernelKind::cpu, LossGradient, float, double> loss_gradient("ctc_loss_grad");

}  // namespace

}  // namespace tidemark::cpu
