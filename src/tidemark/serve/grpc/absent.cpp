#include "tidemark/serve/grpc_server.h"

namespace tidemark::serve {

std::unique_ptr<GrpcServer> GrpcServer::start(Context&) {
  fail<UnimplementedError>(
      "--grpc-port: this server was built without gRPC. Build it with TIDEMARK_GRPC=ON "
      "(./dev build --grpc)");
}

}  // namespace tidemark::serve
