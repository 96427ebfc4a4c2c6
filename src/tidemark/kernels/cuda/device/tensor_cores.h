// Products of small matrices of half types by the units for them: a warp multiplies 16 rows with 8
// columns, its threads holding the elements together. Of such a matrix thread l has rows l / 4 and
// l / 4 + 8 and columns 2 * (l % 4) and the next. All threads of a block call these functions
// together.

namespace tm {

/// Eight elements, moved by one access.
struct alignas(16) Eight {
  uint16 of[8];
};

struct Lane {
  int warp, row, column;
  Lane() : warp(threadIdx.x / 32), row(threadIdx.x % 32 / 4), column(threadIdx.x % 32 % 4 * 2) {}
};

/// Which of the two half types.
template <class T>
struct IsHalf {
  static constexpr bool value = false;
};
template <>
struct IsHalf<Half> {
  static constexpr bool value = true;
};

/// Two neighbours of a row in 32 bits, the first one in the low half.
template <class T>
uint32 pair_of(float first, float second, T) {
#ifdef __CUDA_ARCH__
  uint32 both;
  if constexpr (IsHalf<T>::value) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  }
  return both;
#else
  T low, high;
  narrow(first, low);
  narrow(second, high);
  return low.bits | static_cast<uint32>(high.bits) << 16;
#endif
}

/// c[16, 8] += a[16, 16] * b[16, 8]. Of `a` a thread has, for either half of the columns, its two
/// rows; of `b` columns are as rows of `a` are, and it has its row in either half.
template <class T>
void multiply_add(float (&c)[4], const uint32 (&a)[4], uint32 b0, uint32 b1, T) {
#ifdef __CUDA_ARCH__
  if constexpr (IsHalf<T>::value) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#else
  static uint32 all_a[256][4], all_b[256][2];
  for (int i = 0; i < 4; ++i) all_a[threadIdx.x][i] = a[i];
  all_b[threadIdx.x][0] = b0;
  all_b[threadIdx.x][1] = b1;
  __syncthreads();
  const Lane lane;
  const auto element = [](uint32 both, int which) {
    T half;
    half.bits = static_cast<uint16>(both >> 16 * which);
    return widen(half);
  };
  for (int i = 0; i < 4; ++i) {
    const int row = lane.row + i / 2 * 8, column = lane.column + i % 2;
    for (int k = 0; k < 16; ++k) {
      const int pair = k % 8 / 2, half = k / 8;
      const uint32 x = all_a[lane.warp * 32 + row % 8 * 4 + pair][half * 2 + row / 8];
      const uint32 y = all_b[lane.warp * 32 + column * 4 + pair][half];
      c[i] += element(x, k % 2) * element(y, k % 2);
    }
  }
  __syncthreads();
#endif
}

/// Rows of a matrix in shared memory: `Columns` elements, and room behind them so that threads read
/// different banks.
template <int Columns>
struct TileRow {
  Eight packs[Columns / 8 + 1];
};
template <int Columns>
uint32 pair_in(const TileRow<Columns>* tile, int row, int column) {
  return reinterpret_cast<const uint32*>(tile[row].packs)[column / 2];
}
/// What multiply_add wants of rows and columns from `row` and `column` on, rows as they lie.
template <int Columns>
void load_across(uint32& b0, uint32& b1, const TileRow<Columns>* tile, int row, int column) {
#ifdef __CUDA_ARCH__
  const void* at = reinterpret_cast<const uint16*>(tile[row + threadIdx.x % 16].packs) + column;
  asm volatile(
      "{\n.reg .u64 at;\n.reg .u32 place;\ncvta.to.shared.u64 at, %2;\ncvt.u32.u64 place, at;\n"
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [place];\n}"
      : "=r"(b0), "=r"(b1)
      : "l"(at)
      : "memory");
#else
  const Lane lane;
  const auto element = [&](int r) {
    return reinterpret_cast<const uint16*>(tile[row + r].packs)[column + lane.row];
  };
  b0 = element(lane.column) | static_cast<uint32>(element(lane.column + 1)) << 16;
  b1 = element(lane.column + 8) | static_cast<uint32>(element(lane.column + 9)) << 16;
#endif
}

constexpr int kFlashThreads = 256;

/// Rows of a matrix on their way to shared memory: a block asks for the next ones, computes with
/// those it has, and puts the next ones in their place then.
template <int Rows, int Columns>
struct ComingTile {
  static constexpr int packs = Columns / 8, all = Rows * packs;
  static constexpr int of_thread = (all + kFlashThreads - 1) / kFlashThreads;
  Eight taken[of_thread];

