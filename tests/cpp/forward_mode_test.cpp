// Directional derivatives of every op that has a gradient, by the ForwardAccumulator, against
// finite differences.
#include <tidemark/call.h>

#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/autodiff/forward.h"
#include "tidemark/autodiff/vjp.h"
#include "tidemark/tensor/storage.h"

#include "gradient_samples.h"

namespace tidemark {
namespace {

constexpr double kStep = 1e-6;

/// Moves the inputs by `by` times their tangents.
void shift(const std::vector<Tensor>& inputs, const std::vector<Tensor>& tangents, double by) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int64_t e = 0; tangents[i] && e < inputs[i].num_elements(); ++e) {
      inputs[i].mutable_data<double>()[e] += by * tangents[i].data<double>()[e];
    }
  }
}

/// A direction for each input that has a gradient.
std::vector<Tensor> draw_tangents(const OpDef& op, const Sample& sample,
                                  const std::vector<Attr>& attrs) {
  const std::vector<Tensor> outputs = call_all(op, sample.inputs, attrs);
  std::vector<Tensor> weights, tangents;
  for (const Tensor& y : outputs) weights.push_back(values(y.shape(), -1, 1));
  const std::vector<Tensor> dx = autodiff::vjp(op, sample.inputs, attrs, outputs, weights);
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const Tensor& x = sample.inputs[i];
    const bool moves = x.dtype() == DType::float64 && dx[i];
    tangents.push_back(moves ? values(x.shape(), -1, 1) : Tensor());
  }
  return tangents;
}

/// The values of a call's float64 outputs, which may be views of its inputs.
std::vector<std::vector<double>> results(const OpDef& op, const std::vector<Tensor>& inputs,
                                         const std::vector<Attr>& attrs) {
  std::vector<std::vector<double>> all;
  for (const Tensor& y : call_all(op, inputs, attrs)) {
    all.emplace_back();
    if (y.dtype() != DType::float64) continue;
    all.back().assign(y.data<double>(), y.data<double>() + y.num_elements());
  }
  return all;
}

void compare(const Tensor& found, const std::vector<double>& up, const std::vector<double>& down) {
  for (size_t e = 0; e < up.size(); ++e) {
    const double numeric = (up[e] - down[e]) / (2 * kStep);
    ASSERT_NEAR(found ? found.data<double>()[e] : 0.0, numeric, 1e-4 * (1 + std::abs(numeric)))
        << "element " << e << (found ? "" : ", which nothing reaches");
  }
}

void check_forward(const OpDef& op, const Sample& sample) {
  const std::vector<Attr> attrs = all_attrs(op, sample.attrs);
  const std::vector<Tensor> tangents = draw_tangents(op, sample, attrs);
  autodiff::ForwardAccumulator forward;
  for (size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i]) forward.watch_id(id_of(sample.inputs[i]), tangents[i]);
  }
  std::vector<Tensor> outputs;
  {
    const HandlerScope scope(forward);
    outputs = call_all(op, sample.inputs, attrs);
  }
  shift(sample.inputs, tangents, kStep);
  const auto up = results(op, sample.inputs, attrs);
  shift(sample.inputs, tangents, -2 * kStep);
  const auto down = results(op, sample.inputs, attrs);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].dtype() != DType::float64) continue;
    const Tensor found = forward.tangent_of(id_of(outputs[k]));
    if (found) {
      ASSERT_EQ(found.shape(), outputs[k].shape()) << "output " << k;
    }
    SCOPED_TRACE(k);
    compare(found, up[k], down[k]);
  }
}

TEST(ForwardMode, EveryDefinitionAgreesWithFiniteDifferences) {
  const int ops = for_each_gradient_sample([](const OpDef& op, const Sample& sample) {
    SCOPED_TRACE(op.name());
    try {
      check_forward(op, sample);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  });
  EXPECT_GT(ops, 0);
}

}  // namespace
}  // namespace tidemark
