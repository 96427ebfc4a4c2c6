#include "tidemark/serve/tls.h"

#include <tidemark/error.h>

#ifdef TIDEMARK_TLS

#include <sys/stat.h>

#include <boost/asio/ssl.hpp>
#include <boost/beast/ssl.hpp>
#include <cstdio>

#include "tidemark/serve/http_session.h"

namespace tidemark::serve {

namespace {

using SslContext = net::ssl::context;

/// Differs when a file was replaced.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return message(static_cast<uint64_t>(status.st_ino), ".", status.st_size, ".",
                 status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec);
}

std::shared_ptr<SslContext> make_context(const std::string& certificate, const std::string& key) {
  auto context = std::make_shared<SslContext>(SslContext::tls_server);
  SSL_CTX* raw = context->native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Tickets let clients resume; a cache of sessions would grow with every client there ever was.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  error_code error;
  context->use_certificate_chain_file(certificate, error);
  if (error) fail("--tls-certificate: ", certificate, ": ", error.message());
  context->use_private_key_file(key, SslContext::pem, error);
  if (error) fail("--tls-key: ", key, ": ", error.message());
  if (SSL_CTX_check_private_key(raw) != 1) fail("--tls-key: ", key, " is not the certificate's");
  return context;
}

using TlsStream = beast::ssl_stream<TcpStream>;

class OpenFiles final : public TlsFiles {
 public:
  OpenFiles(std::string certificate, std::string key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {
    stamp_ = stamp();
    context_ = make_context(certificate_, key_);
  }

  void start_session(TcpSocket&& socket, HttpServer::State& server) override {
    look_again();
    const auto session =
        std::make_shared<Session<TlsStream>>(server, context_, std::move(socket), *context_);
    net::dispatch(session->executor(), [session] { session->start(); });
  }

 private:
  std::string stamp() const { return stamp_of(certificate_) + "/" + stamp_of(key_); }

  void look_again() {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < std::chrono::seconds(1)) return;
    looked_ = now;
    std::string found = stamp();
    if (found == stamp_) return;
    try {
      context_ = make_context(certificate_, key_);
      stamp_ = std::move(found);
      std::fprintf(stderr, "tidemark serve: read a new certificate\n");
    } catch (const Error& error) {  // perhaps only one of the two is there yet
      std::fprintf(stderr, "tidemark serve: %s\n", error.what());
    }
  }

  const std::string certificate_, key_;
  std::string stamp_;
  std::shared_ptr<SslContext> context_;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace

std::unique_ptr<TlsFiles> TlsFiles::open(const std::string& certificate, const std::string& key) {
  if (certificate.empty() && key.empty()) return nullptr;
  if (certificate.empty() || key.empty()) {
    fail("--tls-certificate and --tls-key must be given together");
  }
  return std::make_unique<OpenFiles>(certificate, key);
}

}  // namespace tidemark::serve

#else

namespace tidemark::serve {

std::unique_ptr<TlsFiles> TlsFiles::open(const std::string& certificate, const std::string& key) {
  if (certificate.empty() && key.empty()) return nullptr;
  fail<UnimplementedError>(
      "--tls-certificate: this server was built without TLS. Install "
      "libssl-dev and build it again");
}

}  // namespace tidemark::serve

#endif
