// The loss of connectionist temporal classification and its gradient, as on the CPU: a block takes
// a sequence, its threads share the states, frame after frame.

namespace tm {

struct ctc_arguments {
  const void *dloss, *logits, *labels, *label_lengths, *logit_lengths;
  void* out;
  void* states;  // [batch, 2, most states]: of each its class, and the first one of that class
  void* rows;    // [batch, doubles]
  int64 doubles, batch, time, classes, most_labels, blank;
  Fault label, length;
};

inline double log_sum_of(double a, double b) {
  const double high = a > b ? a : b;
  if (high == Max<double>::start()) return high;
  return high + math::log1p(math::exp((a > b ? b : a) - high));
}

/// Labels of a sequence, and blanks before, between and after.
template <class T>
struct CtcSequence {
  const T* logits;
  int64 stride, frames, classes, states;
  int64 *class_of, *first_of;

  static double never() { return Max<double>::start(); }

  template <class L, class N, class M>
  void read(const ctc_arguments& a, int64 b, L, N, M) {
    const int64 most = 2 * a.most_labels + 1;
    logits = static_cast<const T*>(a.logits) + b * a.classes;
    stride = a.batch * a.classes;
    classes = a.classes;
    const int64 labels = length_of(static_cast<const N*>(a.label_lengths)[b], a.most_labels, a);
    frames = length_of(static_cast<const M*>(a.logit_lengths)[b], a.time, a);
    states = 2 * labels + 1;
    class_of = static_cast<int64*>(a.states) + b * 2 * most;
    first_of = class_of + most;
    share(0, states, [&](int64 s) {
      int64 label = a.blank;
      if (s % 2 == 1) label = static_cast<const L*>(a.labels)[b * a.most_labels + s / 2];
      if (!is_index(label, classes)) {
        report(a.label, label, classes);
        label = 0;
      }
      class_of[s] = label;
    });
    __syncthreads();
    share(0, states, [&](int64 s) {
      int64 first = 0;
      while (class_of[first] != class_of[s]) ++first;
      first_of[s] = first;
    });
    __syncthreads();
  }
  static int64 length_of(int64 given, int64 most, const ctc_arguments& a) {
    if (given >= 0 && given <= most) return given;
    report(a.length, given, most);
    return 0;
  }

  double score(int64 frame, int64 state) const {
    return static_cast<double>(logits[frame * stride + class_of[state]]);
  }
  /// A label may follow the one before without a blank between them if they differ.
  bool may_skip(int64 state) const {
    return state % 2 == 1 && state >= 2 && class_of[state] != class_of[state - 2];
  }
  /// The logarithm of the sum of exp over a frame's scores.
  double normaliser(int64 frame, void* lanes) const {
    const T* x = logits + frame * stride;
    double most = never(), sum = 0;
    share(0, classes, [&](int64 c) { most = larger(most, static_cast<double>(x[c])); });
    most = joined<Max<double>>(most, lanes);
    if (!(most - most == 0)) return most;
    share(0, classes, [&](int64 c) { sum += math::exp(static_cast<double>(x[c]) - most); });
    return most + math::log(joined<Sum<double>>(sum, lanes));
  }

