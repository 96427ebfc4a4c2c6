// Products of matrices of the other dtypes than float32 and float64 (product.cpp), and of a matrix
// and a vector; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/gemm_loops.h"

#include "tidemark/kernels/cpu/isa/narrow.h"
#include "tidemark/kernels/cpu/isa/stores.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int64_t kRows = 8, kVectors = 3;  // 24 of 32 registers accumulate
#elif defined(__AVX2__)
constexpr int64_t kRows = 6, kVectors = 2;  // 12 of 16
#else
constexpr int64_t kRows = 4, kVectors = 2;
#endif
constexpr int64_t kDepth = 256;  // rows of B between two visits of the accumulators

/// How elements of T become lanes: A the lane type, kParts lanes an element.
template <class T_, class A_>
struct Real {
  using T = T_;
  using A = A_;
  static constexpr int64_t kParts = 1;
};
/// A complex product is a real one: rows of A as pairs (re, im), each element of B as the two rows
/// (re, im) and (-im, re).
template <class P>
struct Complex {
  struct T {
    P re, im;
  };
  using A = P;
  static constexpr int64_t kParts = 2;
};

template <class How>
struct Gemm {
  using T = typename How::T;
  using A = typename How::A;
  using V = Vec<A>;
  static constexpr int64_t kParts = How::kParts;
  static constexpr int64_t kWide = kVectors * kLanes<A>;  // lanes of a panel
  static constexpr int64_t kColumns = kWide / kParts;     // elements of a panel
  static constexpr int64_t kLaneDepth = kDepth * kParts;  // lanes of packed A a row

  static void pack(const MatrixView& b, int64_t panel, void* raw_out) {
    const T* x = static_cast<const T*>(b.data);
    A* out = static_cast<A*>(raw_out);
    const int64_t begin = panel * kColumns;
    const int64_t width = b.columns - begin < kColumns ? b.columns - begin : kColumns;
    for (int64_t k = 0; k < b.rows; ++k) {
      const T* row = x + k * b.row_stride + begin * b.column_stride;
      if constexpr (kParts == 2) {
        pack_complex(row, b.column_stride, width, b.conjugate, out);
      } else {
        for (int64_t j = 0; j < width; ++j) out[j] = widened<A>(row[j * b.column_stride]);
        for (int64_t j = width; j < kWide; ++j) out[j] = A{};
      }
      out += kWide * kParts;
    }
  }

  static void pack_complex(const T* row, int64_t stride, int64_t width, bool conjugate, A* out) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const A re = j < width ? row[j * stride].re : A{};
      const A im = j < width ? (conjugate ? -row[j * stride].im : row[j * stride].im) : A{};
      out[2 * j] = re;
      out[2 * j + 1] = im;
      out[kWide + 2 * j] = -im;
      out[kWide + 2 * j + 1] = re;
    }
  }

  /// Rows [begin, begin + rows) of A over `depth` columns from `first` on, lane-interleaved.
  static void pack_rows(const MatrixView& a, int64_t begin, int64_t rows, int64_t first,
                        int64_t depth, A* out) {
    for (int64_t r = 0; r < kRows; ++r) {
      const T* row = static_cast<const T*>(a.data) + (begin + r) * a.row_stride;
      for (int64_t k = 0; k < depth; ++k) {
        if constexpr (kParts == 2) {
          const T value = r < rows ? row[(first + k) * a.column_stride] : T{};
          out[(2 * k) * kRows + r] = value.re;
          out[(2 * k + 1) * kRows + r] = a.conjugate ? -value.im : value.im;
        } else {
          out[k * kRows + r] = r < rows ? widened<A>(row[(first + k) * a.column_stride]) : A{};
        }
      }
    }
  }

  /// acc[kRows][kWide] += packed A (depth lanes) * packed B.
  static void tile(int64_t depth, const A* a, const A* b, A* acc) {
    V c[kRows][kVectors];
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t v = 0; v < kVectors; ++v) c[r][v] = load<A>(acc + r * kWide + v * kLanes<A>);
    }
    for (int64_t k = 0; k < depth; ++k) {
      V right[kVectors];
      for (int64_t v = 0; v < kVectors; ++v) right[v] = load<A>(b + k * kWide + v * kLanes<A>);
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) {
        const A left = a[k * kRows + r];
#pragma GCC unroll 3
        for (int64_t v = 0; v < kVectors; ++v) c[r][v] += left * right[v];
      }
    }
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t v = 0; v < kVectors; ++v) {
        __builtin_memcpy(acc + r * kWide + v * kLanes<A>, &c[r][v], sizeof(V));
      }
    }
  }

  static void store(const A* acc, int64_t rows, int64_t width, T* c, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r) {
      if constexpr (kParts == 2) {
        __builtin_memcpy(c + r * columns, acc + r * kWide, static_cast<size_t>(width) * sizeof(T));
      } else {
        for (int64_t j = 0; j < width; ++j) narrow(acc[r * kWide + j], c[r * columns + j]);
      }
    }
  }

  static void multiply(const MatrixView& a, int64_t row_begin, int64_t row_end, const void* packed,
                       int64_t panel_begin, int64_t panel_end, void* raw_c, int64_t columns) {
    alignas(64) A left[kLaneDepth * kRows];
    alignas(64) A acc[kGemmPanels][kRows * kWide];
    const int64_t panel_lanes = a.columns * kParts * kWide;
    for (int64_t row = row_begin; row < row_end; row += kRows) {
      const int64_t rows = row_end - row < kRows ? row_end - row : kRows;
      __builtin_memset(acc, 0, sizeof(acc));
      for (int64_t k = 0; k < a.columns; k += kDepth) {
        const int64_t depth = a.columns - k < kDepth ? a.columns - k : kDepth;
        pack_rows(a, row, rows, k, depth, left);
        for (int64_t p = panel_begin; p < panel_end; ++p) {
          const A* right = static_cast<const A*>(packed) + p * panel_lanes + k * kParts * kWide;
          tile(depth * kParts, left, right, acc[p - panel_begin]);
        }
      }
      for (int64_t p = panel_begin; p < panel_end; ++p) {
        const int64_t begin = p * kColumns;
        const int64_t width = columns - begin < kColumns ? columns - begin : kColumns;
        T* c = static_cast<T*>(raw_c) + row * columns + begin;
        store(acc[p - panel_begin], rows, width, c, columns);
      }
    }
  }

  static constexpr GemmLoops loops() {
    return {kColumns, kRows, static_cast<int64_t>(sizeof(A)) * kParts * kParts, pack, multiply};
  }
};

