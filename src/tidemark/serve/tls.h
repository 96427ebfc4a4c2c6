// TLS: the certificate and key that connections are opened with. tls.cpp holds what needs OpenSSL;
// a build without it says so when a certificate is given.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "tidemark/serve/http.h"

namespace tidemark::serve {

/// Knows its executor's type: nothing is looked up for each read and write.
using TcpSocket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class TlsFiles {
 public:
  virtual ~TlsFiles() = default;

  /// Null where both are empty. Throws InvalidArgumentError for files that are no pair.
  static std::unique_ptr<TlsFiles> open(const std::string& certificate, const std::string& key);

  /// Files that were replaced are read again; those that cannot be read leave the ones before in
  /// charge. Called by the thread that accepts, alone.
  virtual void start_session(TcpSocket&& socket, HttpServer::State& server) = 0;
};

}  // namespace tidemark::serve
