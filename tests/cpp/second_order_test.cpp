// The gradient of every gradient definition, by a tape, against finite differences.
#include <tidemark/call.h>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tidemark/autodiff/tape.h"
#include "tidemark/autodiff/vjp.h"
#include "tidemark/tensor/storage.h"

#include "gradient_samples.h"

namespace tidemark {
namespace {

/// Inputs whose gradient cannot be differentiated again, in TensorFlow neither: it is one op that
/// has no gradient there.
const std::map<std::string, size_t> kFirstOrderOnly = {
    {"ctc_loss", 0}, {"igamma", 0}, {"igammac", 0}};

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
    for (int64_t i = 0; b[k] && i < a[k].num_elements(); ++i) {
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

/// Whether an input has a gradient that can be differentiated with respect to it.
bool is_twice(const OpDef& op, size_t input, const Tensor& dx) {
  const auto once = kFirstOrderOnly.find(op.name());
  return dx && (once == kFirstOrderOnly.end() || once->second != input);
}

void compare_with_differences(const OpDef& op, const Sample& sample) {
  const FirstGradient first(op, sample);
  const std::vector<Tensor> without_tape = first();
  autodiff::Tape tape;
  std::vector<uint64_t> sources;
  for (size_t i = 0; i < first.inputs().size(); ++i) {
    const Tensor& x = first.inputs()[i];
    if (x.dtype() == DType::float64 && is_twice(op, i, without_tape[i])) tape.watch(x);
    sources.push_back(id_of(x));
  }
  std::vector<Tensor> dx, u, targets, seeds;
  {
    const HandlerScope recording(tape);
    dx = first();
  }
  for (size_t i = 0; i < dx.size(); ++i) {
    const Tensor& d = dx[i];
    u.push_back(is_twice(op, i, d) ? values(d.shape(), -1, 1) : Tensor());
    if (!u.back()) {
      dx[i] = Tensor();
      continue;
    }
    targets.push_back(d);
    seeds.push_back(u.back());
  }
  auto second = tape.gradient(targets, sources, seeds);
  for (size_t i = 0; i < first.inputs().size(); ++i) {
    const Tensor& x = first.inputs()[i];
    if (x.dtype() != DType::float64 || !u[i]) continue;
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
    SCOPED_TRACE(op.name());
    try {
      compare_with_differences(op, sample);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  });
}

TEST(SecondOrder, AMissingDefinitionIsAnErrorNotAZero) {
  const OpDef& op = OpRegistry::instance().get("igamma_grad_a");
  ASSERT_TRUE(op.is_gradient_missing());
  EXPECT_THROW(autodiff::vjp(op, {}, {}, {}, {}), UnimplementedError);
}

}  // namespace
}  // namespace tidemark
