// Elements that values pick: the true ones of a mask, the first of equal ones. Each tile counts
// what it has, the counts become sums of those before (add_counts, sorting.h), and each tile then
// knows where its own go. Nothing depends on the speed of threads.

namespace tm {

constexpr int kPickTile = 2048;  // shared by the threads of a block, neighbours a thread
constexpr int kPickThreads = 256;

/// Calls f(i, rank) for each i of [0, count) and how many before it are picked; `starts`: how many
/// are picked before each tile.
template <class Is, class F>
void for_each_ranked(int64 count, int64 tiles, const void* starts, Is is, F f) {
  __shared__ uint32 lanes[2 * kPickThreads];
  const int64 items = kPickTile / blockDim.x;
  for (int64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64 first = tile * kPickTile + threadIdx.x * items;
    uint32 mine = 0;
    for (int64 i = first; i < first + items && i < count; ++i) mine += is(i);
    int64 rank = static_cast<const int64*>(starts)[tile] + sum_before(mine, lanes);
    for (int64 i = first; i < first + items && i < count; ++i) {
      f(i, rank);
      rank += is(i);
    }
  }
}
/// Writes how many of each tile are picked, and 0 behind them: there the sum of all will be.
template <class Is>
void count_tiles(int64 count, int64 tiles, void* counts, Is is) {
  __shared__ uint32 lanes[2 * kPickThreads];
  const int64 items = kPickTile / blockDim.x;
  int64* to = static_cast<int64*>(counts);
  for (int64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64 first = tile * kPickTile + threadIdx.x * items;
    uint32 mine = 0;
    for (int64 i = first; i < first + items && i < count; ++i) mine += is(i);
    const uint32 before = sum_before(mine, lanes);
    if (threadIdx.x == blockDim.x - 1) to[tile] = before + mine;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) to[tiles] = 0;
}

// --- The true elements of a mask
// ------------------------------------------------------------------

struct mask_arguments {
  const void* mask;
  void* counts;  // [tiles + 1]
  int64 count, tiles;
  void* positions;
};
inline void count_true(const mask_arguments& a) {
  const bool* mask = static_cast<const bool*>(a.mask);
  count_tiles(a.count, a.tiles, a.counts, [&](int64 i) { return mask[i] ? 1u : 0u; });
}
/// Where they are, in order.
template <class I>
void find_true(const mask_arguments& a) {
  const bool* mask = static_cast<const bool*>(a.mask);
  const auto is = [&](int64 i) { return mask[i] ? 1u : 0u; };
  for_each_ranked(a.count, a.tiles, a.counts, is, [&](int64 i, int64 rank) {
    if (mask[i]) static_cast<I*>(a.positions)[rank] = static_cast<I>(i);
  });
}

template <int Rank>
struct coordinates_arguments {
  const void* mask;
  void* counts;
  int64 count, tiles;
  void* out;  // [picked, Rank]
  int64 sizes[Rank];
};
/// The same as places along each dimension.
template <int Rank>
void find_coordinates(const coordinates_arguments<Rank>& a) {
  const bool* mask = static_cast<const bool*>(a.mask);
  const auto is = [&](int64 i) { return mask[i] ? 1u : 0u; };
  for_each_ranked(a.count, a.tiles, a.counts, is, [&](int64 i, int64 rank) {
    if (!mask[i]) return;
    int64* to = static_cast<int64*>(a.out) + rank * Rank;
    int64 rest = i;
    for (int d = Rank - 1; d >= 0; --d) {
      to[d] = rest % a.sizes[d];
      rest /= a.sizes[d];
    }
  });
}

struct picked_arguments {
  const void *from, *positions;
  void* out;
  int64 elements, picked, size, inner;  // of [outer, size, inner]
};
/// The slices at the positions.
template <class T, class I>
void take_picked(const picked_arguments& a) {
  for_each(a.elements, [&](int64 w) {
    const int64 slice = w / a.inner, outer = slice / a.picked;
    const int64 position = static_cast<int64>(static_cast<const I*>(a.positions)[slice % a.picked]);
    static_cast<T*>(a.out)[w] =
        static_cast<const T*>(a.from)[(outer * a.size + position) * a.inner + w % a.inner];
  });
}

// --- Distinct elements: sorted ranks are given, equal ones as neighbours in the order of the input
// ------

struct groups_arguments {
  const void *ranks, *order;  // sorted
  void* counts;               // [tiles + 1]: of groups
  int64 count, tiles;
  void *groups, *starts;  // of each rank its group; of each group its first rank
  void* is_first;         // whether an element is the first one of its group
};
/// Whether a rank begins a group. Those that are NaN's equal nothing.
template <class K, class T>
struct BeginsGroup {
  const K* ranks;
  uint32 operator()(int64 i) const {
    typedef typename Unsigned<T>::Type U;
    constexpr bool has_nan = Kind<decltype(load(nullptr, 0, T()))>::is_float;
    return i == 0 || ranks[i] != ranks[i - 1] || (has_nan && ranks[i] == K(U(~U(0)))) ? 1u : 0u;
  }
};
template <class K, class T>
void count_groups(const groups_arguments& a) {
  count_tiles(a.count, a.tiles, a.counts, BeginsGroup<K, T>{static_cast<const K*>(a.ranks)});
}
template <class K, class T>
void find_groups(const groups_arguments& a) {
  const BeginsGroup<K, T> begins{static_cast<const K*>(a.ranks)};
  for_each_ranked(a.count, a.tiles, a.counts, begins, [&](int64 i, int64 before) {
    const bool is_start = begins(i) != 0;
    const int64 group = before + is_start - 1;
    static_cast<K*>(a.groups)[i] = static_cast<K>(group);
    if (is_start) static_cast<K*>(a.starts)[group] = static_cast<K>(i);
    static_cast<bool*>(a.is_first)[static_cast<int64>(static_cast<const K*>(a.order)[i])] =
        is_start;
  });
}

struct distinct_arguments {
  const void* is_first;
  void* counts;  // [tiles + 1]: of first ones
  int64 count, tiles;
  const void* from;
  void *numbers, *out;  // of each first element its number; the elements by number
};
/// Groups are numbered in the order of their first elements.
template <class K, class T>
void number_first(const distinct_arguments& a) {
  const bool* is_first = static_cast<const bool*>(a.is_first);
  const auto is = [&](int64 i) { return is_first[i] ? 1u : 0u; };
  for_each_ranked(a.count, a.tiles, a.counts, is, [&](int64 i, int64 number) {
    if (!is_first[i]) return;
    static_cast<K*>(a.numbers)[i] = static_cast<K>(number);
    static_cast<T*>(a.out)[number] = static_cast<const T*>(a.from)[i];
  });
}

struct numbered_arguments {
  const void *order, *groups, *starts, *numbers;
  void *index, *sizes;  // sizes: of each group by number; null: unwanted
  int64 count, distinct;
};
template <class K, class I>
void tell_numbers(const numbered_arguments& a) {
  const K *order = static_cast<const K*>(a.order), *starts = static_cast<const K*>(a.starts);
  for_each(a.count, [&](int64 i) {
    const int64 group = static_cast<int64>(static_cast<const K*>(a.groups)[i]);
    const int64 start = static_cast<int64>(starts[group]);
    const int64 first = static_cast<int64>(order[start]);
    const int64 number = static_cast<int64>(static_cast<const K*>(a.numbers)[first]);
    static_cast<I*>(a.index)[static_cast<int64>(order[i])] = static_cast<I>(number);
    if (!a.sizes || i != start) return;
    const int64 end = group + 1 < a.distinct ? static_cast<int64>(starts[group + 1]) : a.count;
    static_cast<I*>(a.sizes)[number] = static_cast<I>(end - start);
  });
}

}  // namespace tm
