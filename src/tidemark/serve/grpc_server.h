// gRPC beside HTTP: TensorFlow Serving's PredictionService and ModelService, and the Open Inference
// Protocol's GRPCInferenceService. Built with TIDEMARK_GRPC=ON; otherwise asking for it is an
// error.
#pragma once

#include "tidemark/serve/api.h"

namespace tidemark::serve {

class GrpcServer {
 public:
  virtual ~GrpcServer() = default;
  /// Listens at the port of the options. Throws FailedPreconditionError where it is taken.
  static std::unique_ptr<GrpcServer> start(Context& context);
  virtual int port() const = 0;
  /// No new calls; waits until those under way are answered, or until then.
  virtual void drain(Clock::time_point end) = 0;
};

}  // namespace tidemark::serve
