#include "tidemark/kernels/cpu/matmul/matmul_float.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu {
namespace {

/// Elements that end where memory that may be read ends.
template <class T>
class Guarded {
 public:
  explicit Guarded(int64_t count) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (static_cast<size_t>(count) * sizeof(T) + page - 1) / page * page;
    base_ = static_cast<char*>(
        mmap(nullptr, bytes_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + bytes_, page, PROT_NONE);
    bytes_ += page;
    data_ = reinterpret_cast<T*>(base_ + bytes_ - page) - count;
  }
  ~Guarded() { munmap(base_, bytes_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }
  int64_t size() const { return count_; }

 private:
  int64_t count_;
  size_t bytes_;
  char* base_;
  T* data_;
};

/// Two factors, each stored by rows or by columns.
template <class T>
struct Factors {
  int64_t m, n, k;
  bool a_by_columns, b_by_columns;
  Guarded<T> a, b;

  Factors(int64_t rows, int64_t columns, int64_t depth, int layout)
      : m(rows),
        n(columns),
        k(depth),
        a_by_columns(layout & 1),
        b_by_columns(layout & 2),
        a(m * k),
        b(k * n) {
    for (int64_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i * 37 % 101) / T{64} - T{0.8f};
    for (int64_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(i * 53 % 97) / T{64} - T{0.7f};
  }
  T& left(int64_t i, int64_t l) const { return a[a_by_columns ? l * m + i : i * k + l]; }
  T& right(int64_t l, int64_t j) const { return b[b_by_columns ? j * k + l : l * n + j]; }
  MatmulProblem problem() const {
    const MatrixView left{a.data(), m, k, a_by_columns ? 1 : k, a_by_columns ? m : 1};
    const MatrixView right{b.data(), k, n, b_by_columns ? 1 : n, b_by_columns ? k : 1};
    return MatmulProblem(sizeof(T) == 4 ? DType::float32 : DType::float64, left, right);
  }
};

void multiply(const MatmulProblem& p, void* c, const Epilogue* epilogue = nullptr) {
  Guarded<char> workspace(static_cast<int64_t>(float_workspace(p) + 63) / 64 * 64);
  run_float(p, c, workspace.data(), epilogue);
}

template <class T>
void check(int64_t m, int64_t n, int64_t k, int layout, double tolerance) {
  const Factors<T> f(m, n, k, layout);
  const Guarded<T> c(m * n);
  for (int64_t i = 0; i < c.size(); ++i) c[i] = std::numeric_limits<T>::quiet_NaN();
  multiply(f.problem(), c.data());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int64_t l = 0; l < k; ++l) {
        const double term = static_cast<double>(f.left(i, l)) * f.right(l, j);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(c[i * n + j]), sum, tolerance * size)
          << m << "x" << n << "x" << k << " layout " << layout << " at " << i << "," << j;
    }
  }
}

TEST(MatmulFloat, EdgesInEveryLayout) {
  for (const int64_t m : {2, 5, 6, 7, 8, 9, 13, 48, 65}) {
    for (const int64_t n : {2, 7, 8, 9, 15, 16, 17, 47, 49, 64, 65, 129}) {
      for (const int64_t k : {1, 3, 16, 40}) {
        for (int layout = 0; layout < 4; ++layout) {
          check<float>(m, n, k, layout, 3e-6);
          if (k != 16) check<double>(m, n, k, layout, 1e-14);
        }
      }
    }
  }
}

TEST(MatmulFloat, DepthInSteps) {
  for (const int64_t k : {255, 256, 257, 511, 512, 513, 1025}) {
    for (int layout = 0; layout < 4; ++layout) {
      check<float>(9, 19, k, layout, 1e-5);
      check<float>(70, 140, k, layout, 1e-5);
      check<double>(9, 19, k, layout, 1e-14);
    }
  }
}

