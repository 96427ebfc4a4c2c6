// In place of solving.cpp where Eigen's headers were not there: each op says what it lacks.
#include <tidemark/error.h>
#include <tidemark/kernel.h>

#include <complex>

namespace tidemark::cpu::linalg {

namespace {

template <class T>
struct Missing {
  static void run(KernelContext&) {
    fail<UnimplementedError>(
        "Cholesky and LU decompositions, and what is solved with them, need Eigen, which this "
        "library was built without: install libeigen3-dev and build it again");
  }
};

struct ForAll {
  explicit ForAll(std::string_view op) {
    const TypedKernelsOf<KernelKind::cpu, Missing, float, double, std::complex<float>,
                         std::complex<double>>
        registered(op);
  }
};

const ForAll cholesky("cholesky"), triangular_solve("triangular_solve"), solve("matrix_solve"),
    inverse("matrix_inverse"), determinant("matrix_determinant"),
    log_determinant("log_matrix_determinant"), lu("lu");

}  // namespace

}  // namespace tidemark::cpu::linalg