/// One row or one column times a matrix: bound by reading the matrix once.
template <class T, class A>
struct MatrixVector {
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;

  /// Outputs lie side by side in each row of the matrix: kCount vectors of them at a time.
  template <int kCount>
  [[gnu::always_inline]] static void side_by_side(const T* x, const T* matrix, int64_t inner,
                                                  int64_t stride, T* y) {
    V acc[kCount] = {};
    for (int64_t k = 0; k < inner; ++k) {
      const A left = widened<A>(x[k]);
#pragma GCC unroll 8
      for (int v = 0; v < kCount; ++v) acc[v] += left * load<A>(matrix + k * stride + v * kLane);
    }
    for (int v = 0; v < kCount; ++v) {
      for (int64_t l = 0; l < kLane; ++l) narrow(acc[v][l], y[v * kLane + l]);
    }
  }

  static void outputs_in_rows(const T* x, const T* matrix, int64_t inner, int64_t stride,
                              int64_t begin, int64_t end, T* y) {
    int64_t o = begin;
    for (; o + 8 * kLane <= end; o += 8 * kLane) {
      side_by_side<8>(x, matrix + o, inner, stride, y + o);
    }
    for (; o + kLane <= end; o += kLane) side_by_side<1>(x, matrix + o, inner, stride, y + o);
    if (o == end) return;
    V acc = {};
    for (int64_t k = 0; k < inner; ++k) {
      acc += widened<A>(x[k]) * load_part<A>(matrix + k * stride + o, end - o);
    }
    for (int64_t l = 0; l < end - o; ++l) narrow(acc[l], y[o + l]);
  }

  /// Each output is a dot product of contiguous elements.
  static A dot(const T* x, const T* row, int64_t n) {
    constexpr int64_t kWide = kWideLanes<A>;
    Wide<A> acc[4];
    int64_t k = 0;
    for (; k + 4 * kWide <= n; k += 4 * kWide) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
#pragma GCC unroll 4
        for (int p = 0; p < kParts; ++p) {
          const int64_t at = k + v * kWide + p * kLane;
          acc[v].part[p] += load<A>(x + at) * load<A>(row + at);
        }
      }
    }
    for (; k + kWide <= n; k += kWide) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) {
        acc[0].part[p] += load<A>(x + k + p * kLane) * load<A>(row + k + p * kLane);
      }
    }
    for_parts<A>(
        n - k, [&](int64_t j, int64_t count, int p) __attribute__((always_inline)) {
          acc[1].part[p] += load_some<A>(x + k + j, count) * load_some<A>(row + k + j, count);
        });
    return sum_of_lanes<A>((acc[0] + acc[1]) + (acc[2] + acc[3]));
  }

  static void run(const void* raw_x, const void* raw_matrix, int64_t inner, int64_t output_stride,
                  int64_t inner_stride, int64_t begin, int64_t end, void* raw_y) {
    const T* x = static_cast<const T*>(raw_x);
    const T* matrix = static_cast<const T*>(raw_matrix);
    T* y = static_cast<T*>(raw_y);
    if (inner_stride != 1) return outputs_in_rows(x, matrix, inner, inner_stride, begin, end, y);
    for (int64_t o = begin; o < end; ++o) narrow(dot(x, matrix + o * output_stride, inner), y[o]);
  }
};

constexpr GemmTable make_table() {
  GemmTable t{};
  const auto gemm = [&](DType d) -> GemmLoops& { return t.gemm[static_cast<int>(d)]; };
  gemm(DType::float16) = Gemm<Real<Half, float>>::loops();
  gemm(DType::bfloat16) = Gemm<Real<BFloat16, float>>::loops();
  gemm(DType::complex64) = Gemm<Complex<float>>::loops();
  gemm(DType::complex128) = Gemm<Complex<double>>::loops();
  // Products wrap around, so the sign makes no difference.
  gemm(DType::int8) = gemm(DType::uint8) = Gemm<Real<uint8_t, uint32_t>>::loops();
  gemm(DType::int16) = gemm(DType::uint16) = Gemm<Real<uint16_t, uint32_t>>::loops();
  gemm(DType::int32) = gemm(DType::uint32) = Gemm<Real<uint32_t, uint32_t>>::loops();
  gemm(DType::int64) = gemm(DType::uint64) = Gemm<Real<uint64_t, uint64_t>>::loops();
  t.gemv[static_cast<int>(DType::float16)] = MatrixVector<Half, float>::run;
  t.gemv[static_cast<int>(DType::bfloat16)] = MatrixVector<BFloat16, float>::run;
  t.gemv[static_cast<int>(DType::float32)] = MatrixVector<float, float>::run;
  t.gemv[static_cast<int>(DType::float64)] = MatrixVector<double, double>::run;
  return t;
}

}  // namespace

extern constinit const GemmTable gemm_table = make_table();

}  // namespace tidemark::cpu::TIDEMARK_ISA