TEST(MatmulFloat, RowsWithSpaceBetweenThem) {
  // Parts of wider matrices, so that rows are not one after the other.
  const Guarded<float> a(20 * 50), b(40 * 33);
  for (int64_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
  for (int64_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5);
  const MatmulProblem p(DType::float32, {a.data() + 10, 20, 40, 50, 1},
                        {b.data() + 12, 40, 21, 33, 1});
  const Guarded<float> c(20 * 21);
  multiply(p, c.data());
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 21; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < 40; ++l) sum += a[10 + i * 50 + l] * b[12 + l * 33 + j];
      ASSERT_EQ(c[i * 21 + j], sum);
    }
  }
}

TEST(MatmulFloat, SpecialValuesStayInTheirRowAndColumn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (int layout = 0; layout < 4; ++layout) {
    for (const int64_t n : {10, 70}) {
      const Factors<float> f(9, n, 20, layout);
      f.right(3, 0) = nan;
      f.right(19, n - 1) = infinity;
      f.left(8, 4) = nan;
      const Guarded<float> c(9 * n);
      multiply(f.problem(), c.data());
      for (int64_t i = 0; i < 9; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const bool touched = i == 8 || j == 0 || j == n - 1;
          ASSERT_EQ(std::isfinite(c[i * n + j]), !touched) << i << "," << j;
        }
      }
    }
  }
}

/// Sees each element once, when it is complete, and puts something else in its place.
class Negation final : public Epilogue {
 public:
  Negation(float* c, int64_t rows, int64_t columns, bool whole_rows, const float* wanted)
      : c_(c), wanted_(wanted), columns_(columns), whole_rows_(whole_rows), seen_(rows * columns) {}
  bool needs_whole_rows() const override { return whole_rows_; }
  void apply(int64_t first_row, int64_t rows, int64_t first_column,
             int64_t columns) const override {
    if (whole_rows_ && columns != columns_) ++mistakes_;
    for (int64_t r = first_row; r < first_row + rows; ++r) {
      for (int64_t j = first_column; j < first_column + columns; ++j) {
        const int64_t i = r * columns_ + j;
        if (seen_[static_cast<size_t>(i)]++ != 0 || c_[i] != wanted_[i]) ++mistakes_;
        c_[i] = -c_[i];
      }
    }
  }
  int64_t mistakes() const { return mistakes_; }

 private:
  float* c_;
  const float* wanted_;
  int64_t columns_;
  bool whole_rows_;
  mutable std::vector<char> seen_;
  mutable std::atomic<int64_t> mistakes_{0};
};

TEST(MatmulFloat, NeitherThreadsNorEpiloguesChangeBits) {
  const int before = num_threads();
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{300, 200, 100},
                                {513, 130, 1030},
                                {64, 64, 64},
                                {40, 1000, 257},
                                {1000, 20, 300}}) {
    for (int layout = 0; layout < 4; ++layout) {
      const Factors<float> f(m, n, k, layout);
      set_num_threads(1);
      const Guarded<float> first(m * n), c(m * n);
      multiply(f.problem(), first.data());
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        multiply(f.problem(), c.data());
        ASSERT_EQ(std::memcmp(c.data(), first.data(), static_cast<size_t>(m * n) * 4), 0);
        for (const bool whole_rows : {false, true}) {
          const Negation epilogue(c.data(), m, n, whole_rows, first.data());
          multiply(f.problem(), c.data(), &epilogue);
          ASSERT_EQ(epilogue.mistakes(), 0) << m << "x" << n << "x" << k << " " << whole_rows;
          for (int64_t i = 0; i < m * n; ++i) ASSERT_EQ(c[i], -first[i]);
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(MatmulFloat, WorkspaceIsASlabForEachThread) {
  // Factors stored by rows are read in place wherever vectors are long; others take a slab.
  const Factors<float> f(600, 900, 2000, 2);
  const auto cores = std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_LE(float_workspace(f.problem()), static_cast<size_t>(cores) * (256 << 10));
}

}  // namespace
}  // namespace tidemark::cpu
