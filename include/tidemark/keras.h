// Models and weights that Keras saved, read without Python.
//
//   td::keras::Model model = td::keras::load_model("model.keras");
//   td::Tensor y = model(x);
//   std::cout << model;                              // a table: weights, shapes, bytes
//   td::keras::load_weights("model.weights.h5", mine);   // into a module of one's own
//
// A Model is a module: it is trained, saved and served as any other.
#pragma once

#include <tidemark/module.h>

#include <memory>
#include <string>
#include <vector>

namespace tidemark::keras {

/// A Sequential or functional model of the layers that <tidemark/nn.h> has, and of Activation,
/// ReLU, Softmax, Rescaling, ZeroPadding2D, Add, Subtract, Multiply, Average, Maximum and
/// Concatenate. Its members have the names of Keras's layers.
class TIDEMARK_API Model : public nn::Module {
 public:
  struct State;
  explicit Model(std::shared_ptr<State> state);

  Tensor operator()(const Tensor& x) const;
  /// Of several inputs, in the order of Keras's; all outputs.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const;
  /// All up to the layer of this name: its output. What is behind it stays out, for another head.
  Tensor up_to(std::string_view layer, const Tensor& x) const;
  /// The names of its layers, in order.
  std::vector<std::string> layers() const;

 private:
  friend struct ModelMaker;
  std::shared_ptr<State> state_;
};

/// A .keras file, in evaluation as Keras loads it: call train() to go on training. Throws
/// NotFoundError where there is none, an error of Code::data_loss where it is damaged, and
/// UnimplementedError with the layer and what of it is not known here.
TIDEMARK_API Model load_model(const std::string& path);

/// The weights of a .weights.h5 or .keras file into a module that has been called: layers are found
/// by where they stand in the file, as "dense", "dense_1", …, which is how Sequential names its
/// members, or else by their names in Keras. Throws NotFoundError for a layer of the module that
/// the file lacks and InvalidArgumentError for another shape; no weight has changed then.
TIDEMARK_API void load_weights(const std::string& path, const nn::Module& module);

}  // namespace tidemark::keras
