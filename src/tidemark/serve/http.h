// HTTP as the rest of the server sees it; http_session.h speaks it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::serve {

struct HttpRequest {
  std::string_view method, target, body;
  std::string_view authorization, content_encoding;
  std::string_view host, origin, fetch_site;  // Sec-Fetch-Site: how a page of a browser relates
  bool is_from_here = false;                  // the client runs on this machine
  /// Inference-Header-Content-Length: how much of the body is JSON; empty: all of it.
  std::string_view json_length;
};

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";  // a literal
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// The memory counted for the body; let go when that is written.
  std::shared_ptr<const void> reserved;
};

/// Where the answer to one request goes: once, from any thread.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void send(HttpResponse response) = 0;
  /// True: nobody waits for the answer any more.
  virtual bool is_gone() const = 0;
};

struct HttpOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8501;
  int threads = 2;
  size_t max_body_bytes = size_t{64} << 20;
  /// Of all requests being read or answered together.
  size_t max_bytes_in_flight = size_t{256} << 20;
  size_t max_connections = 10000;  // fewer where the process may open fewer files
  int idle_seconds = 60;           // between two requests of a connection
  int request_seconds = 10;  // from a request's first byte to its last; for TLS's handshake too
  std::string tls_certificate, tls_key;  // files; empty: plain HTTP
};

struct HttpCounters {
  std::atomic<uint64_t> connections{0}, accepted{0}, refused_connections{0}, too_large{0},
      out_of_room{0}, malformed{0}, timed_out{0}, failed_handshakes{0};
  std::atomic<size_t> bytes_in_flight{0};
};

/// Listens and reads; each whole request goes to the handler, which answers when it can.
class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, const std::shared_ptr<Responder>&)>;
  HttpServer(HttpOptions options, Handler handler, HttpCounters& counters);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  /// Throws FailedPreconditionError where the address is taken.
  void start();
  uint16_t port() const;
  /// No new connections or requests.
  void refuse_new();
  /// True iff everything that was read is answered and written before the time.
  bool wait_until_idle(std::chrono::steady_clock::time_point end);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::serve
