// Attention and its gradient without scores in memory: a block takes 128 queries, or keys, and goes
// over the others in tiles. Weights are computed again for the gradient. Elements are of a half
// type; sums are floats, added up in one order. `D`: columns of queries and keys, `V`: of values.

namespace tm {

constexpr int kFlashRows = 128, kFlashTile = 64, kFlashGradTile = 32;
constexpr float kLog2E = 1.44269504088896340736f, kLn2 = 0.69314718055994530942f;

/// What queries of one item see.
struct Sight {
  int64 queries, keys;
  bool is_causal;
  const bool* mask;  // null: there is none
  int64 mask_row, mask_column;

  template <int Dims>
  Sight(const AttentionLines<Dims>& a, int64 item)
      : queries(a.queries),
        keys(a.keys),
        is_causal(a.is_causal != 0),
        mask(a.mask),
        mask_row(a.mask_row),
        mask_column(a.mask_column) {
    if (!mask) return;
    for (int d = 0; d < Dims; ++d) {
      mask += item % a.sizes[d] * a.steps[d];
      item /= a.sizes[d];
    }
  }
  /// Whether so many queries see so many keys, all of them.
  bool has_all(int64 query, int64 rows, int64 key, int64 columns) const {
    return !mask && query + rows <= queries && key + columns <= keys &&
           (!is_causal || key + columns <= query + 1);
  }
  bool has(int64 query, int64 key) const {
    if (query >= queries || key >= keys || (is_causal && key > query)) return false;
    return !mask || mask[query * mask_row + key * mask_column];
  }
};

struct Together {
  static float join(float x, float y) { return x + y; }
};

/// Calls f(j, i, row, column) for what a thread has of 16 rows: element i of columns j * 8 on.
template <int Columns, class F>
void for_each_score(F f) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < Columns / 8; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) f(j, i, lane.row + i / 2 * 8, j * 8 + lane.column + i % 2);
  }
}

template <int Dims>
struct flash_arguments {
  const void *query, *key, *value;
  void *y, *log_sum_exp;
  AttentionLines<Dims> lines;
};
template <class T, int D, int V, int Dims>
void flash_attention(const flash_arguments<Dims>& a) {
  __shared__ TileRow<D> keys[kFlashTile];
  __shared__ TileRow<V> values[kFlashTile];
  const int64 queries = a.lines.queries, count = a.lines.keys;
  const int64 items = a.lines.count / queries, tiles = (queries + kFlashRows - 1) / kFlashRows;
  const float factor = static_cast<float>(a.lines.scale) * kLog2E;
  const Lane lane;
  for (int64 w = blockIdx.x; w < tiles * items; w += gridDim.x) {
    // Of causal ones those that see most come first.
    const int64 item = w % items, first = (tiles - 1 - w / items) * kFlashRows;
    const Sight sight(a.lines, item);
    const int64 own = first + lane.warp * 16;
    uint32 query[D / 16][4];
    load_rows<D>(query, static_cast<const uint16*>(a.query) + item * queries * D, own, queries);
    float y[V / 8][4] = {};
    float most[2] = {Max<float>::start(), Max<float>::start()}, sum[2] = {0, 0};
    const int64 seen = sight.is_causal && first + kFlashRows < count ? first + kFlashRows : count;
    ComingTile<kFlashTile, D> next_keys;
    ComingTile<kFlashTile, V> next_values;
    const auto load = [&](int64 key) {
      const int64 at = item * count + key;
      next_keys.load(static_cast<const uint16*>(a.key) + at * D, count - key);
      next_values.load(static_cast<const uint16*>(a.value) + at * V, count - key);
    };
    load(0);
    for (int64 key = 0; key < seen; key += kFlashTile) {
      __syncthreads();
      next_keys.store(keys);
      next_values.store(values);
      __syncthreads();
      if (key + kFlashTile < seen) load(key + kFlashTile);
      float s[kFlashTile / 8][4];
      multiply_rows<kFlashTile, D>(s, query, keys, T());
      for_each_score<kFlashTile>([&](int j, int i, int, int) { s[j][i] *= factor; });
      if (!sight.has_all(first, kFlashRows, key, kFlashTile)) {
        for_each_score<kFlashTile>([&](int j, int i, int row, int column) {
          if (!sight.has(own + row, key + column)) s[j][i] = Max<float>::start();
        });
      }
      float top[2] = {most[0], most[1]};
      for_each_score<kFlashTile>(
          [&](int j, int i, int, int) { top[i / 2] = ::fmaxf(top[i / 2], s[j][i]); });
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        top[h] = joined_in_row<Max<float>>(top[h]);
        const float shift = top[h] == Max<float>::start() ? 0.f : top[h];
        const float before = exp2_of(most[h] - shift);
        most[h] = top[h];
        sum[h] *= before;
#pragma unroll
        for (int j = 0; j < V / 8; ++j) {
          y[j][2 * h] *= before;
          y[j][2 * h + 1] *= before;
        }
#pragma unroll
        for (int j = 0; j < kFlashTile / 8; ++j) {
          s[j][2 * h] = exp2_of(s[j][2 * h] - shift);
          s[j][2 * h + 1] = exp2_of(s[j][2 * h + 1] - shift);
          sum[h] += s[j][2 * h] + s[j][2 * h + 1];
        }
      }
      multiply_across<kFlashTile, V>(y, s, values, T());
    }
    float shares[2];
    for (int h = 0; h < 2; ++h) {
      const float all = joined_in_row<Together>(sum[h]);
      const bool is_any = most[h] != Max<float>::start() || all != all;
      shares[h] = is_any ? 1.f / all : 0.f;
      const int64 row = own + lane.row + h * 8;
      if (row < queries && lane.column == 0) {
        static_cast<float*>(a.log_sum_exp)[item * queries + row] =
            is_any ? most[h] * kLn2 + math::log(all) : most[h];
      }
    }
    store_rows<V>(static_cast<uint16*>(a.y) + item * queries * V, own, queries, y, shares, T());
  }
}

