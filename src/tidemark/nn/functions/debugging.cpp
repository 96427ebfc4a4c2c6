#include <tidemark/call.h>
#include <tidemark/debugging.h>
#include <tidemark/ops.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/scalars.h"

namespace tidemark::debugging {

namespace {

/// The first elements, as a list.
std::string first_of(const Tensor& x, int64_t most) {
  const Tensor flat = x.reshaped({x.num_elements()});
  return flat.rows(0, std::min(most, flat.dim(0))).to_string();
}

[[noreturn]] void tell(const std::string& said, const std::vector<Tensor>& compared,
                       const AssertOptions& options) {
  std::string text = options.message.empty() ? "" : options.message + "\n";
  text += "Condition " + said + " did not hold.";
  const int64_t most = options.summarize < 0 ? INT64_MAX : options.summarize;
  const char* names[] = {"x", "y"};
  for (size_t i = 0; i < compared.size(); ++i) {
    const int64_t shown = std::min(most, compared[i].num_elements());
    text +=
        message("\nFirst ", shown, " elements of ", names[i], ":\n", first_of(compared[i], most));
  }
  fail(text);
}

/// Throws unless `holds` is true everywhere.
void require(const Tensor& holds, const std::string& said, std::vector<Tensor> compared,
             const AssertOptions& options) {
  compared.insert(compared.begin(), all(holds));
  nn::when_run(
      "assert",
      [said, options](const std::vector<Tensor>& given) {
        if (!given[0].item<bool>()) tell(said, {given.begin() + 1, given.end()}, options);
        return std::vector<Tensor>{};
      },
      std::move(compared), {}, nn::Effect::must_run);
}

std::string rank_text(const char* what, const Tensor& x, int rank, const AssertOptions& options) {
  const std::string first = options.message.empty() ? "" : options.message + "\n";
  return message(first, "the tensor must have ", what, " ", rank,
                 " dimensions. Received shape: ", x.shape());
}

}  // namespace

void assert_equal(const Tensor& x, const Tensor& y, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(equal(x, y), "x == y", {x, y}, options);
}

void assert_none_equal(const Tensor& x, const Tensor& y, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(not_equal(x, y), "x != y", {x, y}, options);
}

void assert_less(const Tensor& x, const Tensor& y, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(less(x, y), "x < y", {x, y}, options);
}

void assert_less_equal(const Tensor& x, const Tensor& y, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(less_equal(x, y), "x <= y", {x, y}, options);
}

void assert_greater(const Tensor& x, const Tensor& y, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(greater(x, y), "x > y", {x, y}, options);
}

void assert_greater_equal(const Tensor& x, const Tensor& y, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(greater_equal(x, y), "x >= y", {x, y}, options);
}

void assert_positive(const Tensor& x, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(greater(x, nn::number(0, x)), "x > 0", {x}, options);
}

void assert_negative(const Tensor& x, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(less(x, nn::number(0, x)), "x < 0", {x}, options);
}

void assert_non_negative(const Tensor& x, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(greater_equal(x, nn::number(0, x)), "x >= 0", {x}, options);
}

void assert_non_positive(const Tensor& x, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(less_equal(x, nn::number(0, x)), "x <= 0", {x}, options);
}

void assert_all_finite(const Tensor& x, const AssertOptions& options) {
  TIDEMARK_HERE;
  require(is_finite(x), "x is finite", {x}, options);
}

void assert_rank(const Tensor& x, int rank, const AssertOptions& options) {
  TIDEMARK_HERE;
  if (x.shape().has_rank() && x.rank() != rank) fail(rank_text("exactly", x, rank, options));
}

void assert_rank_at_least(const Tensor& x, int rank, const AssertOptions& options) {
  TIDEMARK_HERE;
  if (x.shape().has_rank() && x.rank() < rank) fail(rank_text("at least", x, rank, options));
}

}  // namespace tidemark::debugging
