// Every gradient definition against finite differences. The list of ops comes from the registry: an
// op with a gradient and without a sample here fails the test.
#include <tidemark/call.h>
#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/autodiff/vjp.h"

#include "gradient_samples.h"

namespace tidemark {
namespace {

double weighted_sum(const std::vector<Tensor>& outputs, const std::vector<Tensor>& weights) {
  double sum = 0;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].dtype() != DType::float64) continue;
    for (int64_t i = 0; i < outputs[k].num_elements(); ++i) {
      sum += outputs[k].data<double>()[i] * weights[k].data<double>()[i];
    }
  }
  return sum;
}

void compare_with_differences(const OpDef& op, const Sample& sample) {
  const std::vector<Attr> attrs = all_attrs(op, sample.attrs);
  const std::vector<Tensor> outputs = call_all(op, sample.inputs, attrs);
  std::vector<Tensor> weights;
  for (const Tensor& y : outputs) weights.push_back(values(y.shape(), -1, 1));
  const std::vector<Tensor> dx = autodiff::vjp(op, sample.inputs, attrs, outputs, weights);
  bool any = false;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const Tensor& x = sample.inputs[i];
    if (x.dtype() != DType::float64 || !dx[i]) continue;
    any = true;
    ASSERT_EQ(dx[i].shape(), x.shape()) << "input " << i;
    ASSERT_EQ(dx[i].dtype(), x.dtype()) << "input " << i;
    for (int64_t e = 0; e < x.num_elements(); ++e) {
      const double step = 1e-6;
      double* element = x.mutable_data<double>() + e;
      const double kept = *element;
      *element = kept + step;
      const double up = weighted_sum(call_all(op, sample.inputs, attrs), weights);
      *element = kept - step;
      const double down = weighted_sum(call_all(op, sample.inputs, attrs), weights);
      *element = kept;
      const double numeric = (up - down) / (2 * step);
      ASSERT_NEAR(dx[i].data<double>()[e], numeric, 2e-5 * (1 + std::abs(numeric)))
          << "input " << i << ", element " << e;
    }
  }
  EXPECT_TRUE(any) << "no gradient reached any input";
}

void check_gradient(const OpDef& op, const Sample& sample) {
  SCOPED_TRACE(op.name());
  try {
    compare_with_differences(op, sample);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

TEST(Gradients, EveryDefinitionAgreesWithFiniteDifferences) {
  EXPECT_GT(for_each_gradient_sample(check_gradient), 0);
}

TEST(Gradients, LeaveNothingBehind) {
  const OpDef& op = OpRegistry::instance().get("multiply");
  const Sample sample = elementwise_sample(op);
  check_gradient(op, sample);
  const int64_t before = memory::stats().live;
  check_gradient(op, sample);
  EXPECT_EQ(memory::stats().live, before);
}

}  // namespace
}  // namespace tidemark
