// The model server inside of one's own program: TensorFlow Serving's and the Open Inference
// protocols over HTTP, for models that are C++ functions, modules or loaded from folders.
//
//   td::ModelServer server({.port = 0});                       // 0: any free one
//   auto twice = [](const td::Tensor& x) { return x * 2.f; };
//   server.add("twice", td::make_model({td::signature(twice, {{"x", td::DType::float32, {-1}}})}));
//   server.start();
//   std::cout << "curl -d '{\"instances\": [1, 2]}' localhost:" << server.port()
//             << "/v1/models/twice:predict\n";
//   server.stop();                                             // answers what has come in
//
// Link Tidemark::serve beside Tidemark::tidemark. What a model takes is planned when it is added.
#pragma once

#include <tidemark/saved_model.h>

#include <memory>
#include <string>

namespace tidemark {

struct ModelServerOptions {
  std::string address = "127.0.0.1";
  int port = 8501;  // 0: any free one
  int slots = 0;    // how many requests are computed at once; 0: as many as there are cores
  int threads = 2;  // that read and write
  double request_seconds = 30;  // a request that waited longer is not run any more
  size_t max_body_bytes = size_t{64} << 20;
  std::string token = {};  // that clients must send; empty: none
};

struct ServedModelOptions {
  int64_t version = 1;
  int64_t max_batch_size = 0;  // requests are put together up to so many rows; 0: they are not
  int64_t batch_timeout_micros = 1000;
};

/// Any number of threads.
class TIDEMARK_API ModelServer {
 public:
  /// Throws InvalidArgumentError for options out of range.
  explicit ModelServer(const ModelServerOptions& options = {});
  /// Stops it.
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;

  /// Serves the model under the name; one of the same name and version is replaced, requests under
  /// way are answered by the old one. Throws ResourceExhaustedError where the slots would not fit
  /// the memory limit.
  void add(const std::string& name, const SavedModel& model, const ServedModelOptions& how = {});
  /// Throws NotFoundError where there is none.
  void remove(const std::string& name);

  /// Listens and answers from now on. Throws where the address cannot be had.
  void start();
  /// Once it is started.
  int port() const;
  /// Answers what has come in, and ends; for at most 30 seconds.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
