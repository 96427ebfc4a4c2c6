// Attention between its products: from scores to weights, and from scores to slopes, a line for
// each query. Scores are A; weights and slopes are stored as T, over the scores where these are
// one.

namespace tm {

/// Which of the queries and keys of all items a line is about, and which keys it sees.
template <int Dims>
struct AttentionLines {
  int64 count, rows, keys;  // rows: lines of an item
  int64 first_item, first_query;
  int64 queries;  // of an item, in all chunks
  double scale;
  int64 is_causal;
  const bool* mask;  // null: there is none
  int64 mask_row, mask_column;
  int64 sizes[Dims], steps[Dims];  // of the batch, the last dimension first; of the mask in it
};

/// One line of them.
template <class A, int Dims>
struct AttentionLine {
  const A* scores;
  int64 query;  // of all items
  int64 seen;   // keys behind these are not seen
  const bool* mask;
  int64 column;
  A scale;

  AttentionLine(const AttentionLines<Dims>& a, const void* all_scores, int64 line) {
    int64 item = a.first_item + line / a.rows;
    const int64 own = a.first_query + line % a.rows;
    scores = static_cast<const A*>(all_scores) + line * a.keys;
    query = item * a.queries + own;
    seen = a.is_causal && own + 1 < a.keys ? own + 1 : a.keys;
    mask = a.mask;
    column = a.mask_column;
    scale = static_cast<A>(a.scale);
    if (!mask) return;
    mask += own * a.mask_row;
    for (int d = 0; d < Dims; ++d) {
      mask += item % a.sizes[d] * a.steps[d];
      item /= a.sizes[d];
    }
  }
  A score(int64 key) const {
    const bool is_seen = key < seen && (!mask || mask[key * column]);
    return is_seen ? scores[key] * scale : Max<A>::start();
  }
};

template <int Dims>
struct attention_weights_arguments {
  const void* scores;
  void *weights, *log_sum_exp;
  AttentionLines<Dims> lines;
};
/// The softmax of the scores; of a query that sees no key, zeros.
template <class W, class T, class A, int Dims>
void attention_weights(const attention_weights_arguments<Dims>& a) {
  __shared__ double lanes[256];
  W::for_each_line(a.lines.count, [&](int64 number) {
    const AttentionLine<A, Dims> line(a.lines, a.scores, number);
    A most = Max<A>::start();
    for (int64 j = W::first(); j < a.lines.keys; j += W::step()) most = larger(most, line.score(j));
    most = W::template all<Max<A>>(most, lanes);
    const bool is_any = most != Max<A>::start();
    const A shift = is_any ? most : A(0);
    typename Sum<A>::Acc mine = 0;
    for (int64 j = W::first(); j < a.lines.keys; j += W::step()) {
      mine += math::exp(line.score(j) - shift);
    }
    const A sum = static_cast<A>(W::template all<Sum<A>>(mine, lanes));
    const A share = is_any ? A(1) / sum : A(0);
    for (int64 j = W::first(); j < a.lines.keys; j += W::step()) {
      store(a.weights, number * a.lines.keys + j, math::exp(line.score(j) - shift) * share, T());
    }
    if (W::first() != 0) return;
    static_cast<A*>(a.log_sum_exp)[line.query] = is_any ? shift + math::log(sum) : most;
  });
}

template <int Dims>
struct attention_slopes_arguments {
  const void *scores, *dweights;  // dweights: dy * value^T
  void *weights, *slopes;
  const void *y, *dy, *log_sum_exp, *dlog_sum_exp;  // dlog_sum_exp null: there is none
  int64 value_depth;
  AttentionLines<Dims> lines;
};
/// The weights again, and the gradient of the products of queries and keys.
template <class W, class T, class A, int Dims>
void attention_slopes(const attention_slopes_arguments<Dims>& a) {
  __shared__ double lanes[256];
  W::for_each_line(a.lines.count, [&](int64 number) {
    const AttentionLine<A, Dims> line(a.lines, a.scores, number);
    typename Sum<A>::Acc mine = 0;
    for (int64 d = W::first(); d < a.value_depth; d += W::step()) {
      const int64 at = line.query * a.value_depth + d;
      mine += load(a.y, at, T()) * load(a.dy, at, T());
    }
    A mean = static_cast<A>(W::template all<Sum<A>>(mine, lanes));
    if (a.dlog_sum_exp) mean -= static_cast<const A*>(a.dlog_sum_exp)[line.query];
    const A log_sum = static_cast<const A*>(a.log_sum_exp)[line.query];
    const bool is_any = log_sum != Max<A>::start();
    for (int64 j = W::first(); j < a.lines.keys; j += W::step()) {
      const int64 at = number * a.lines.keys + j;
      const A weight = is_any ? math::exp(line.score(j) - log_sum) : A(0);
      const A slope = weight * (static_cast<const A*>(a.dweights)[at] - mean) * line.scale;
      store(a.weights, at, weight, T());
      store(a.slopes, at, slope, T());
    }
  });
}

}  // namespace tm
