// TLS: the certificate and key that connections are opened with. tls.cpp holds what needs OpenSSL;
// a build without it says so when a certificate is given.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "tidemark/serve/http.h"

namespace tidemark::serve {

class TlsFiles {
 public:
  virtual ~TlsFiles() = default;

  /// Null where both are empty. Throws InvalidArgumentError for files that are no pair.
  static std::unique_ptr<TlsFiles> open(const std::string& certificate, const std::string& key);

  /// Files that were replaced are read again; those that cannot be read leave the ones before in
  /// charge. Called by the thread that accepts, alone.
  virtual void start_session(boost::asio::ip::tcp::socket&& socket, HttpServer::State& server) = 0;
};

}  // namespace tidemark::serve
