// Takes a model that Keras saved, puts another head on it, and trains the head alone.
//
//   build/example_fine_tune MODEL.keras [LAYER]     the layer whose output the new head gets
#include <tidemark/data.h>
#include <tidemark/keras.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>
#include <tidemark/train.h>

#include <iostream>

namespace td = tidemark;

/// What the old model makes of its input, up to a layer, is an input of the new head. Only the head
/// is a member, so only the head is trained.
struct FineTuned : td::nn::Module {
  td::keras::Model base;
  std::string layer;
  td::nn::Dense head = add("head", td::nn::Dense(2));

  FineTuned(td::keras::Model model, std::string name)
      : base(std::move(model)), layer(std::move(name)) {}
  td::Tensor operator()(const td::Tensor& x) const {
    return head(td::stop_gradient(base.up_to(layer, x)));
  }
};

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cout << "usage: example_fine_tune MODEL.keras [LAYER]\n";
    return 0;
  }
  const td::keras::Model base = td::keras::load_model(argv[1]);
  std::cout << base;
  const std::vector<std::string> layers = base.layers();
  const FineTuned model(base, argc > 2 ? argv[2] : layers.at(layers.size() - 2));

  // Stands for data of one's own: pictures that are brighter on the left, or on the right.
  const td::Tensor noise = td::random::normal({512, 8, 8, 1});
  const td::Tensor left = td::cast(td::less(td::arange(8), 4), td::DType::float32).reshaped({8, 1});
  const td::Tensor labels = td::random::uniform_int({512}, 0, 2);
  const td::Tensor side = td::cast(labels, td::DType::float32).reshaped({512, 1, 1, 1});
  const td::Tensor pictures = noise + 2.f * (side * left + (1.f - side) * (1.f - left));

  const auto history =
      td::train::fit(model, td::data::from_tensors({pictures, labels}).shuffle(512).batch(32),
                     {.loss = td::losses::SparseCategoricalCrossentropy({.from_logits = true}),
                      .optimizer = td::optimizers::Adam({.learning_rate = 1e-2}),
                      .metrics = {{"accuracy", td::metrics::SparseCategoricalAccuracy()}},
                      .epochs = 5});
  td::save_model("fine_tuned/1", model, {{"pictures", td::DType::float32, {-1, 8, 8, 1}}});
  std::cout << "saved in fine_tuned/1, for tidemark serve and tf.saved_model.load\n";
  return history.back().at("loss") < history.front().at("loss") ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 2;
}