// --- The gradient. Of each query first: the mean slope of its weights
// -----------------------------

template <int Dims>
struct flash_grad_arguments {
  const void *query, *key, *value, *dy, *log_sum_exp, *means;
  void *dquery, *dkey, *dvalue;
  AttentionLines<Dims> lines;
};

struct flash_means_arguments {
  const void *y, *dy, *dlog_sum_exp;  // dlog_sum_exp null: there is none
  void* means;
  int64 count, columns;
};
template <class T>
void flash_means(const flash_means_arguments& a) {
  for_each(a.count, [&](int64 row) {
    float sum = 0;
    for (int64 d = row * a.columns; d < (row + 1) * a.columns; ++d) {
      sum += load(a.y, d, T()) * load(a.dy, d, T());
    }
    if (a.dlog_sum_exp) sum -= static_cast<const float*>(a.dlog_sum_exp)[row];
    static_cast<float*>(a.means)[row] = sum;
  });
}
/// As the exponent of 2 has it. A query that sees nothing gives weights of 0.
inline float shift_of(const void* log_sum_exp, int64 query) {
  const float all = static_cast<const float*>(log_sum_exp)[query];
  return all == Max<float>::start() ? -Max<float>::start() : all * kLog2E;
}

template <class T, int D, int V, int Dims>
void flash_query_grad(const flash_grad_arguments<Dims>& a) {
  __shared__ TileRow<D> keys[kFlashGradTile];
  __shared__ TileRow<V> values[kFlashGradTile];
  const int64 queries = a.lines.queries, count = a.lines.keys;
  const int64 items = a.lines.count / queries, tiles = (queries + kFlashRows - 1) / kFlashRows;
  const float scale = static_cast<float>(a.lines.scale), factor = scale * kLog2E;
  const Lane lane;
  for (int64 w = blockIdx.x; w < tiles * items; w += gridDim.x) {
    const int64 item = w % items, first = (tiles - 1 - w / items) * kFlashRows;
    const Sight sight(a.lines, item);
    const int64 own = first + lane.warp * 16;
    uint32 query[D / 16][4], dy[V / 16][4];
    load_rows<D>(query, static_cast<const uint16*>(a.query) + item * queries * D, own, queries);
    load_rows<V>(dy, static_cast<const uint16*>(a.dy) + item * queries * V, own, queries);
    float shift[2], mean[2], dquery[D / 8][4] = {};
    for (int h = 0; h < 2; ++h) {
      const int64 row = own + lane.row + h * 8, at = item * queries + row;
      shift[h] = row < queries ? shift_of(a.log_sum_exp, at) : 0.f;
      mean[h] = row < queries ? static_cast<const float*>(a.means)[at] : 0.f;
    }
    const int64 seen = sight.is_causal && first + kFlashRows < count ? first + kFlashRows : count;
    ComingTile<kFlashGradTile, D> next_keys;
    ComingTile<kFlashGradTile, V> next_values;
    const auto load = [&](int64 key) {
      const int64 at = item * count + key;
      next_keys.load(static_cast<const uint16*>(a.key) + at * D, count - key);
      next_values.load(static_cast<const uint16*>(a.value) + at * V, count - key);
    };
    load(0);
    for (int64 key = 0; key < seen; key += kFlashGradTile) {
      __syncthreads();
      next_keys.store(keys);
      next_values.store(values);
      __syncthreads();
      if (key + kFlashGradTile < seen) load(key + kFlashGradTile);
      float s[kFlashGradTile / 8][4], slopes[kFlashGradTile / 8][4];
      multiply_rows<kFlashGradTile, D>(s, query, keys, T());
      multiply_rows<kFlashGradTile, V>(slopes, dy, values, T());
      for_each_score<kFlashGradTile>(
          [&](int j, int i, int, int) { s[j][i] = exp2_of(s[j][i] * factor - shift[i / 2]); });
      if (!sight.has_all(first, kFlashRows, key, kFlashGradTile)) {
        for_each_score<kFlashGradTile>([&](int j, int i, int row, int column) {
          if (!sight.has(own + row, key + column)) s[j][i] = 0;
        });
      }
      for_each_score<kFlashGradTile>([&](int j, int i, int, int) {
        slopes[j][i] = s[j][i] * (slopes[j][i] - mean[i / 2]) * scale;
      });
      multiply_across<kFlashGradTile, D>(dquery, slopes, keys, T());
    }
    const float ones[2] = {1.f, 1.f};
    store_rows<D>(static_cast<uint16*>(a.dquery) + item * queries * D, own, queries, dquery, ones,
                  T());
  }
}

