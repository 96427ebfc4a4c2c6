// A stable sort of keys with the numbers of their elements, four bits a pass: each tile of keys
// counts its digits, the counts of all tiles are added up, and each tile puts its keys in place.
// Nothing depends on the speed of threads.

namespace tm {

constexpr int kDigits = 16;
constexpr int kDigitBits = 4;
constexpr int kTileThreads = 256;  // at most
constexpr int kTileItems = 2048;   // shared by the threads of a block, neighbours a thread

struct radix_arguments {
  const void *keys, *order;
  void *keys_to, *order_to;
  void* counts;  // [kDigits, tiles]
  int64 count, tiles, shift;
};

template <class K>
int digit_of(K key, int64 shift) {
  return static_cast<int>(key >> shift) & (kDigits - 1);
}

/// How many keys of each digit the threads before have, and of all smaller digits: [digit, thread].
template <class K>
void count_digits(const radix_arguments& a, int64 tile, uint32* ranks, uint32* lanes) {
  const unsigned int threads = blockDim.x;
  for (int d = 0; d < kDigits; ++d) ranks[d * threads + threadIdx.x] = 0;
  const int64 items = kTileItems / threads, first = tile * kTileItems + threadIdx.x * items;
  for (int64 i = first; i < first + items && i < a.count; ++i) {
    const int digit = digit_of(static_cast<const K*>(a.keys)[i], a.shift);
    ++ranks[digit * threads + threadIdx.x];
  }
  __syncthreads();
  uint32* mine = ranks + threadIdx.x * kDigits;  // neighbours in the order of the sum
  uint32 sum = 0;
  for (int d = 0; d < kDigits; ++d) sum += mine[d];
  uint32 before = sum_before(sum, lanes);
  for (int d = 0; d < kDigits; ++d) {
    const uint32 count = mine[d];
    mine[d] = before;
    before += count;
  }
  __syncthreads();
}

template <class K>
void radix_count(const radix_arguments& a) {
  __shared__ uint32 ranks[kDigits * kTileThreads], lanes[2 * kTileThreads];
  for (int64 tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
    count_digits<K>(a, tile, ranks, lanes);
    const int64 left = a.count - tile * kTileItems;
    const uint32 all = static_cast<uint32>(left < kTileItems ? left : kTileItems);
    for (int d = threadIdx.x; d < kDigits; d += blockDim.x) {
      const uint32 end = d + 1 < kDigits ? ranks[(d + 1) * blockDim.x] : all;
      static_cast<int64*>(a.counts)[d * a.tiles + tile] = end - ranks[d * blockDim.x];
    }
    __syncthreads();
  }
}

/// One block: each count becomes the sum of those before it.
struct sum_arguments {
  void* counts;
  int64 count;
};
inline void add_counts(const sum_arguments& a) {
  __shared__ int64 lanes[2 * kTileThreads];
  int64* counts = static_cast<int64*>(a.counts);
  const int64 first = a.count * threadIdx.x / blockDim.x;
  const int64 end = a.count * (threadIdx.x + 1) / blockDim.x;
  int64 sum = 0;
  for (int64 i = first; i < end; ++i) sum += counts[i];
  int64 before = sum_before(sum, lanes);
  for (int64 i = first; i < end; ++i) {
    const int64 count = counts[i];
    counts[i] = before;
    before += count;
  }
}

template <class K>
void radix_place(const radix_arguments& a) {
  __shared__ uint32 ranks[kDigits * kTileThreads], lanes[2 * kTileThreads], starts[kDigits];
  for (int64 tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
    count_digits<K>(a, tile, ranks, lanes);
    for (int d = threadIdx.x; d < kDigits; d += blockDim.x) starts[d] = ranks[d * blockDim.x];
    __syncthreads();
    const int64 items = kTileItems / blockDim.x, first = tile * kTileItems + threadIdx.x * items;
    for (int64 i = first; i < first + items && i < a.count; ++i) {
      const K key = static_cast<const K*>(a.keys)[i];
      const int digit = digit_of(key, a.shift);
      const uint32 rank = ranks[digit * blockDim.x + threadIdx.x]++ - starts[digit];
      const int64 to = static_cast<const int64*>(a.counts)[digit * a.tiles + tile] + rank;
      static_cast<K*>(a.keys_to)[to] = key;
      static_cast<K*>(a.order_to)[to] = static_cast<const K*>(a.order)[i];
    }
    __syncthreads();
  }
}

// --- Elements of lines in order: NaN comes last, whichever the direction
// --------------------------

template <class T>
struct Unsigned {
  typedef T Type;
};
template <>
struct Unsigned<int8> {
  typedef uint8 Type;
};
template <>
struct Unsigned<int16> {
  typedef uint16 Type;
};
template <>
struct Unsigned<int32> {
  typedef uint32 Type;
};
template <>
struct Unsigned<int64> {
  typedef uint64 Type;
};
template <>
struct Unsigned<Half> {
  typedef uint16 Type;
};
template <>
struct Unsigned<BFloat16> {
  typedef uint16 Type;
};
template <>
struct Unsigned<float> {
  typedef uint32 Type;
};
template <>
struct Unsigned<double> {
  typedef uint64 Type;
};

/// A number whose order is that of the elements. Both zeros have one.
template <class T>
typename Unsigned<T>::Type rank_of(const void* from, int64 i, bool descends) {
  typedef typename Unsigned<T>::Type U;
  constexpr U sign = U(U(1) << (sizeof(T) * 8 - 1));
  const auto value = load(from, i, T());
  U bits = static_cast<const U*>(from)[i];
  if constexpr (Kind<decltype(load(from, i, T()))>::is_float) {
    if (value != value) return U(~U(0));
    if (value == 0) bits = 0;
    bits = bits & sign ? U(~bits) : U(bits | sign);
  } else if constexpr (T(-1) < T(0)) {
    bits = U(bits ^ sign);
  }
  return descends ? U(~bits) : bits;
}

struct rank_arguments {
  const void* from;
  void *keys, *order;
  Lines lines;
  int64 descends;
};
/// Element i of line l has number l * n + i.
template <class K, class T>
void make_ranks(const rank_arguments& a) {
  for_each(a.lines.count * a.lines.n, [&](int64 i) {
    const int64 at = a.lines.first_of(i / a.lines.n) + i % a.lines.n * a.lines.inner;
    static_cast<K*>(a.keys)[i] = rank_of<T>(a.from, at, a.descends);
    static_cast<K*>(a.order)[i] = static_cast<K>(i);
  });
}
/// The lines of the elements, in the order that they have.
struct line_arguments {
  void* keys;
  const void* order;
  int64 count, n;
};
template <class K>
void make_lines(const line_arguments& a) {
  for_each(a.count, [&](int64 i) {
    static_cast<K*>(a.keys)[i] = static_cast<K>(static_cast<const K*>(a.order)[i] / a.n);
  });
}

/// The first `taken` of each line, and where in the line they were; either may be unwanted.
struct sorted_arguments {
  const void *from, *order;
  void *values, *positions;
  Lines lines;
  int64 taken;
};
template <class K, class T, class I>
void take_sorted(const sorted_arguments& a) {
  for_each(a.lines.count * a.taken, [&](int64 w) {
    const int64 line = w / a.taken, rank = w % a.taken;
    const int64 i = static_cast<const K*>(a.order)[line * a.lines.n + rank] % a.lines.n;
    const int64 to = line / a.lines.inner * a.taken * a.lines.inner + rank * a.lines.inner +
                     line % a.lines.inner;
    if (a.positions) static_cast<I*>(a.positions)[to] = static_cast<I>(i);
    if (!a.values) return;
    static_cast<T*>(a.values)[to] =
        static_cast<const T*>(a.from)[a.lines.first_of(line) + i * a.lines.inner];
  });
}

}  // namespace tm