  /// Row `frame` of the forward table from the row before (null: the first).
  void forwards(int64 frame, double normal, const double* before, double* row) const {
    share(0, states, [&](int64 s) {
      double reach = s < 2 ? 0 : never();
      if (before) {
        reach = before[s];
        if (s >= 1) reach = log_sum_of(reach, before[s - 1]);
        if (may_skip(s)) reach = log_sum_of(reach, before[s - 2]);
      }
      row[s] = reach == never() ? never() : reach + score(frame, s) - normal;
    });
    __syncthreads();
  }
  /// From the end: what follows after each state in a frame, not counting that frame.
  void backwards(int64 frame, double normal_of_next, const double* after, double* row) const {
    const auto follow = [&](int64 s) {
      return after[s] == never() ? never() : after[s] + score(frame + 1, s) - normal_of_next;
    };
    share(0, states, [&](int64 s) {
      double reach = s + 2 >= states ? 0 : never();
      if (after) {
        reach = follow(s);
        if (s + 1 < states) reach = log_sum_of(reach, follow(s + 1));
        if (s + 2 < states && may_skip(s + 2)) reach = log_sum_of(reach, follow(s + 2));
      }
      row[s] = reach;
    });
    __syncthreads();
  }
  double log_probability(const double* last) const {
    if (frames == 0) return states == 1 ? 0 : never();
    return states == 1 ? last[0] : log_sum_of(last[states - 1], last[states - 2]);
  }
};

template <class T, class L, class N, class M>
void ctc_loss(const ctc_arguments& a) {
  __shared__ double lanes[256];
  const int64 most = 2 * a.most_labels + 1;
  for (int64 b = blockIdx.x; b < a.batch; b += gridDim.x) {
    CtcSequence<T> sequence;
    sequence.read(a, b, L(), N(), M());
    double *row = static_cast<double*>(a.rows) + b * a.doubles, *before = row + most;
    for (int64 t = 0; t < sequence.frames; ++t) {
      double* last = row;
      row = before;
      before = last;
      const double normal = sequence.normaliser(t, lanes);
      sequence.forwards(t, normal, t == 0 ? nullptr : before, row);
    }
    if (threadIdx.x == 0) {
      static_cast<T*>(a.out)[b] = static_cast<T>(-sequence.log_probability(row));
    }
    __syncthreads();
  }
}

/// In each frame the gradient is a class's probability less its share of the alignments.
template <class T, class L, class N, class M>
void ctc_loss_grad(const ctc_arguments& a) {
  __shared__ double lanes[256];
  const int64 most = 2 * a.most_labels + 1;
  for (int64 b = blockIdx.x; b < a.batch; b += gridDim.x) {
    CtcSequence<T> sequence;
    sequence.read(a, b, L(), N(), M());
    double* normals = static_cast<double*>(a.rows) + b * a.doubles;
    double *row = normals + a.time, *after = row + most, *table = after + most;
    for (int64 t = 0; t < sequence.frames; ++t) {
      const double normal = sequence.normaliser(t, lanes);
      if (threadIdx.x == 0) normals[t] = normal;
      double* current = table + t * most;
      sequence.forwards(t, normal, t == 0 ? nullptr : current - most, current);
    }
    const int64 last = sequence.frames > 0 ? sequence.frames - 1 : 0;
    const double total = sequence.log_probability(table + last * most);
    const bool is_never = total == CtcSequence<T>::never();
    const double slope = static_cast<double>(static_cast<const T*>(a.dloss)[b]);
    for (int64 t = a.time; t-- > 0;) {
      T* out = static_cast<T*>(a.out) + b * a.classes + t * sequence.stride;
      if (t >= sequence.frames || is_never) {
        share(0, a.classes, [&](int64 c) { out[c] = T(0); });
        continue;
      }
      double* next = row;
      row = after;
      after = next;
      const bool is_last = t + 1 == sequence.frames;
      sequence.backwards(t, is_last ? 0 : normals[t + 1], is_last ? nullptr : after, row);
      const T* scores = sequence.logits + t * sequence.stride;
      share(0, a.classes, [&](int64 c) {
        const double p = math::exp(static_cast<double>(scores[c]) - normals[t]);
        out[c] = static_cast<T>(slope * p);
      });
      __syncthreads();
      share(0, sequence.states, [&](int64 s) {
        if (sequence.first_of[s] != s) return;
        double part = 0;  // of the class in all alignments
        for (int64 other = s; other < sequence.states; ++other) {
          if (sequence.first_of[other] != s) continue;
          part += math::exp(table[t * most + other] + row[other] - total);
        }
        const int64 c = sequence.class_of[s];
        const double p = math::exp(static_cast<double>(scores[c]) - normals[t]);
        out[c] = static_cast<T>(slope * (p - part));
      });
      __syncthreads();
    }
  }
}

}  // namespace tm
