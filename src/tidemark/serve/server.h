// Server: models, slots and HTTP put together.
#pragma once

#include "tidemark/serve/api.h"
#include "tidemark/serve/grpc_server.h"

namespace tidemark::serve {

class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();

  /// Listens first, so that health can be asked for, then loads the models in the background.
  void start();
  /// True once every version found at first has been loaded or has failed.
  bool has_loaded() const { return store_.has_loaded(); }
  uint16_t port() const { return http_.port(); }
  ModelStore& store() { return store_; }
  /// -1: there is no gRPC.
  int grpc_port() const { return grpc_ ? grpc_->port() : -1; }
  /// Answers what has come in, and ends.
  void drain();

 private:
  ServerOptions options_;
  HttpCounters http_counters_;
  std::atomic<bool> is_draining_{false};
  ModelStore store_;
  Executor executor_;
  Context context_;
  HttpServer http_;
  std::unique_ptr<GrpcServer> grpc_;
};

}  // namespace tidemark::serve
