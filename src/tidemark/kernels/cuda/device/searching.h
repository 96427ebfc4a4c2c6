// Places in sorted sequences, and sequences turned round, each of a length of its own.

namespace tm {

struct search_arguments {
  const void *sequences, *values;
  void* out;
  int64 count, length, of_sequence;  // of_sequence: values that are looked for in one
};
/// How many elements come before a value, or, `kRight`, before what comes after it.
template <class T, class I, bool kRight>
void search_sorted(const search_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const int64 start = i / a.of_sequence * a.length;
    const auto wanted = rank_of<T>(a.values, i, false);
    int64 first = 0, end = a.length;
    while (first < end) {
      const int64 middle = first + (end - first) / 2;
      const auto rank = rank_of<T>(a.sequences, start + middle, false);
      const bool is_before = kRight ? !(wanted < rank) : rank < wanted;
      if (is_before) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    static_cast<I*>(a.out)[i] = static_cast<I>(first);
  });
}

struct reverse_arguments {
  const void *from, *lengths;
  void* out;
  int64 count, batch_step, batch_size, step, size;
  Fault fault;
};
template <class T, class I>
void reverse_sequence(const reverse_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const int64 place = i / a.step % a.size;
    int64 length = static_cast<const I*>(a.lengths)[i / a.batch_step % a.batch_size];
    if (length < 0 || length > a.size) {
      report(a.fault, length, a.size);
      length = 0;
    }
    const int64 from = place < length ? i + (length - 1 - 2 * place) * a.step : i;
    static_cast<T*>(a.out)[i] = static_cast<const T*>(a.from)[from];
  });
}

}  // namespace tm
