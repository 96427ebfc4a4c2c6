// tf.debugging: checks of values that throw InvalidArgumentError when they do not hold, in a traced
// function when that runs.
//
//   td::Tensor x = td::constant({1.f, 2.f});
//   td::debugging::assert_positive(x, {.message = "weights"});
//   td::assert_rank(x, 1);
#pragma once

#include <tidemark/tensor.h>

#include <string>

namespace tidemark::debugging {

struct AssertOptions {
  std::string message = "";
  int64_t summarize = 3;  // how many elements are shown; -1: all
};
/// Everywhere, as both broadcast.
TIDEMARK_API void assert_equal(const Tensor& x, const Tensor& y, const AssertOptions& options = {});
TIDEMARK_API void assert_none_equal(const Tensor& x, const Tensor& y,
                                    const AssertOptions& options = {});
TIDEMARK_API void assert_less(const Tensor& x, const Tensor& y, const AssertOptions& options = {});
TIDEMARK_API void assert_less_equal(const Tensor& x, const Tensor& y,
                                    const AssertOptions& options = {});
TIDEMARK_API void assert_greater(const Tensor& x, const Tensor& y,
                                 const AssertOptions& options = {});
TIDEMARK_API void assert_greater_equal(const Tensor& x, const Tensor& y,
                                       const AssertOptions& options = {});
TIDEMARK_API void assert_positive(const Tensor& x, const AssertOptions& options = {});
TIDEMARK_API void assert_negative(const Tensor& x, const AssertOptions& options = {});
TIDEMARK_API void assert_non_negative(const Tensor& x, const AssertOptions& options = {});
TIDEMARK_API void assert_non_positive(const Tensor& x, const AssertOptions& options = {});
/// No NaN and no infinity.
TIDEMARK_API void assert_all_finite(const Tensor& x, const AssertOptions& options = {});
/// So many dimensions, or no fewer: known when it is called.
TIDEMARK_API void assert_rank(const Tensor& x, int rank, const AssertOptions& options = {});
TIDEMARK_API void assert_rank_at_least(const Tensor& x, int rank,
                                       const AssertOptions& options = {});

}  // namespace tidemark::debugging

namespace tidemark {
using debugging::assert_equal;
using debugging::assert_greater;
using debugging::assert_less;
using debugging::assert_rank;
}  // namespace tidemark
