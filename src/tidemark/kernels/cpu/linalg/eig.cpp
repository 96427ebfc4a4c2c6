// Eigenvalues and eigenvectors of general matrices, from their Schur form.
#include <tidemark/kernel.h>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/schur.h"

namespace tidemark::cpu::linalg {

namespace {

template <class T>
struct Eig {
  using Out = std::complex<Real<T>>;
  static constexpr bool kIsReal = std::is_floating_point_v<T>;

  /// The Schur form, what turns it, and a vector.
  static size_t bytes(int64_t n, bool vectors) {
    return static_cast<size_t>((vectors ? 2 : 1) * n * n + n) * sizeof(Complex);
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s.dim(-1), call.attr("compute_v").as_bool()));
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const bool vectors = k.attr("compute_v").as_bool();
    for_each_in_batch(k, batch_of(s), bytes(s.dim(-1), vectors), [&](int64_t i, char* memory) {
      one(k, i, vectors, reinterpret_cast<Complex*>(memory));
    });
  }

  static void one(KernelContext& k, int64_t i, bool vectors, Complex* memory) {
    const int64_t n = k.input(0).dim(-1);
    Complex* x = memory;
    const Square t{memory + n, n}, q{vectors ? t.data + t.size() : nullptr, n};
    Out* values = k.out<Out>(0) + i * n;
    Out* columns = vectors ? k.out<Out>(1) + i * n * n : nullptr;
    if (!read_rows(k.in<T>(0) + i * n * n, t) || !make_schur(t, q, x)) {
      std::fill_n(values, n, Out(nan_of<Real<T>>(), nan_of<Real<T>>()));
      if (vectors) std::fill_n(columns, n * n, Out(nan_of<Real<T>>(), nan_of<Real<T>>()));
      return;
    }
    double largest = 0;
    for (int64_t j = 0; j < t.size(); ++j) largest = std::max(largest, std::abs(t.data[j]));
    const double limit = 8 * std::numeric_limits<double>::epsilon() * largest;
    for (int64_t j = n; j-- > 0;) {  // from the last on: write_vector uses up column j
      check_interrupt();
      // A real matrix has real eigenvalues and pairs of conjugates; rounding leaves less than this.
      const bool is_real = kIsReal && std::abs(t(j, j).imag()) <= limit;
      values[j] = is_real ? Out(static_cast<Real<T>>(t(j, j).real())) : Out(t(j, j));
      if (vectors) write_vector(t, q, j, limit, is_real, x, columns);
    }
  }

  /// (T - t_jj) x = 0 by substitution upwards, then q x, of length 1.
  static void write_vector(Square t, Square q, int64_t j, double limit, bool is_real, Complex* x,
                           Out* columns) {
    const double smallest = std::max(limit, std::numeric_limits<double>::min());
    for (int64_t i = 0; i < j; ++i) x[i] = -t(i, j);
    x[j] = 1;
    for (int64_t i = j; i-- > 0;) {
      Complex gap = t(i, i) - t(j, j);
      if (std::abs(gap) < smallest)
        gap = smallest;  // equal eigenvalues: hardly independent vectors
      x[i] /= gap;
      add_multiple(x, -x[i], t.column(i), i);
    }
    Complex* v = t.column(j);
    std::fill_n(v, q.n, Complex(0));
    for (int64_t i = 0; i <= j; ++i) add_multiple(v, x[i], q.column(i), q.n);
    int64_t top = 0;
    for (int64_t i = 1; i < q.n; ++i) {
      if (std::abs(v[i]) > std::abs(v[top])) top = i;
    }
    const double size = std::abs(v[top]);
    for (int64_t i = 0; i < q.n; ++i) v[i] /= size;
    Complex by = std::sqrt(inner(v, v, q.n).real());
    if (is_real) by *= v[top] / std::abs(v[top]);  // the vector of a real eigenvalue is real
    for (int64_t i = 0; i < q.n; ++i) {
      const Complex element = v[i] / by;
      columns[i * q.n + j] = is_real ? Out(static_cast<Real<T>>(element.real())) : Out(element);
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Eig, float, double, std::complex<float>, std::complex<double>>
    eig("eig");

}  // namespace

}  // namespace tidemark::cpu::linalg
