// The only file that includes Boost: its templates take long to compile.
#include <tidemark/error.h>

#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <optional>
#include <thread>

#include "tidemark/serve/http.h"

namespace tidemark::serve {

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = net::ip::tcp;
using boost::system::error_code;

constexpr size_t kMostHeaderBytes = size_t{16} << 10;

const char* reason_of(int status) {
  static const std::string unknown;
  const auto known = http::int_to_status(static_cast<unsigned>(status));
  return http::obsolete_reason(known).data();
}

}  // namespace

struct HttpServer::State {
  HttpOptions options;
  Handler handler;
  HttpCounters& counters;
  std::deque<net::io_context> contexts;  // one each thread: no locks between connections
  std::optional<tcp::acceptor> acceptor;
  std::vector<std::jthread> threads;
  std::atomic<uint64_t> answering{0};
  std::atomic<bool> is_draining{false};
  size_t next = 0;

  State(HttpOptions given, Handler to, HttpCounters& count)
      : options(std::move(given)), handler(std::move(to)), counters(count) {}
  void accept();
};

namespace {

/// One connection. All members run on the thread of its context, but for send.
class Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket&& socket, HttpServer::State& server)
      : stream_(std::move(socket)), server_(server), buffer_(kMostHeaderBytes + 4096) {
    server_.counters.connections.fetch_add(1, std::memory_order_relaxed);
  }
  ~Session() {
    release_bytes();
    server_.counters.connections.fetch_sub(1, std::memory_order_relaxed);
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(server_.options.max_body_bytes);
    stream_.expires_after(std::chrono::seconds(server_.options.idle_seconds));
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t) { self->on_header(error); });
  }

  void reply(HttpResponse&& response) { write(std::move(response)); }
  int descriptor() { return stream_.socket().native_handle(); }
  net::any_io_executor executor() { return stream_.get_executor(); }

 private:
  void on_header(error_code error) {
    if (error) return end(error);
    const auto& header = parser_->get();
    const auto length = parser_->content_length();
    const size_t wanted = length               ? static_cast<size_t>(*length)
                          : parser_->chunked() ? server_.options.max_body_bytes
                                               : 0;
    if (wanted > server_.options.max_body_bytes) return end(http::error::body_limit);
    if (!take_bytes(wanted)) {
      server_.counters.out_of_room.fetch_add(1, std::memory_order_relaxed);
      return refuse(503, "the requests being read take all the memory there is for them", true);
    }
    stream_.expires_after(std::chrono::seconds(server_.options.request_seconds));
    if (beast::iequals(header[http::field::expect], "100-continue")) {
      static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      net::async_write(stream_, net::buffer(kGoOn.data(), kGoOn.size()),
                       [self = shared_from_this()](error_code failed, size_t) {
                         failed ? self->end(failed) : self->read_body();
                       });
      return;
    }
    read_body();
  }

  void read_body() {
    if (parser_->is_done()) return on_request({});
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code e, size_t) { self->on_request(e); });
  }

  void on_request(error_code error);

  /// Answers what cannot be handled, and closes.
  void end(error_code error) {
    HttpCounters& counters = server_.counters;
    if (error == http::error::body_limit) {
      counters.too_large.fetch_add(1, std::memory_order_relaxed);
      return refuse(413, message("the body is larger than ", server_.options.max_body_bytes,
                                 " bytes; the server's --max-body says how large it may be"));
    }
    if (error == http::error::header_limit) return refuse(431, "the headers are too large");
    if (error == beast::error::timeout) {
      if (parser_ && parser_->got_some()) {
        counters.timed_out.fetch_add(1, std::memory_order_relaxed);
      }
      return close();
    }
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      counters.malformed.fetch_add(1, std::memory_order_relaxed);
      return refuse(400, message("the request is no HTTP: ", error.message()));
    }
    close();
  }

  void refuse(int status, const std::string& why, bool may_retry = false) {
    keep_alive_ = false;
    HttpResponse response;
    response.status = status;
    response.body = "{\"error\": \"" + why + "\"}";
    if (may_retry) response.headers.emplace_back("Retry-After", "1");
    write(std::move(response));
  }

  void write(HttpResponse&& response) {
    body_ = std::move(response.body);
    head_.clear();
    head_ += message("HTTP/1.1 ", response.status, " ", reason_of(response.status),
                     "\r\nContent-Type: ", response.content_type,
                     "\r\nContent-Length: ", body_.size(), "\r\n");
    for (const auto& [name, value] : response.headers) head_ += name + ": " + value + "\r\n";
    head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
    stream_.expires_after(std::chrono::seconds(server_.options.request_seconds));
    const std::array<net::const_buffer, 2> parts{net::buffer(head_), net::buffer(body_)};
    net::async_write(stream_, parts, [self = shared_from_this()](error_code error, size_t) {
      self->on_written(error);
    });
  }

  void on_written(error_code error) {
    release_bytes();
    if (body_.capacity() > size_t{64} << 10) std::string().swap(body_);
    parser_.reset();
    if (error || !keep_alive_ || server_.is_draining.load(std::memory_order_relaxed)) {
      return close();
    }
    read();
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  bool take_bytes(size_t bytes) {
    std::atomic<size_t>& all = server_.counters.bytes_in_flight;
    if (all.fetch_add(bytes) + bytes > server_.options.max_bytes_in_flight) {
      all.fetch_sub(bytes);
      return false;
    }
    taken_ = bytes;
    return true;
  }
  void release_bytes() { server_.counters.bytes_in_flight.fetch_sub(std::exchange(taken_, 0)); }

  beast::tcp_stream stream_;
  HttpServer::State& server_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string head_, body_;
  size_t taken_ = 0;
  bool keep_alive_ = true;
};

