// The body of a :predict request: what requests and saved warm-up requests share.
#pragma once

#include <tidemark/saved_model.h>

namespace tidemark::serve {

struct PredictBody {
  const SignatureSpec* signature = nullptr;
  std::vector<Tensor> inputs;
  bool is_rows = false;  // {"instances": …}, not {"inputs": …}
};

/// Throws RequestError with what is wrong.
PredictBody read_predict_body(const SavedModel& model, std::string_view body);

}  // namespace tidemark::serve
