#include <fstream>
#include <sstream>

#include "tidemark/serve/grpc/call.h"
#include "tidemark/serve/grpc_server.h"

namespace tidemark::serve {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  if (!file) fail("cannot read ", path);
  return out.str();
}

std::shared_ptr<grpc::ServerCredentials> credentials_of(const HttpOptions& options) {
  if (options.tls_certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  tls.pem_key_cert_pairs.push_back({text_of(options.tls_key), text_of(options.tls_certificate)});
  return grpc::SslServerCredentials(tls);
}

class RunningServer final : public GrpcServer {
 public:
  explicit RunningServer(Context& context) {
    services_.push_back(make_prediction_service(context));
    services_.push_back(make_model_service(context));
    services_.push_back(make_inference_service(context));
    const HttpOptions& http = context.options.http;
    grpc::ServerBuilder builder;
    const bool is_v6 = http.address.find(':') != std::string::npos;
    const std::string address =
        message(is_v6 ? "[" : "", http.address, is_v6 ? "]:" : ":", context.options.grpc_port);
    builder.AddListeningPort(address, credentials_of(http), &port_);
    for (const auto& service : services_) builder.RegisterService(service.get());
    const auto most = static_cast<int>(std::min<size_t>(http.max_body_bytes, INT32_MAX));
    builder.SetMaxReceiveMessageSize(most);
    builder.SetMaxSendMessageSize(-1);
    grpc::ResourceQuota quota("tidemark");
    quota.Resize(http.max_bytes_in_flight);
    builder.SetResourceQuota(quota);
    // A second server at the same port would take half of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 1024);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, http.idle_seconds * 1000);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, http.request_seconds * 1000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60000);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      fail<FailedPreconditionError>("cannot listen for gRPC on ", address);
    }
  }
  ~RunningServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  int port() const override { return port_; }
  void drain(Clock::time_point end) override {
    server_->Shutdown(std::chrono::system_clock::now() +
                      std::chrono::duration_cast<std::chrono::system_clock::duration>(
                          std::max(Clock::duration::zero(), end - Clock::now())));
  }

 private:
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace

std::unique_ptr<GrpcServer> GrpcServer::start(Context& context) {
  return std::make_unique<RunningServer>(context);
}

}  // namespace tidemark::serve
