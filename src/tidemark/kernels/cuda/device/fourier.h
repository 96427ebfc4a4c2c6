// What the library for Fourier transforms leaves to others.

namespace tm {

struct scale_arguments {
  void* numbers;
  int64 count;
  double factor;
};
template <class R>
void scale(const scale_arguments& a) {
  for_each(a.count, [&](int64 i) { static_cast<R*>(a.numbers)[i] *= static_cast<R>(a.factor); });
}

/// The first number of each half line and the middle one of an even length stand for themselves.
struct make_ends_real_arguments {
  void* halves;
  int64 lines, n;
};
template <class R>
void make_ends_real(const make_ends_real_arguments& a) {
  const int64 half = a.n / 2 + 1;
  for_each(a.lines, [&](int64 line) {
    Complex<R>* first = static_cast<Complex<R>*>(a.halves) + line * half;
    first[0].im = R(0);
    if (a.n % 2 == 0) first[half - 1].im = R(0);
  });
}

}  // namespace tm
