// Attention in blocks with an online softmax; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/attention_loops.h"

#include "tidemark/kernels/cpu/isa/exp_lanes.h"
#include "tidemark/kernels/cpu/isa/stores.h"
#include "tidemark/kernels/cpu/isa/vector_math.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class A>
struct Attention {
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;
  static constexpr int64_t kKeys = kAttentionKeys;
  static constexpr A kLowest = static_cast<A>(-__builtin_inf());

  /// A matrix whose elements are read one by one.
  struct Left {
    const A* data;
    int64_t row, column;
  };

  template <int kRows, int kVectors>
  [[gnu::always_inline]] static void tile(Left a, const A* b, int64_t b_row, A* c, int64_t c_row,
                                          int64_t inner, bool add) {
    V acc[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) acc[r][v] = add ? load<A>(c + r * c_row + v * kLane) : V{};
    }
    for (int64_t k = 0; k < inner; ++k) {
      V row[kVectors];
      for (int v = 0; v < kVectors; ++v) row[v] = load<A>(b + k * b_row + v * kLane);
      for (int r = 0; r < kRows; ++r) {
        const A x = a.data[r * a.row + k * a.column];
        for (int v = 0; v < kVectors; ++v) acc[r][v] += row[v] * x;
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) store<A>(c + r * c_row + v * kLane, acc[r][v]);
    }
  }

  /// One row and fewer columns than a vector has.
  static void edge(Left a, const A* b, int64_t b_row, A* c, int64_t count, int64_t inner,
                   bool add) {
    V acc = add ? load_part<A>(c, count) : V{};
    for (int64_t k = 0; k < inner; ++k) {
      acc += load_part<A>(b + k * b_row, count) * a.data[k * a.column];
    }
    store_part<A>(c, acc, count);
  }

  template <int kRows>
  static void rows(Left a, const A* b, int64_t b_row, A* c, int64_t c_row, int64_t columns,
                   int64_t inner, bool add) {
    int64_t j = 0;
    for (; j + 4 * kLane <= columns; j += 4 * kLane) {
      tile<kRows, 4>(a, b + j, b_row, c + j, c_row, inner, add);
    }
    for (; j + kLane <= columns; j += kLane) {
      tile<kRows, 1>(a, b + j, b_row, c + j, c_row, inner, add);
    }
    for (int r = 0; j < columns && r < kRows; ++r) {
      edge({a.data + r * a.row, a.row, a.column}, b + j, b_row, c + r * c_row + j, columns - j,
           inner, add);
    }
  }

  /// What of a product is wanted when query i sees keys up to i + offset only.
  struct Part {
    enum { all, columns_seen, inner_seen, inner_seeing } which = all;
    int64_t offset = 0;
  };

  template <int kRows>
  [[gnu::always_inline]] static void part_of_rows(Left a, const A* b, int64_t b_row, A* c,
                                                  int64_t c_row, int64_t i, int64_t n, int64_t k,
                                                  bool add, const Part& part) {
    int64_t from = 0;
    const int64_t seen = i + kRows + part.offset;  // by the last of these rows
    if (part.which == Part::columns_seen) {
      const int64_t whole = (seen + kLane - 1) / kLane * kLane;
      n = whole < n ? whole : n;
    } else if (part.which == Part::inner_seen) {
      k = seen < k ? seen : k;
    } else if (part.which == Part::inner_seeing) {
      from = i - part.offset < 0 ? 0 : i - part.offset;
    }
    if (n <= 0 || (k <= from && add)) return;
    rows<kRows>({a.data + i * a.row + from * a.column, a.row, a.column}, b + from * b_row, b_row,
                c + i * c_row, c_row, n, k - from, add);
  }

  /// C[m, n] = (C +) A[m, k] * B[k, n], or the part of it that is wanted.
  [[gnu::noinline]] static void multiply(Left a, const A* b, int64_t b_row, A* c, int64_t c_row,
                                         int64_t m, int64_t n, int64_t k, bool add,
                                         const Part& part) {
    int64_t i = 0;
    for (; i + 6 <= m; i += 6) part_of_rows<6>(a, b, b_row, c, c_row, i, n, k, add, part);
    for (; i + 2 <= m; i += 2) part_of_rows<2>(a, b, b_row, c, c_row, i, n, k, add, part);
    for (; i < m; ++i) part_of_rows<1>(a, b, b_row, c, c_row, i, n, k, add, part);
  }

  static Part part(const AttentionItem& t, int64_t begin, int64_t first,
                   decltype(Part::which) which) {
    return t.causal ? Part{which, begin - first} : Part{};
  }

  /// out[d][j] = x[j][d] for `count` rows, zeros up to a whole block.
  static void transpose(const A* x, int64_t count, int64_t depth, A* out) {
    // Rows of a few columns at a time: they stay in the nearest cache while they are written.
    constexpr int64_t kColumns = 16;
    for (int64_t first = 0; first < depth; first += kColumns) {
      const int64_t last = first + kColumns < depth ? first + kColumns : depth;
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t d = first; d < last; ++d) out[d * kKeys + j] = x[j * depth + d];
      }
    }
    for (int64_t d = 0; d < depth && count < kKeys; ++d) {
      for (int64_t j = count; j < kKeys; ++j) out[d * kKeys + j] = A{};
    }
  }

  /// Scales the scores of query i against keys [first, first + count); what must not be seen and
  /// what stands behind the end becomes -inf. Returns the greatest.
  static A prepare(const AttentionItem& t, int64_t i, int64_t first, int64_t count, A* s) {
    const A scale = static_cast<A>(t.scale);
    const int64_t seen = t.causal && i + 1 - first < count ? i + 1 - first : count;
    for (int64_t j = seen < 0 ? 0 : seen; j < kKeys; ++j) s[j] = kLowest;
    if (t.mask) {
      const bool* mask = t.mask + i * t.mask_row + first * t.mask_column;
      for (int64_t j = 0; j < seen; ++j) s[j] = mask[j * t.mask_column] ? s[j] : kLowest;
    }
    V top = broadcast(kLowest);
    for (int64_t j = 0; j < kKeys; j += kLane) {
      const V v = load<A>(s + j) * scale;
      top = v > top ? v : top;
      store<A>(s + j, v);
    }
    return max_of_lanes<A>(top);
  }

  /// exp(s - shift) in place; the sum of it.
  static A exponentials(A* s, A shift) {
    Wide<A> sum;
    static_assert(kKeys % kWideLanes<A> == 0);
    for (int64_t j = 0; j < kKeys; j += kWideLanes<A>) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) {
        const V e = exp_lanes(load<A>(s + j + p * kLane) - shift);
        sum.part[p] += e;
        store<A>(s + j + p * kLane, e);
      }
    }
    return sum_of_lanes<A>(sum);
  }

  static void scale_row(A* row, int64_t n, A factor) {
    for_vectors<A>(
        n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          store_some<A>(row + i, load_some<A>(row + i, count) * factor, count);
        });
  }

  static void forward(const AttentionItem& t) {
    const A *q = static_cast<const A*>(t.query) + t.begin * t.depth,
            *k = static_cast<const A*>(t.key), *v = static_cast<const A*>(t.value);
    A* y = static_cast<A*>(t.y) + t.begin * t.value_depth;
    A* keys = static_cast<A*>(t.workspace);
    A* scores = keys + t.depth * kKeys;
    const int64_t rows = t.end - t.begin;
    A top[kAttentionQueries], sum[kAttentionQueries];
    for (int64_t i = 0; i < rows; ++i) {
      top[i] = kLowest;
      sum[i] = A{};
    }
    for (int64_t i = 0; i < rows * t.value_depth; ++i) y[i] = A{};
    const int64_t last = t.causal && t.end < t.keys ? t.end : t.keys;
    for (int64_t first = 0; first < last; first += kKeys) {
      const int64_t count = t.keys - first < kKeys ? t.keys - first : kKeys;
      transpose(k + first * t.depth, count, t.depth, keys);
      multiply({q, t.depth, 1}, keys, kKeys, scores, kKeys, rows, kKeys, t.depth, false,
               part(t, t.begin, first, Part::columns_seen));
      for (int64_t i = 0; i < rows; ++i) {
        A* s = scores + i * kKeys;
        const A greatest = prepare(t, t.begin + i, first, count, s);
        const A shift = greatest > top[i] ? greatest : top[i];
        if (shift == kLowest) {  // nothing seen so far
          for (int64_t j = 0; j < kKeys; ++j) s[j] = A{};
          continue;
        }
        const A kept = exp_lanes(broadcast(top[i]) - shift)[0];
        sum[i] = sum[i] * kept + exponentials(s, shift);
        if (kept != A{1}) scale_row(y + i * t.value_depth, t.value_depth, kept);
        top[i] = shift;
      }
      multiply({scores, kKeys, 1}, v + first * t.value_depth, t.value_depth, y, t.value_depth, rows,
               t.value_depth, count, true, part(t, t.begin, first, Part::inner_seen));
    }
    A* lse = static_cast<A*>(t.lse) + t.begin;
    for (int64_t i = 0; i < rows; ++i) {
      const bool any = sum[i] != A{};
      scale_row(y + i * t.value_depth, t.value_depth, any ? A{1} / sum[i] : A{});
      lse[i] = any ? top[i] + math::log(sum[i]) : kLowest;
    }
  }

  /// From scores and dp = dy * value^T: the probabilities in `s`, the scores' gradient in `dp`.
  static void slopes(const AttentionItem& t, int64_t i, int64_t first, int64_t count, A* s, A* dp) {
    prepare(t, i, first, count, s);
    const A lse = static_cast<const A*>(t.lse)[i], scale = static_cast<A>(t.scale);
    const A* y = static_cast<const A*>(t.y) + i * t.value_depth;
    const A* dy = static_cast<const A*>(t.dy) + i * t.value_depth;
    Wide<A> dot;
    for_parts<A>(
        t.value_depth, [&](int64_t d, int64_t c, int p) __attribute__((always_inline)) {
          dot.part[p] += load_some<A>(y + d, c) * load_some<A>(dy + d, c);
        });
    const A* dlse = static_cast<const A*>(t.dlse);
    const A mean = sum_of_lanes<A>(dot) - (dlse ? dlse[i] : A{});
    // What causality left out of the product was never written.
    const int64_t seen = t.causal && i + 1 - first < kKeys ? i + 1 - first : kKeys;
    for (int64_t j = seen < 0 ? 0 : seen; j < kKeys; ++j) dp[j] = A{};
    for (int64_t j = 0; j < kKeys; j += kLane) {
      const V p = lse == kLowest ? V{} : exp_lanes(load<A>(s + j) - lse);
      store<A>(s + j, p);
      store<A>(dp + j, p * (load<A>(dp + j) - mean) * scale);
    }
  }

  static void backward(const AttentionItem& t) {
    const A *q = static_cast<const A*>(t.query), *k = static_cast<const A*>(t.key),
            *v = static_cast<const A*>(t.value), *dy = static_cast<const A*>(t.dy);
    A *dq = static_cast<A*>(t.dquery), *dk = static_cast<A*>(t.dkey),
      *dv = static_cast<A*>(t.dvalue);
    A* keys = static_cast<A*>(t.workspace);
    A* values = keys + t.depth * kKeys;
    A* scores = values + t.value_depth * kKeys;
    A* slope = scores + kAttentionQueries * kKeys;
    if (t.begin == 0) {
      for (int64_t i = 0; i < t.queries * t.depth; ++i) dq[i] = A{};
      for (int64_t i = 0; i < t.keys * t.depth; ++i) dk[i] = A{};
      for (int64_t i = 0; i < t.keys * t.value_depth; ++i) dv[i] = A{};
    }
    for (int64_t first = t.begin; first < t.end; first += kKeys) {
      const int64_t count = t.end - first < kKeys ? t.end - first : kKeys;
      transpose(k + first * t.depth, count, t.depth, keys);
      transpose(v + first * t.value_depth, count, t.value_depth, values);
      for (int64_t begin = 0; begin < t.queries; begin += kAttentionQueries) {
        const int64_t left = t.queries - begin;
        const int64_t rows = left < kAttentionQueries ? left : kAttentionQueries;
        if (t.causal && begin + rows <= first) continue;
        const A *some_q = q + begin * t.depth, *some_dy = dy + begin * t.value_depth;
        const Part columns = part(t, begin, first, Part::columns_seen);
        multiply({some_q, t.depth, 1}, keys, kKeys, scores, kKeys, rows, kKeys, t.depth, false,
                 columns);
        multiply({some_dy, t.value_depth, 1}, values, kKeys, slope, kKeys, rows, kKeys,
                 t.value_depth, false, columns);
        for (int64_t i = 0; i < rows; ++i) {
          slopes(t, begin + i, first, count, scores + i * kKeys, slope + i * kKeys);
        }
        const Part seeing = part(t, begin, first, Part::inner_seeing);
        multiply({scores, 1, kKeys}, some_dy, t.value_depth, dv + first * t.value_depth,
                 t.value_depth, count, t.value_depth, rows, true, seeing);
        multiply({slope, 1, kKeys}, some_q, t.depth, dk + first * t.depth, t.depth, count, t.depth,
                 rows, true, seeing);
        multiply({slope, kKeys, 1}, k + first * t.depth, t.depth, dq + begin * t.depth, t.depth,
                 rows, t.depth, count, true, part(t, begin, first, Part::inner_seen));
      }
    }
  }

  static constexpr AttentionLoops loops() { return {forward, backward}; }
};

constexpr AttentionTable make_table() {
  AttentionTable t{};
  t.loops[static_cast<int>(DType::float32)] = Attention<float>::loops();
  t.loops[static_cast<int>(DType::float64)] = Attention<double>::loops();
  return t;
}

}  // namespace

extern constinit const AttentionTable attention_table = make_table();

}  // namespace tidemark::cpu::TIDEMARK_ISA