  /// `rows` of them are there; behind those there are zeros.
  void load(const uint16* from, int64 rows) {
    const bool is_packed = reinterpret_cast<uint64>(from) % sizeof(Eight) == 0;
#pragma unroll
    for (int k = 0; k < of_thread; ++k) {
      const int i = k * kFlashThreads + threadIdx.x;
      taken[k] = Eight{};
      if (i >= all || i / packs >= rows) continue;
      if (is_packed) {
        taken[k] = reinterpret_cast<const Eight*>(from)[i];
      } else {
        for (int e = 0; e < 8; ++e) taken[k].of[e] = from[i * 8 + e];
      }
    }
  }
  void store(TileRow<Columns>* tile) const {
#pragma unroll
    for (int k = 0; k < of_thread; ++k) {
      const int i = k * kFlashThreads + threadIdx.x;
      if (i < all) tile[i / packs].packs[i % packs] = taken[k];
    }
  }
};
/// The warp's 16 rows from `first` on, as the first side of products; behind `rows` there are
/// zeros.
template <int Columns>
void load_rows(uint32 (&a)[Columns / 16][4], const uint16* from, int64 first, int64 rows) {
  const Lane lane;
#pragma unroll
  for (int s = 0; s < Columns / 16; ++s) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64 row = first + lane.row + i % 2 * 8;
      const uint16* at = from + row * Columns + s * 16 + lane.column + i / 2 * 8;
      a[s][i] = row < rows ? at[0] | static_cast<uint32>(at[1]) << 16 : 0u;
    }
  }
}

/// c[16, Rows] = a * tile^T.
template <int Rows, int Columns, class T>
void multiply_rows(float (&c)[Rows / 8][4], const uint32 (&a)[Columns / 16][4],
                   const TileRow<Columns>* tile, T type) {
  const Lane lane;
#pragma unroll
  for (int j = 0; j < Rows / 8; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) c[j][i] = 0;
  }
  // Products that follow each other do not wait for each other.
#pragma unroll
  for (int s = 0; s < Columns / 16; ++s) {
#pragma unroll
    for (int j = 0; j < Rows / 8; ++j) {
      const int row = j * 8 + lane.row, column = s * 16 + lane.column;
      multiply_add(c[j], a[s], pair_in(tile, row, column), pair_in(tile, row, column + 8), type);
    }
  }
}
/// c[16, Columns] += x * tile, where x[16, Rows] is what products gave.
template <int Rows, int Columns, class T>
void multiply_across(float (&c)[Columns / 8][4], const float (&x)[Rows / 8][4],
                     const TileRow<Columns>* tile, T type) {
#pragma unroll
  for (int s = 0; s < Rows / 16; ++s) {
    const float(&left)[4] = x[2 * s], (&right)[4] = x[2 * s + 1];
    const uint32 a[4] = {pair_of(left[0], left[1], type), pair_of(left[2], left[3], type),
                         pair_of(right[0], right[1], type), pair_of(right[2], right[3], type)};
#pragma unroll
    for (int j = 0; j < Columns / 8; ++j) {
      uint32 b0, b1;
      load_across(b0, b1, tile, s * 16, j * 8);
      multiply_add(c[j], a, b0, b1, type);
    }
  }
}
/// Stores what the thread has of 16 rows, those below `rows`, each times a factor of its own.
template <int Columns, class T>
void store_rows(void* to, int64 first, int64 rows, const float (&c)[Columns / 8][4],
                const float (&factors)[2], T type) {
  const Lane lane;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int64 row = first + lane.row + h * 8;
    if (row >= rows) continue;
#pragma unroll
    for (int j = 0; j < Columns / 8; ++j) {
      const int64 at = row * Columns + j * 8 + lane.column;
      static_cast<uint32*>(to)[at / 2] =
          pair_of(c[j][2 * h] * factors[h], c[j][2 * h + 1] * factors[h], type);
    }
  }
}

/// What the four threads that share a row have, joined, in each of them.
template <class R>
float joined_in_row(float mine) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    mine = R::join(mine, __shfl_xor_sync(0xffffffffu, mine, step));
  }
  return mine;
#else
  static float all[256];
  for (unsigned int step = 1; step < 4; step *= 2) {
    all[threadIdx.x] = mine;
    __syncthreads();
    mine = R::join(mine, all[threadIdx.x ^ step]);
    __syncthreads();
  }
  return mine;
#endif
}

inline float exp2_of(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return ::exp2f(x);
#endif
}

}  // namespace tm
