// Label sequences read off frames of scores: the best class of each, or the best of a beam.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/nn/ctc.h"

namespace tidemark::cpu {

namespace {

using namespace ctc;

template <class T>
struct Greedy {
  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const int64_t time = s[0], batch = s[1], classes = s[2];
    if (batch == 0) return;
    if (classes == 0) k.fail("'inputs' must have at least one class; given ", s.to_brackets());
    const int64_t blank = blank_of(k, classes);
    const bool merge = k.attr("merge_repeated").as_bool();
    parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        int64_t* out = k.out<int64_t>(0) + b * time;
        int64_t count = 0, before = -1;
        double sum = 0;
        const int64_t frames = length_at(k, 1, b, time);
        for (int64_t t = 0; t < frames; ++t) {
          if (t % 64 == 0) check_interrupt();
          const T* row = k.in<T>(0) + (t * batch + b) * classes;
          const int64_t best = std::max_element(row, row + classes) - row;
          sum += row[best];
          if (best != blank && !(merge && best == before)) out[count++] = best;
          before = best;
        }
        std::fill(out + count, out + time, -1);
        k.out<T>(1)[b] = static_cast<T>(0 - sum);
      }
    });
  }
};

/// A label sequence: its last label, and the sequence before that.
struct Prefix {
  int64_t parent, label;
  int64_t first_child, next_sibling;
  int64_t place;  // in the beam; -1: not in it
};

/// A sequence in the beam: log probabilities of ending in a blank and in its last label.
struct Entry {
  int64_t prefix;  // of a new one: -1 until it is kept
  int64_t parent;  // of a new one: the entry it grew from
  int64_t label;
  double blank, labelled;
  double total() const { return log_sum(blank, labelled); }
};

/// The beam of one sequence of scores, in memory given to it.
struct Beam {
  int64_t width, classes;
  Prefix* prefixes;
  Entry *entries, *next;  // `next` is a heap while it is filled: the worst in front
  double* totals;         // of `entries`, before this frame
  double* scores;         // of this frame, log probabilities
  bool* has_child;        // by label: the child of the entry at hand is in the beam
  int64_t used = 0, size = 0, next_size = 0;

  /// Each frame keeps at most `width` new sequences.
  static int64_t most_prefixes(int64_t time, int64_t width) { return time * width + 1; }
  static size_t bytes(int64_t time, int64_t classes, int64_t width) {
    const auto w = static_cast<size_t>(width), c = static_cast<size_t>(classes);
    const size_t all = static_cast<size_t>(most_prefixes(time, width)) * sizeof(Prefix) +
                       2 * w * sizeof(Entry) + (w + c) * sizeof(double) + c;
    return (all + 63) / 64 * 64;
  }
  Beam(char* memory, int64_t time, int64_t class_count, int64_t beam_width)
      : width(beam_width), classes(class_count) {
    prefixes = reinterpret_cast<Prefix*>(memory);
    entries = reinterpret_cast<Entry*>(prefixes + most_prefixes(time, width));
    next = entries + width;
    totals = reinterpret_cast<double*>(next + width);
    scores = totals + width;
    has_child = reinterpret_cast<bool*>(scores + classes);
    std::fill_n(has_child, classes, false);
    prefixes[used++] = {-1, -1, -1, -1, 0};
    entries[size++] = {0, -1, -1, 0, kNever};
  }

  static bool worse_first(const Entry& a, const Entry& b) { return a.total() > b.total(); }

  void offer(const Entry& e) {
    if (next_size == width) {
      if (!(e.total() > next[0].total())) return;
      std::pop_heap(next, next + next_size--, worse_first);
    }
    next[next_size++] = e;
    std::push_heap(next, next + next_size, worse_first);
  }

  /// Sequences that stay as they are: a blank, their last label again, or grown from a parent that
  /// is in the beam too.
  void keep_entries() {
    for (int64_t i = 0; i < size; ++i) {
      const Entry& e = entries[i];
      Entry stays{e.prefix, -1, e.label, totals[i] + scores[classes - 1], kNever};
      if (e.label >= 0) {
        double reach = e.labelled;
        const int64_t parent = prefixes[prefixes[e.prefix].parent].place;
        if (parent >= 0) {
          const bool same = entries[parent].label == e.label;
          reach = log_sum(reach, same ? entries[parent].blank : totals[parent]);
        }
        stays.labelled = reach + scores[e.label];
      }
      offer(stays);
    }
  }

