// Models as TensorFlow saves them: the bytes are saved_model.pb.
#include <tidemark/create.h>
#include <tidemark/saved_model.h>

#include <filesystem>

#include "../foreign_model.h"
#include "targets.h"
#include "tidemark/base/interrupt.h"

namespace tidemark::fuzz {

namespace {

const std::string& folder() {
  static const std::string place = scratch_folder() + "/foreign";
  return place;
}

bool make_inputs(const SignatureSpec& signature, std::vector<Tensor>& inputs) {
  for (const TensorSpec& spec : signature.inputs) {
    Shape shape = spec.shape.has_rank() ? spec.shape : Shape{2};
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) shape[i] = 2;
      if (shape[i] > 64) return false;
    }
    inputs.push_back(zeros(shape, spec.dtype));
  }
  return true;
}

void take(std::string_view bytes) {
  write_file(folder() + "/saved_model.pb", bytes);
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(2)};
  const InterruptScope bounded(soon);
  try {
    const SavedModel model = load_model(folder());
    for (const SignatureSpec& signature : model.signatures()) {
      std::vector<Tensor> inputs;
      if (make_inputs(signature, inputs)) (void)model.run(signature, inputs);
    }
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

void start() { std::filesystem::create_directories(folder()); }
std::map<std::string, std::string> seeds() { return {{"small", small_model()}}; }

const AddTarget added("foreign_models", {.start = start, .take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