template <class T, int D, int V, int Dims>
void flash_key_grad(const flash_grad_arguments<Dims>& a) {
  __shared__ TileRow<D> queries[kFlashGradTile];
  __shared__ TileRow<V> dys[kFlashGradTile];
  __shared__ float shifts[kFlashGradTile], means[kFlashGradTile];
  const int64 count = a.lines.queries, keys = a.lines.keys;
  const int64 items = a.lines.count / count, tiles = (keys + kFlashRows - 1) / kFlashRows;
  const float scale = static_cast<float>(a.lines.scale), factor = scale * kLog2E;
  const Lane lane;
  for (int64 w = blockIdx.x; w < tiles * items; w += gridDim.x) {
    const int64 item = w % items, first = w / items * kFlashRows;
    const Sight sight(a.lines, item);
    const int64 own = first + lane.warp * 16;
    uint32 key[D / 16][4], value[V / 16][4];
    load_rows<D>(key, static_cast<const uint16*>(a.key) + item * keys * D, own, keys);
    load_rows<V>(value, static_cast<const uint16*>(a.value) + item * keys * V, own, keys);
    float dkey[D / 8][4] = {}, dvalue[V / 8][4] = {};
    ComingTile<kFlashGradTile, D> next_queries;
    ComingTile<kFlashGradTile, V> next_dys;
    float next_shift = 0, next_mean = 0;
    const auto load = [&](int64 query) {
      const int64 at = item * count + query;
      next_queries.load(static_cast<const uint16*>(a.query) + at * D, count - query);
      next_dys.load(static_cast<const uint16*>(a.dy) + at * V, count - query);
      const bool is_there = threadIdx.x < kFlashGradTile && query + threadIdx.x < count;
      next_shift = is_there ? shift_of(a.log_sum_exp, at + threadIdx.x) : 0.f;
      next_mean = is_there ? static_cast<const float*>(a.means)[at + threadIdx.x] : 0.f;
    };
    const int64 start = sight.is_causal ? first : 0;
    if (start < count) load(start);
    for (int64 query = start; query < count; query += kFlashGradTile) {
      __syncthreads();
      next_queries.store(queries);
      next_dys.store(dys);
      if (threadIdx.x < kFlashGradTile) {
        shifts[threadIdx.x] = next_shift;
        means[threadIdx.x] = next_mean;
      }
      __syncthreads();
      if (query + kFlashGradTile < count) load(query + kFlashGradTile);
      float s[kFlashGradTile / 8][4], slopes[kFlashGradTile / 8][4];
      multiply_rows<kFlashGradTile, D>(s, key, queries, T());
      multiply_rows<kFlashGradTile, V>(slopes, value, dys, T());
      for_each_score<kFlashGradTile>([&](int j, int i, int, int column) {
        s[j][i] = exp2_of(s[j][i] * factor - shifts[column]);
      });
      if (!sight.has_all(query, kFlashGradTile, first, kFlashRows)) {
        for_each_score<kFlashGradTile>([&](int j, int i, int row, int column) {
          if (!sight.has(query + column, own + row)) s[j][i] = 0;
        });
      }
      for_each_score<kFlashGradTile>([&](int j, int i, int, int column) {
        slopes[j][i] = s[j][i] * (slopes[j][i] - means[column]) * scale;
      });
      multiply_across<kFlashGradTile, V>(dvalue, s, dys, T());
      multiply_across<kFlashGradTile, D>(dkey, slopes, queries, T());
    }
    const float ones[2] = {1.f, 1.f};
    store_rows<D>(static_cast<uint16*>(a.dkey) + item * keys * D, own, keys, dkey, ones, T());
    store_rows<V>(static_cast<uint16*>(a.dvalue) + item * keys * V, own, keys, dvalue, ones, T());
  }
}

}  // namespace tm
