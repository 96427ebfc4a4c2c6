// Inner loops of products of float matrices; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/arrays/transpose_tile.h"
#include "tidemark/kernels/cpu/isa/lanes.h"
#include "tidemark/kernels/cpu/isa/product_loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

// How many rows are computed together for 1, 2, … vectors of columns: the accumulators, one row of
// B and one element of A fill the registers.
#if defined(__AVX512F__)
constexpr int kMostRows[] = {0, 8, 8, 8, 6};
// Four whole lines of each row of B are read in place as fast as packed ones.
constexpr int64_t kPackingRows = INT64_MAX;
#else
constexpr int kMostRows[] = {0, 8, 6};
// A single line of each row: where their stride is a power of two, few of them fit the first cache.
constexpr int64_t kPackingRows = 64;
#endif
constexpr int kMostVectors = sizeof(kMostRows) / sizeof(int) - 1;
constexpr int kMostAccumulators = 24;

constexpr int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The first `count` lanes, and nothing behind them.
[[gnu::always_inline]] inline void store_first(float* to, Vec<float> v, int64_t count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), v);
#else
  __builtin_memcpy(to, &v, static_cast<size_t>(count) * sizeof(float));
#endif
}
[[gnu::always_inline]] inline void store_first(double* to, Vec<double> v, int64_t count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), v);
#else
  __builtin_memcpy(to, &v, static_cast<size_t>(count) * sizeof(double));
#endif
}

/// The first `count` lanes, the others zero.
[[gnu::always_inline]] inline Vec<float> load_first(const float* x, int64_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), x);
#else
  return load_part<float>(x, count);
#endif
}
[[gnu::always_inline]] inline Vec<double> load_first(const double* x, int64_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), x);
#else
  return load_part<double>(x, count);
#endif
}

/// Columns in panels of nearly equal numbers of vectors, rows in blocks of nearly equal numbers of
/// rows: none is much slower than the others for being small.
struct Cut {
  int64_t vectors, panels;
  int64_t rows, blocks;

  Cut(int64_t part_rows, int64_t part_vectors, bool is_packed)
      : vectors(part_vectors), rows(part_rows) {
    // With few rows, B is read once for all of them. Packed panels are as wide for all.
    int most = kMostVectors;
    while (!is_packed && most > 2 && rows > kMostRows[most] && rows <= kMostRows[2]) --most;
    panels = divided_up(vectors, most);
    blocks = divided_up(rows, kMostRows[divided_up(vectors, panels)]);
  }
  int64_t first_vector(int64_t panel) const { return vectors * panel / panels; }
  int64_t first_row(int64_t block) const { return rows * block / blocks; }
};

template <class A>
struct Product {
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;

  /// What a tile reads and writes; strides count elements.
  struct Tile {
    int64_t depth;
    const A* a;
    int64_t a_row_stride, a_step;
    const A* b;
    int64_t b_stride;
    A* c;
    int64_t c_stride;
    bool adds;
  };

