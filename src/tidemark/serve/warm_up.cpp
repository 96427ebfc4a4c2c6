#include "tidemark/serve/warm_up.h"

#include <tidemark/create.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tidemark/io/file_system.h"
#include "tidemark/serve/predict_body.h"
#include "tidemark/serve/status.h"

namespace tidemark::serve {

namespace {

using Inputs = std::vector<Tensor>;
using Visit = std::function<void(const SignatureSpec&, const Inputs&)>;

/// The time for loading, not a fault of the inputs.
bool has_run_out(const Error& error) {
  return error.code() == Code::deadline_exceeded || error.code() == Code::cancelled;
}

/// Zeros of the declared shapes, as many rows as given where those are open; empty: only requests
/// can tell.
Inputs example_inputs(const SignatureSpec& signature, int64_t rows) {
  Inputs inputs;
  for (const TensorSpec& spec : signature.inputs) {
    if (!spec.shape.has_rank() || spec.dtype == DType::string) return {};
    Shape shape = spec.shape;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) shape[i] = i == 0 ? rows : 1;
    }
    inputs.push_back(zeros(shape, spec.dtype));
  }
  return inputs;
}

/// Zeros where the batch sizes say so; models may refuse zeros.
void visit_batches(const SavedModel& model, const Batching& batching, const Visit& visit) {
  std::vector<int64_t> sizes = batching.allowed_sizes;
  if (sizes.empty()) sizes.push_back(1);
  if (batching.max_batch_size > sizes.back()) sizes.push_back(batching.max_batch_size);
  for (const SignatureSpec& signature : model.signatures()) {
    for (const int64_t rows : sizes) {
      const Inputs inputs = example_inputs(signature, rows);
      if (inputs.size() != signature.inputs.size()) break;
      try {
        visit(signature, inputs);
      } catch (const Error& error) {
        if (has_run_out(error)) throw;
        break;
      }
    }
  }
}

bool has_inputs(const SignatureSpec& signature, const Bucket& bucket) {
  size_t found = 0;
  for (const TensorSpec& spec : signature.inputs) found += bucket.count(spec.name);
  return found == bucket.size();
}

Inputs bucket_inputs(const SignatureSpec& signature, const Bucket& bucket) {
  Inputs inputs;
  for (const TensorSpec& spec : signature.inputs) {
    const auto given = bucket.find(spec.name);
    if (given == bucket.end() && !spec.shape.is_fully_known()) {
      fail("--bucket: it must say the sizes of input '", spec.name, "' of shape ", spec.shape);
    }
    const Shape& shape = given == bucket.end() ? spec.shape : given->second;
    if (spec.dtype == DType::string) {
      const std::vector<std::string_view> texts(static_cast<size_t>(shape.num_elements()));
      inputs.push_back(Tensor::of_strings(texts, shape));
    } else {
      inputs.push_back(zeros(shape, spec.dtype));
    }
  }
  return inputs;
}

void visit_buckets(const SavedModel& model, const std::vector<Bucket>& buckets,
                   const Visit& visit) {
  for (const Bucket& bucket : buckets) {
    bool is_used = false;
    for (const SignatureSpec& signature : model.signatures()) {
      if (!has_inputs(signature, bucket)) continue;
      is_used = true;
      visit(signature, bucket_inputs(signature, bucket));
    }
    if (!is_used) {
      fail("--bucket: no signature of the model has an input '", bucket.begin()->first,
           bucket.size() > 1 ? "' and the others" : "'");
    }
  }
}

void visit_saved_requests(const SavedModel& model, const std::string& folder, const Visit& visit) {
  constexpr int kMostRequests = 1000;
  constexpr uintmax_t kMostBytes = uintmax_t{64} << 20;
  if (folder.empty()) return;  // the model has none
  const std::filesystem::path path = std::filesystem::path(folder) / "warmup.jsonl";
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return;
  if (error) io::fail_unreadable(path.string(), error);
  if (!std::filesystem::is_regular_file(status)) fail("warmup.jsonl is no plain file");
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) io::fail_unreadable(path.string(), error);
  if (bytes > kMostBytes) {
    fail("warmup.jsonl has ", bytes, " bytes; at most ", kMostBytes, " are read");
  }
  std::ifstream file(path.string());
  std::string line;
  for (int number = 1; number <= kMostRequests && std::getline(file, line); ++number) {
    if (line.empty()) continue;
    try {
      const PredictBody body = read_predict_body(model, line);
      visit(*body.signature, body.inputs);
    } catch (const Error& wrong) {
      if (has_run_out(wrong)) throw;
      fail("warmup.jsonl, line ", number, ": ", wrong.what());
    }
  }
}

}  // namespace

size_t plan_shapes(const SavedModel& model, const Batching& batching,
                   const std::vector<Bucket>& buckets, const std::string& folder) {
  size_t most = 0;
  const Visit plan = [&](const SignatureSpec& signature, const Inputs& inputs) {
    most = std::max(most, model.plan(signature, inputs));
  };
  // Those that were declared first: a program keeps few plans.
  visit_buckets(model, buckets, plan);
  visit_batches(model, batching, plan);
  visit_saved_requests(model, folder, plan);
  return most;
}

void warm_up(const SavedModel& model, const Batching& batching, const std::vector<Bucket>& buckets,
             const std::string& folder) {
  const Visit run = [&](const SignatureSpec& signature, const Inputs& inputs) {
    (void)model.run(signature, inputs);
  };
  const Visit try_run = [&](const SignatureSpec& signature, const Inputs& inputs) {
    try {
      run(signature, inputs);
    } catch (const Error& error) {  // zeros may be no input it takes
      if (has_run_out(error)) throw;
    }
  };
  visit_buckets(model, buckets, try_run);
  visit_batches(model, batching, run);
  visit_saved_requests(model, folder, run);
}

}  // namespace tidemark::serve
