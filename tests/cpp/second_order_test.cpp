// The gradient of every gradient definition, by a tape, against finite differences.
#include <tidemark/call.h>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tidemark/autodiff/tape.h"
#include "tidemark/autodiff/vjp.h"
#include "tidemark/tensor/storage.h"

#include "gradient_samples.h"

namespace tidemark {
namespace {

/// Their first gradient is one op of its own that has no gradient, or depends on an input that they
/// have no gradient of.
const std::set<std::string> kFirstOrderOnly = {"batch_norm", "layer_norm", "rms_norm",
                                               "attention",  "ctc_loss",   "igamma",
                                               "igammac",    "zeta",       "polygamma"};

/// The gradient of one op at given inputs, for fixed weights of its outputs.
class FirstGradient {
 public:
  FirstGradient(const OpDef& op, const Sample& sample)
      : op_(op), inputs_(sample.inputs), attrs_(all_attrs(op, sample.attrs)) {
    for (const Tensor& y : call_all(op, inputs_, attrs_)) {
      weights_.push_back(values(y.shape(), -1, 1));
    }
  }
  std::vector<Tensor> operator()() const {
    const std::vector<Tensor> outputs = call_all(op_, inputs_, attrs_);
    return autodiff::vjp(op_, inputs_, attrs_, outputs, weights_);
  }
  const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  const OpDef& op_;
  std::vector<Tensor> inputs_;
  std::vector<Attr> attrs_;
  std::vector<Tensor> weights_;
};

double dot(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    for (int64_t i = 0; a[k] && i < a[k].num_elements(); ++i) {
      sum += a[k].data<double>()[i] * b[k].data<double>()[i];
    }
  }
  return sum;
}

double difference(const FirstGradient& first, double* element, const std::vector<Tensor>& u) {
  const double step = 1e-6, kept = *element;
  *element = kept + step;
  const double up = dot(first(), u);
  *element = kept - step;
  const double down = dot(first(), u);
  *element = kept;
  return (up - down) / (2 * step);
}

void compare_with_differences(const OpDef& op, const Sample& sample) {
  const FirstGradient first(op, sample);
  autodiff::Tape tape;
  std::vector<uint64_t> sources;
  for (const Tensor& x : first.inputs()) {
    if (x.dtype() == DType::float64) tape.watch(x);
    sources.push_back(id_of(x));
  }
  std::vector<Tensor> dx, u, targets, seeds;
  {
    const CallScope recording(tape);
    dx = first();
  }
  for (const Tensor& d : dx) {
    u.push_back(d ? values(d.shape(), -1, 1) : Tensor());
    if (!d) continue;
    targets.push_back(d);
    seeds.push_back(u.back());
  }
  auto second = tape.gradient(targets, sources, seeds);
  for (size_t i = 0; i < first.inputs().size(); ++i) {
    const Tensor& x = first.inputs()[i];
    if (x.dtype() != DType::float64) continue;
    const Tensor found = second[i] ? dense(std::move(second[i])) : Tensor();
    if (found) {
      ASSERT_EQ(found.shape(), x.shape()) << "input " << i;
    }
    for (int64_t e = 0; e < x.num_elements(); ++e) {
      const double numeric = difference(first, x.mutable_data<double>() + e, u);
      ASSERT_NEAR(found ? found.data<double>()[e] : 0.0, numeric, 1e-4 * (1 + std::abs(numeric)))
          << "input " << i << ", element " << e << (found ? "" : ", which nothing reaches");
    }
  }
}

TEST(SecondOrder, EveryDefinitionAgreesWithFiniteDifferences) {
  for_each_gradient_sample([](const OpDef& op, const Sample& sample) {
    if (kFirstOrderOnly.contains(op.name())) return;
    SCOPED_TRACE(op.name());
    try {
      compare_with_differences(op, sample);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  });
}

TEST(SecondOrder, AMissingDefinitionIsAnErrorNotAZero) {
  const OpDef& op = OpRegistry::instance().get("layer_norm_grad");
  ASSERT_TRUE(op.is_gradient_missing());
  EXPECT_THROW(autodiff::vjp(op, {}, {}, {}, {}), UnimplementedError);
}

}  // namespace
}  // namespace tidemark