class SessionResponder final : public Responder {
 public:
  SessionResponder(std::shared_ptr<Session> session, HttpServer::State& server)
      : session_(std::move(session)), server_(server) {
    server_.answering.fetch_add(1);
  }
  ~SessionResponder() override {
    if (session_) {
      HttpResponse response;
      response.status = 500;
      response.body = "{\"error\": \"the request was dropped\"}";
      send(std::move(response));
    }
    server_.answering.fetch_sub(1);
  }

  void send(HttpResponse response) override {
    std::shared_ptr<Session> session = std::exchange(session_, nullptr);
    if (!session) return;
    Session& on = *session;
    net::dispatch(on.executor(),
                  [session = std::move(session), response = std::move(response)]() mutable {
                    session->reply(std::move(response));
                  });
  }

  bool is_gone() const override {
    char byte = 0;
    return session_ && ::recv(session_->descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

 private:
  std::shared_ptr<Session> session_;
  HttpServer::State& server_;
};

void Session::on_request(error_code error) {
  if (error) return end(error);
  stream_.expires_never();
  const auto& message = parser_->get();
  keep_alive_ = message.keep_alive() && message.method() != http::verb::head;
  const auto text = [](beast::string_view v) { return std::string_view(v.data(), v.size()); };
  HttpRequest request;
  request.method = text(message.method_string());
  request.target = text(message.target());
  request.body = message.body();
  request.authorization = text(message[http::field::authorization]);
  request.content_encoding = text(message[http::field::content_encoding]);
  request.json_length = text(message["Inference-Header-Content-Length"]);
  server_.handler(request, std::make_shared<SessionResponder>(shared_from_this(), server_));
}

}  // namespace

void HttpServer::State::accept() {
  net::io_context& context = contexts[next++ % contexts.size()];
  acceptor->async_accept(context, [this](error_code error, tcp::socket socket) {
    if (error == net::error::operation_aborted || !acceptor->is_open()) return;
    if (!error && counters.connections.load() >= options.max_connections) {
      counters.refused_connections.fetch_add(1);
    } else if (!error) {
      counters.accepted.fetch_add(1, std::memory_order_relaxed);
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      const auto session = std::make_shared<Session>(std::move(socket), *this);
      net::dispatch(session->executor(), [session] { session->read(); });
    }
    accept();
  });
}

HttpServer::HttpServer(HttpOptions options, Handler handler, HttpCounters& counters)
    : state_(std::make_unique<State>(std::move(options), std::move(handler), counters)) {}

HttpServer::~HttpServer() {
  for (net::io_context& context : state_->contexts) context.stop();
  state_->threads.clear();
}

void HttpServer::start() {
  State& state = *state_;
  for (int i = 0; i < std::max(1, state.options.threads); ++i) state.contexts.emplace_back(1);
  error_code error;
  const auto address = net::ip::make_address(state.options.address, error);
  if (error) fail("'", state.options.address, "' is no address to listen on");
  tcp::acceptor& acceptor = state.acceptor.emplace(state.contexts[0]);
  const tcp::endpoint endpoint(address, state.options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(net::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(4096, error);
  if (error) {
    fail<FailedPreconditionError>("cannot listen on ", state.options.address, ":",
                                  state.options.port, ": ", error.message());
  }
  state.accept();
  for (net::io_context& context : state.contexts) {
    state.threads.emplace_back([&context] {
      const auto stay = net::make_work_guard(context);
      context.run();
    });
  }
}

uint16_t HttpServer::port() const { return state_->acceptor->local_endpoint().port(); }

void HttpServer::drain(int seconds) {
  State& state = *state_;
  state.is_draining = true;
  net::post(state.contexts[0], [&state] {
    error_code ignored;
    state.acceptor->close(ignored);
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (state.answering.load() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // What was answered last is still being written.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace tidemark::serve
