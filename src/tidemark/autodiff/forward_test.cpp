#include "tidemark/autodiff/forward.h"

#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/ops.h>

#include <gtest/gtest.h>

#include "tidemark/tensor/storage.h"

namespace tidemark::autodiff {
namespace {

float tangent(const ForwardAccumulator& forward, const Tensor& t) {
  return forward.tangent_of(id_of(t)).item<float>();
}

TEST(ForwardAccumulator, CarriesTangentsAlong) {
  const Tensor x = Tensor::of({3.f});
  ForwardAccumulator forward;
  forward.watch_id(id_of(x), Tensor::of({2.f}));
  const HandlerScope scope(forward);
  const Tensor y = x * x + x;
  EXPECT_EQ(tangent(forward, y), 14.f);
  const Tensor other = ones({1}) * 2.f;
  EXPECT_FALSE(forward.tangent_of(id_of(other)));
}

TEST(ForwardAccumulator, IsDifferentiatedByTapesBelow) {
  const Tensor x = Tensor::of({3.f});
  GradientTape tape;
  tape.watch(x);
  ForwardAccumulator forward;
  forward.watch_id(id_of(x), Tensor::of({1.f}));
  Tensor moved;
  {
    const HandlerScope scope(forward);
    moved = forward.tangent_of(id_of(x * x * x));
  }
  EXPECT_EQ(moved.item<float>(), 27.f);
  EXPECT_EQ(tape.gradient(moved, x).item<float>(), 18.f);
}

TEST(ForwardAccumulator, SeesTheBackwardOfTapesAbove) {
  const Tensor x = Tensor::of({3.f});
  ForwardAccumulator forward;
  forward.watch_id(id_of(x), Tensor::of({1.f}));
  const HandlerScope scope(forward);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x * x;
  EXPECT_EQ(tangent(forward, tape.gradient(y, x)), 18.f);
}

/// d(2x), said to be 10.
class Ten final : public CustomBackward {
 public:
  std::vector<Adjoint> run(std::span<const Tensor> dy) override {
    std::vector<Adjoint> out(1);
    out[0].values = dy[0] * 10.f;
    return out;
  }
};

TEST(RecordCustom, ReachesTapesAndAccumulators) {
  const Tensor x = Tensor::of({3.f});
  ForwardAccumulator forward;
  forward.watch_id(id_of(x), Tensor::of({1.f}));
  const HandlerScope scope(forward);
  GradientTape tape;
  tape.watch(x);
  Tensor y;
  {
    RecordingPause pause;
    const HandlerScope hidden(pause);
    y = x * 2.f;
  }
  record_custom(Borrowed<1>(x).span(), Borrowed<1>(y).span(), std::make_shared<Ten>());
  EXPECT_EQ(tangent(forward, y), 10.f);
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 10.f);
}

}  // namespace
}  // namespace tidemark::autodiff