  void grow_entries() {
    for (int64_t i = 0; i < size; ++i) {
      const Entry& e = entries[i];
      check_interrupt();
      mark_children(e.prefix, true);
      for (int64_t label = 0; label + 1 < classes; ++label) {
        if (has_child[label]) continue;  // counted in keep_entries
        const double reach = label == e.label ? e.blank : totals[i];
        if (reach == kNever) continue;
        offer({-1, i, label, kNever, reach + scores[label]});
      }
      mark_children(e.prefix, false);
    }
  }
  void mark_children(int64_t prefix, bool value) {
    for (int64_t c = prefixes[prefix].first_child; c >= 0; c = prefixes[c].next_sibling) {
      if (prefixes[c].place >= 0) has_child[prefixes[c].label] = value;
    }
  }

  /// The sequence that ends with one label more; remembered from when it was in the beam before.
  int64_t child_of(int64_t parent, int64_t label) {
    for (int64_t c = prefixes[parent].first_child; c >= 0; c = prefixes[c].next_sibling) {
      if (prefixes[c].label == label) return c;
    }
    prefixes[used] = {parent, label, -1, prefixes[parent].first_child, -1};
    prefixes[parent].first_child = used;
    return used++;
  }

  template <class T>
  void step(const T* row) {
    const double sum = log_normaliser(row, classes);
    for (int64_t c = 0; c < classes; ++c) {
      scores[c] = static_cast<double>(row[c]) - sum;
      if (std::isnan(scores[c])) scores[c] = kNever;  // sorting needs an order
    }
    for (int64_t i = 0; i < size; ++i) totals[i] = entries[i].total();
    next_size = 0;
    keep_entries();
    grow_entries();
    for (int64_t i = 0; i < size; ++i) prefixes[entries[i].prefix].place = -1;
    for (int64_t i = 0; i < next_size; ++i) {
      if (next[i].prefix < 0) {
        next[i].prefix = child_of(entries[next[i].parent].prefix, next[i].label);
      }
    }
    std::swap(entries, next);
    size = next_size;
    for (int64_t i = 0; i < size; ++i) prefixes[entries[i].prefix].place = i;
  }

  /// Best first.
  void sort() {
    std::sort(entries, entries + size, [](const Entry& a, const Entry& b) {
      return a.total() != b.total() ? a.total() > b.total() : a.prefix < b.prefix;
    });
  }

  /// Labels of entry i, filled up with -1 to `time`.
  void write(int64_t i, bool merge, int64_t* out, int64_t time) const {
    int64_t count = 0, before = -1;
    for (int64_t p = entries[i].prefix; prefixes[p].parent >= 0; p = prefixes[p].parent) {
      if (!(merge && prefixes[p].label == before)) out[count++] = prefixes[p].label;
      before = prefixes[p].label;
    }
    std::reverse(out, out + count);
    std::fill(out + count, out + time, -1);
  }
};

template <class T>
struct BeamSearch {
  static int64_t lanes(int64_t batch) {
    return std::max<int64_t>(1, std::min<int64_t>(batch, num_threads()));
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return Beam::bytes(s[0], s[2], call.attr("beam_width").as_int()) *
           static_cast<size_t>(lanes(s[1]));
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const int64_t time = s[0], batch = s[1], classes = s[2];
    if (batch == 0) return;
    if (classes == 0) k.fail("'inputs' must have at least one class; given ", s.to_brackets());
    const int64_t width = k.attr("beam_width").as_int();
    const int64_t count = lanes(batch), each = (batch + count - 1) / count;
    parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t lane = begin; lane < end; ++lane) {
        char* memory =
            k.workspace<char>() + static_cast<size_t>(lane) * Beam::bytes(time, classes, width);
        for (int64_t b = lane * each; b < std::min(batch, (lane + 1) * each); ++b) {
          Beam beam(memory, time, classes, width);
          const int64_t frames = length_at(k, 1, b, time);
          for (int64_t t = 0; t < frames; ++t) {
            beam.step(k.in<T>(0) + (t * batch + b) * classes);
          }
          beam.sort();
          write(k, beam, b);
        }
      }
    });
  }

  static void write(KernelContext& k, const Beam& beam, int64_t b) {
    const int64_t paths = k.output(0).dim(0), batch = k.output(0).dim(1), time = k.output(0).dim(2);
    const bool merge = k.attr("merge_repeated").as_bool();
    for (int64_t p = 0; p < paths; ++p) {
      int64_t* out = k.out<int64_t>(0) + (p * batch + b) * time;
      const bool found = p < beam.size;
      if (found) beam.write(p, merge, out, time);
      if (!found) std::fill_n(out, time, -1);
      k.out<T>(1)[b * paths + p] = static_cast<T>(found ? beam.entries[p].total() : kNever);
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Greedy, float, double> greedy("ctc_greedy_decode");
const TypedKernelsOf<KernelKind::cpu, BeamSearch, float, double> beam_search(
    "ctc_beam_search_decode");

}  // namespace

}  // namespace tidemark::cpu