  template <int kRows, int kVectors>
  static void tile(const Tile& t) {
    V acc[kRows][kVectors];
    A* const c = t.c;
    const int64_t c_row = t.c_stride;
    if (t.adds) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) acc[r][v] = load<A>(c + r * c_row + v * kLane);
      }
    } else {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) acc[r][v] = V{};
      }
    }
    accumulate<kRows, kVectors>(t, acc);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        __builtin_memcpy(c + r * c_row + v * kLane, &acc[r][v], sizeof(V));
      }
    }
  }

  template <int kRows, int kVectors>
  [[gnu::always_inline]] static void accumulate(const Tile& t, V (&acc)[kRows][kVectors]) {
    const A* a = t.a;
    const A* b = t.b;
    const int64_t a_row = t.a_row_stride, a_step = t.a_step, b_step = t.b_stride;
    for (int64_t k = t.depth; k > 0; --k) {
      V right[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) right[v] = load<A>(b + v * kLane);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const A left = a[r * a_row];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) acc[r][v] += left * right[v];
      }
      a += a_step;
      b += b_step;
    }
  }

  using Run = void (*)(const Tile&);
  struct Tiles {
    Run of[kMostVectors + 1][kMostRows[1] + 1];
  };
  template <int kVectors, int kRows>
  static constexpr void fill(Tiles& tiles) {
    tiles.of[kVectors][kRows] = tile<kRows, kVectors>;
    if constexpr (kRows > 1) {
      fill<kVectors, kRows - 1>(tiles);
    } else if constexpr (kVectors > 1) {
      fill<kVectors - 1, kMostRows[kVectors - 1]>(tiles);
    }
  }
  static constexpr Tiles all_tiles() {
    Tiles tiles{};
    fill<kMostVectors, kMostRows[kMostVectors]>(tiles);
    return tiles;
  }
  static constexpr Tiles kTiles = all_tiles();

  /// The last rows of B, of which whole vectors cannot be read in place.
  struct Ends {
    static constexpr int64_t kMost = kLane;
    alignas(64) A rows[kMost * kMostVectors * kLane];
    int64_t count = 0;

    void take(const ProductPart& p, int64_t first_column, int64_t width, int64_t read_width) {
      const A* b = static_cast<const A*>(p.b) + first_column;
      const int64_t readable = p.b_elements - first_column;
      while (count < p.depth && (p.depth - 1 - count) * p.b_stride + read_width > readable) ++count;
      for (int64_t k = 0; k < count; ++k) {
        const A* from = b + (p.depth - count + k) * p.b_stride;
        for (int64_t j = 0; j < read_width; ++j)
          rows[k * read_width + j] = j < width ? from[j] : A{};
      }
    }
  };

  static void multiply(const ProductPart& p) {
    const Cut cut(p.rows, divided_up(p.columns, kLane), p.is_packed);
    const bool has_part = p.columns % kLane != 0;  // of a vector
    const int64_t last_column = cut.first_vector(cut.panels - 1) * kLane;
    Ends ends;
    if (has_part && !p.is_packed) {
      ends.take(p, last_column, p.columns - last_column, cut.vectors * kLane - last_column);
    }
    Tile t{p.depth,    nullptr, p.a_row_stride, p.a_step, nullptr,
           p.b_stride, nullptr, p.c_stride,     p.adds};
    for (int64_t block = 0; block < cut.blocks; ++block) {
      const int64_t row = cut.first_row(block), rows = cut.first_row(block + 1) - row;
      t.a = static_cast<const A*>(p.a) + row * p.a_row_stride;
      for (int64_t panel = 0; panel < cut.panels; ++panel) {
        const int64_t first = cut.first_vector(panel) * kLane;
        const int64_t vectors = cut.first_vector(panel + 1) - cut.first_vector(panel);
        const Run run = kTiles.of[vectors][rows];
        t.c = static_cast<A*>(p.c) + row * p.c_stride + first;
        t.b = static_cast<const A*>(p.b) + first * (p.is_packed ? p.depth : 1);
        if (p.is_packed) t.b_stride = vectors * kLane;
        if (has_part && panel == cut.panels - 1) {
          run_narrow(t, run, ends, rows, p.columns - first, vectors * kLane);
        } else {
          run(t);
        }
      }
    }
  }

  /// A tile whose last vectors are not whole: C is copied.
  static void run_narrow(Tile t, Run run, const Ends& ends, int64_t rows, int64_t columns,
                         int64_t lanes) {
    alignas(64) A copy[kMostAccumulators * kLane];
    A* const c = t.c;
    const int64_t last = lanes - kLane;
    for (int64_t r = 0; t.adds && r < rows; ++r) {
      const A* from = c + r * t.c_stride;
      for (int64_t j = 0; j < last; j += kLane) copy_vector(copy + r * lanes + j, from + j);
      const V v = load_first(from + last, columns - last);
      __builtin_memcpy(copy + r * lanes + last, &v, sizeof(V));
    }
    const int64_t c_stride = t.c_stride;
    t.c = copy;
    t.c_stride = lanes;
    if (ends.count == 0) {
      run(t);
    } else {
      run_with_ends(t, run, ends, lanes);
    }
    for (int64_t r = 0; r < rows; ++r) {
      A* to = c + r * c_stride;
      for (int64_t j = 0; j < last; j += kLane) copy_vector(to + j, copy + r * lanes + j);
      store_first(to + last, load<A>(copy + r * lanes + last), columns - last);
    }
  }

  static void copy_vector(A* to, const A* from) { __builtin_memcpy(to, from, sizeof(V)); }

  static void run_with_ends(Tile t, Run run, const Ends& ends, int64_t width) {
    t.depth -= ends.count;
    if (t.depth > 0) {
      run(t);
      t.adds = true;
    }
    t.a += t.depth * t.a_step;
    t.depth = ends.count;
    t.b = ends.rows;
    t.b_stride = width;
    run(t);
  }

  static void pack(const MatrixView& b, void* raw_out) {
    const Cut cut(1, divided_up(b.columns, kLane), true);
    const A* x = static_cast<const A*>(b.data);
    A* out = static_cast<A*>(raw_out);
    for (int64_t panel = 0; panel < cut.panels; ++panel) {
      const int64_t first = cut.first_vector(panel) * kLane;
      const int64_t lanes = cut.first_vector(panel + 1) * kLane - first;
      const int64_t width = b.columns - first < lanes ? b.columns - first : lanes;
      if (b.column_stride == 1) {
        pack_rows(x + first, b.row_stride, b.rows, width, lanes, out + first * b.rows);
      } else {
        pack_columns(x + first * b.column_stride, b.row_stride, b.column_stride, b.rows, width,
                     lanes, out + first * b.rows);
      }
    }
  }

  static void pack_rows(const A* x, int64_t stride, int64_t rows, int64_t width, int64_t lanes,
                        A* out) {
    for (int64_t k = 0; k < rows; ++k, x += stride, out += lanes) {
      int64_t j = 0;
      for (; j + kLane <= width; j += kLane) {
        const V v = load<A>(x + j);
        __builtin_memcpy(out + j, &v, sizeof(V));
      }
      if (j == lanes) continue;
      const V v = load_first(x + j, width - j);
      __builtin_memcpy(out + j, &v, sizeof(V));
    }
  }

  /// Squares of kLane by kLane elements go through the registers.
  static void pack_columns(const A* x, int64_t step, int64_t stride, int64_t rows, int64_t width,
                           int64_t lanes, A* out) {
    for (int64_t j = 0; j < lanes; j += kLane) {
      const int64_t columns = width - j < kLane ? width - j : kLane;
      for (int64_t k = 0; k < rows; k += kLane) {
        const int64_t depth = rows - k < kLane ? rows - k : kLane;
        const A* from = x + j * stride + k * step;
        if (step == 1 && columns == kLane && depth == kLane) {
          VectorBlock<A, kLane>::run(out + k * lanes + j, lanes, from, stride);
        } else {
          pack_edge(from, step, stride, depth, columns, out + k * lanes + j, lanes);
        }
      }
    }
  }

  static void pack_edge(const A* x, int64_t step, int64_t stride, int64_t depth, int64_t columns,
                        A* out, int64_t lanes) {
    alignas(64) A from[kLane * kLane];
    alignas(64) A to[kLane * kLane];
    if (step == 1) {
      for (int64_t c = 0; c < kLane; ++c) {
        const V v = c < columns ? load_first(x + c * stride, depth) : V{};
        __builtin_memcpy(from + c * kLane, &v, sizeof(V));
      }
      VectorBlock<A, kLane>::run(to, kLane, from, kLane);
    } else {
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t c = 0; c < kLane; ++c) {
          to[k * kLane + c] = c < columns ? x[k * step + c * stride] : A{};
        }
      }
    }
    for (int64_t k = 0; k < depth; ++k) {
      __builtin_memcpy(out + k * lanes, to + k * kLane, sizeof(V));
    }
  }

  static constexpr ProductLoops loops() {
    return {kLane, kMostVectors * kLane, kMostRows[kMostVectors], kPackingRows, multiply, pack};
  }
};

}  // namespace

extern constinit const ProductTable product_table = {Product<float>::loops(),
                                                     Product<double>::loops()};

}  // namespace tidemark::cpu::TIDEMARK_ISA
