// A classifier in a few lines: a model, an optimizer, a pipeline, and where the memory is.
#include <tidemark/data.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main() {
  const td::Tensor images = td::random::normal({512, 8, 8, 1});
  const td::Tensor labels =
      td::cast(td::greater(td::reduce_mean(images, td::Ints{1, 2, 3}), 0.f), td::DType::int32);

  td::nn::Sequential model{td::nn::Conv2D(32, 3, {.activation = "relu"}), td::nn::Flatten(),
                           td::nn::Dense(10)};
  td::optimizers::Adam adam({.learning_rate = 1e-3});
  float first = 0, last = 0;
  for (auto batch : td::data::from_tensors({images, labels}).shuffle(10'000).batch(128).repeat(9)) {
    td::GradientTape tape;
    auto loss = td::reduce_mean(td::nn::sparse_softmax_cross_entropy(batch[1], model(batch[0])));
    adam.apply(tape.gradient(loss, model.parameters()), model.parameters());
    last = loss.item<float>();
    if (first == 0) first = last;
  }
  std::cout << model << "\n" << td::memory::report();
  return last < 0.5f * first ? 0 : 1;
}
