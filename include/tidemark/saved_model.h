// Models saved by Python (tf.saved_model.save, model.export) or by C++, read without Python.
//
//   td::SavedModel model = td::load_model("/models/digits/1");
//   for (const auto& s : model.signatures()) std::cout << s.name << "\n";   // serving_default
//   auto outputs = model({{"images", images}});                             // by name
//   std::cout << outputs.at("output_0");
//
//   td::save_model("/models/lines/1", line, {{"x", td::DType::float32, {-1, 1}}});
//
// A function or a module of C++ is saved as the graph that tracing it gives; the server and Python
// (tf.saved_model.load) read it, too. A module is saved in evaluation.
//
// Copies of a SavedModel share it; its weights go when the last copy goes. Any number of threads
// may call it at once.
#pragma once

#include <tidemark/call_with.h>
#include <tidemark/error.h>
#include <tidemark/module.h>
#include <tidemark/tensor.h>

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tidemark {

/// One input or output of a signature; sizes may be unknown.
struct TensorSpec {
  std::string name;
  DType dtype = DType::invalid;
  Shape shape;
};

/// What a model offers under a name: "serving_default", "predict", …
struct SignatureSpec {
  std::string name;
  std::vector<TensorSpec> inputs, outputs;
};

class TIDEMARK_API SavedModel {
 public:
  struct State;
  explicit SavedModel(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const std::vector<SignatureSpec>& signatures() const;
  /// Null: there is none of this name.
  const SignatureSpec* find(std::string_view signature) const;
  /// Bytes of the variables, constants and tables.
  size_t weight_bytes() const;

  /// True iff a call may leave something behind (a variable's new value, a line that was printed):
  /// calling twice is not as good as once.
  bool changes_state() const;

  /// Plans the signature for inputs of these sizes, if that was not done before: the bytes that
  /// each call at the same time takes beside the weights, its inputs and its outputs. 0: it cannot
  /// be planned, and takes what it takes.
  size_t plan(const SignatureSpec& signature, std::span<const Tensor> inputs) const;

  /// Outputs by name, given all inputs by name. Throws InvalidArgumentError for names, dtypes or
  /// shapes that are not the signature's, NotFoundError for a signature that is not there.
  std::map<std::string, Tensor> operator()(const std::map<std::string, Tensor>& inputs,
                                           std::string_view signature = "serving_default") const;
  /// The same in the order of the signature's inputs and outputs.
  std::vector<Tensor> run(const SignatureSpec& signature, std::span<const Tensor> inputs) const;

 private:
  std::shared_ptr<const State> state_;
};

/// Sees a model whose signatures can be planned and whose weights have not been read yet; throws to
/// keep it out.
using CheckModel = std::function<void(const SavedModel&)>;

/// The model of a folder, or of a file of ONNX or TFLite. Throws NotFoundError where there is none,
/// and an error of Code::data_loss where it is damaged.
TIDEMARK_API SavedModel load_model(const std::string& folder, const CheckModel& check = {});

/// A signature before it is part of a model: code, and what it takes.
struct SignatureCode {
  SignatureSpec spec;  // of the outputs only names count; none: "output_0", …
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> code;
};

struct SignatureOptions {
  std::string name = "serving_default";
  std::vector<std::string> outputs = {};  // names; none: "output_0", "output_1", …
};

/// Of a function of as many tensors as there are inputs, or of a module, which is called in
/// evaluation. It returns a tensor, or several.
template <class F>
SignatureCode signature(F function, std::vector<TensorSpec> inputs,
                        const SignatureOptions& options = {}) {
  SignatureCode out;
  out.spec.name = options.name;
  out.spec.inputs = std::move(inputs);
  for (const std::string& name : options.outputs)
    out.spec.outputs.push_back({name, DType::invalid, {}});
  out.code = [function = std::move(function)](const std::vector<Tensor>& given) mutable {
    if constexpr (std::derived_from<F, nn::Module>) {
      const nn::EvalScope evaluated(function);
      return detail::as_tensors(detail::call_with(function, given));
    } else {
      return detail::as_tensors(detail::call_with(function, given));
    }
  };
  return out;
}

/// A model of functions of this program: it shares their variables. Throws InvalidArgumentError for
/// names that are there twice, and what the code throws when it is traced.
TIDEMARK_API SavedModel make_model(const std::vector<SignatureCode>& signatures);

/// Saves the signatures with the variables, constants and tables that they use, as TensorFlow's
/// SavedModel: TensorFlow, Python and servers load it. What TensorFlow has no form for (tables, a
/// few ops) makes it one file of Tidemark's own instead, which TensorFlow does not read; returned
/// is what that was, a line each; empty: there is nothing of that kind. Makes the folder where it
/// is not there; a model that was there is replaced in one moment.
TIDEMARK_API std::string save_model(const std::string& folder,
                                    const std::vector<SignatureCode>& signatures);
template <class F>
std::string save_model(const std::string& folder, F function, std::vector<TensorSpec> inputs,
                       const SignatureOptions& options = {}) {
  return save_model(folder, {signature(std::move(function), std::move(inputs), options)});
}

}  // namespace tidemark
