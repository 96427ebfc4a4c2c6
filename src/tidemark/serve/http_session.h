// One connection of the HTTP server, over TCP or TLS. Boost's templates take long to compile: only
// http_server.cpp and tls.cpp include this.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <tidemark/error.h>

#include <array>
#include <boost/asio/dispatch.hpp>
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
#include "tidemark/serve/reserved_memory.h"
#include "tidemark/serve/tls.h"
#include "tidemark/serve/waiting_connections.h"

namespace tidemark::serve {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = net::ip::tcp;
using TcpStream = beast::basic_stream<tcp, net::io_context::executor_type>;
using boost::system::error_code;

/// What a connection takes that waits for a request.
constexpr size_t kIdleBytes = size_t{8} << 10, kIdleBytesOfTls = size_t{64} << 10;

constexpr size_t kSmallBody = size_t{16} << 10;  // copied behind its head

/// A thread that reads and writes, and its connections: no locks between those of others.
struct ReadingThread {
  WaitingConnections waiting;  // outlives the connections, which the context holds
  net::io_context context{1};
};

struct HttpServer::State {
  HttpOptions options;
  Handler handler;
  HttpCounters& counters;
  std::deque<ReadingThread> readers;
  std::optional<tcp::acceptor> acceptor;
  std::unique_ptr<TlsFiles> tls;  // null: plain HTTP
  std::vector<std::jthread> threads;
  std::atomic<uint64_t> answering{0}, writing{0};
  std::atomic<bool> is_draining{false};
  size_t next = 0, shedding = 0;           // the readers whose turn it is
  bool is_accepting = false;               // or will be after a pause
  std::optional<net::steady_timer> retry;  // of accept

  State(HttpOptions given, Handler to, HttpCounters& count)
      : options(std::move(given)), handler(std::move(to)), counters(count) {}
  void accept();
  void take(TcpSocket&& socket);
  bool has_room();
  ReadingThread& reader_of(const net::execution_context& context);
  void accept_after_a_pause();
  void go_on_accepting() noexcept;
};

/// Counts one more of them for as long as it lives.
class OneMore {
 public:
  explicit OneMore(std::atomic<uint64_t>& count) : count_(&count) { count.fetch_add(1); }
  OneMore(OneMore&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  OneMore& operator=(OneMore&&) = delete;
  ~OneMore() {
    if (count_) count_->fetch_sub(1);
  }

 private:
  std::atomic<uint64_t>* count_;
};

/// What whoever answers a request sees of its connection.
class Connection {
 public:
  virtual ~Connection() = default;
  /// On the connection's own thread.
  virtual void reply(HttpResponse&& response) = 0;
  virtual int descriptor() = 0;
  /// An interim answer may be sent over the descriptor: it is HTTP/1.1, and nothing is encrypted.
  virtual bool takes_interim_answers() = 0;
  virtual net::io_context::executor_type executor() = 0;
};

class SessionResponder final : public Responder {
 public:
  SessionResponder(std::shared_ptr<Connection> connection, HttpServer::State& server)
      : connection_(std::move(connection)), server_(server), answering_(server.answering) {}
  ~SessionResponder() override {
    if (connection_) drop();
  }

  void send(HttpResponse response) override {
    if (!connection_) return;
    if (!response.reserved && response.body.size() > kSmallBody) count(response);
    std::shared_ptr<Connection> connection = std::exchange(connection_, nullptr);
    Connection& on = *connection;
    // It counts as being written from here on; then the connection counts it.
    net::dispatch(
        on.executor(),
        [counted = OneMore(server_.writing), response = std::move(response),
         connection = std::move(connection)]() mutable { connection->reply(std::move(response)); });
  }

  bool is_gone() const override {
    if (!connection_) return false;
    pollfd asked{connection_->descriptor(), POLLRDHUP, 0};
    const short now = ::poll(&asked, 1, 0) == 1 ? asked.revents : short{0};
    if ((now & (POLLHUP | POLLERR)) != 0) return true;
    if ((now & POLLRDHUP) == 0) return false;
    // The client sends no more; it may still wait for the answer. A line that clients pass over is
    // answered by a reset where nobody does, which the next look sees.
    if (!connection_->takes_interim_answers()) return true;
    if (std::exchange(has_probed_, true)) return false;
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    return ::send(connection_->descriptor(), kGoOn.data(), kGoOn.size(), flags) < 0;
  }

 private:
  /// Clients may be slow to take it.
  static void count(HttpResponse& response) {
    try {
      response.reserved = std::make_shared<const ReservedMemory>(response.body.size());
    } catch (const ResourceExhaustedError&) {
      response = {};
      response.status = 503;
      response.body = "{\"error\": \"there is no memory for the answer now\"}";
      response.headers.emplace_back("Retry-After", "1");
    }
  }

  void drop() noexcept {
    try {
      HttpResponse response;
      response.status = 503;
      response.body = "{\"error\": \"there was no memory to answer the request\"}";
      send(std::move(response));
    } catch (const std::bad_alloc&) {  // nor is there memory to say so
    }
  }

  mutable bool has_probed_ = false;
  std::shared_ptr<Connection> connection_;
  HttpServer::State& server_;
  OneMore answering_;
};

/// All members run on the thread of the connection's context. `Stream` is TcpStream or TLS over
/// one.
template <class Stream>
class Session final : public Connection,
                      public Sheddable,
                      public std::enable_shared_from_this<Session<Stream>> {
 public:
  static constexpr bool kIsTls = !std::is_same_v<Stream, TcpStream>;
  static constexpr size_t kMostHeaderBytes = size_t{16} << 10;
  static constexpr size_t kFirstRead = size_t{2} << 10, kNextRead = size_t{16} << 10;
  static constexpr size_t kMostFields = 128;
  /// What is more than in an idle connection while a request is being read that did not come at
  /// once: the buffer, the header's fields.
  static constexpr size_t kReadingBytes = size_t{48} << 10;

  /// `rest`: what the stream needs beside the socket, and what must live as long as it.
  template <class... Rest>
  Session(HttpServer::State& server, std::shared_ptr<void> kept, TcpSocket&& socket, Rest&... rest)
      : kept_(std::move(kept)),
        stream_(std::move(socket), rest...),
        server_(server),
        waiting_(server.reader_of(executor().context()).waiting),
        buffer_(kMostHeaderBytes + 4096),
        idle_reserved_(kIsTls ? kIdleBytesOfTls : kIdleBytes) {
    server_.counters.connections.fetch_add(1, std::memory_order_relaxed);
    error_code error;
    const auto client = lowest().socket().remote_endpoint(error);
    is_from_here_ = !error && client.address().is_loopback();
  }
  ~Session() override {
    release_bytes();
    server_.counters.connections.fetch_sub(1, std::memory_order_relaxed);
  }

  void start() {
    if constexpr (kIsTls) {
      waiting_.add(place_, Wait::reading);
      lowest().expires_after(std::chrono::seconds(server_.options.request_seconds));
      stream_.async_handshake(Stream::server, [self = this->shared_from_this()](error_code error) {
        if (!error) return self->read();
        HttpCounters& counters = self->server_.counters;
        (error == beast::error::timeout ? counters.timed_out : counters.failed_handshakes)
            .fetch_add(1, std::memory_order_relaxed);
        self->close();
      });
    } else {
      read();
    }
  }

  void reply(HttpResponse&& response) override {
    if (is_handling_) {  // who handles the request still reads it
      answer_ = std::move(response);
    } else {
      write(std::move(response));
    }
  }
  void shed() override {
    is_shed_ = true;
    place_.leave();
    release_bytes();
    lowest().cancel();
  }
  int descriptor() override { return lowest().socket().native_handle(); }
  bool takes_interim_answers() override {
    return !kIsTls && parser_ && parser_->get().version() >= 11;
  }
  net::io_context::executor_type executor() override { return lowest().get_executor(); }

 private:
  TcpStream& lowest() { return beast::get_lowest_layer(stream_); }

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(server_.options.max_body_bytes);
    has_header_ = has_time_ = false;
    reading_bytes_ = 0;
    if (buffer_.size() > 0) {  // another request came with the last: after other connections' turns
      return net::post(executor(), [self = this->shared_from_this()] { self->go_on(); });
    }
    if (buffer_.capacity() > 2 * kFirstRead) buffer_.shrink_to_fit();
    waiting_.add(place_, has_asked_ ? Wait::idle : Wait::first);
    lowest().expires_after(std::chrono::seconds(server_.options.idle_seconds));
    read_some(kFirstRead, [](Session& self) { self.go_on(); });
  }

  /// Puts what comes next behind what is in the buffer.
  template <class Then>
  void read_some(size_t most, Then then) {
    const size_t room = std::min(most, buffer_.max_size() - buffer_.size());
    // A line of a chunk, or what follows the body, is longer than anything may be: reading nothing
    // would succeed at once, again and again.
    if (room == 0) return end(http::error::header_limit);
    stream_.async_read_some(buffer_.prepare(room), [self = this->shared_from_this(), then](
                                                       error_code error, size_t count) {
      if (error) return self->end(error);
      self->buffer_.commit(count);
      then(*self);
    });
  }

  /// Before a request that has begun is waited for: there is one time-out to its last byte, however
  /// they dribble in.
  void bound_time() {
    if (std::exchange(has_time_, true)) return;
    waiting_.add(place_, Wait::reading);
    lowest().expires_after(std::chrono::seconds(server_.options.request_seconds));
  }

  /// Parses what has come, and waits for the rest.
  void go_on() {
    while (buffer_.size() > 0 && !parser_->is_done()) {
      error_code error;
      buffer_.consume(parser_->put(buffer_.data(), error));
      if (error == http::error::need_more) break;
      if (error) return end(error);
      if (!has_header_ && parser_->is_header_done()) {
        has_header_ = true;
        if (!accept_header()) return;
      }
      if (!has_room()) return refuse_for_want_of_room();
    }
    if (parser_->is_done()) return on_request();
    reading_bytes_ = kReadingBytes;
    if (!has_room()) return refuse_for_want_of_room();
    bound_time();
    read_some(kNextRead, [](Session& self) { self.go_on(); });
  }

  /// False: something else goes on, or nothing does.
  bool accept_header() {
    if (server_.is_draining.load(std::memory_order_relaxed)) {
      refuse(503, "the server is going down", true);
      return false;
    }
    const Framing framing = read_header();
    if (framing.fields > kMostFields) {
      end(http::error::header_limit);
      return false;
    }
    if (framing.hosts > 1) {
      server_.counters.malformed.fetch_add(1, std::memory_order_relaxed);
      refuse(400, "the request has more than one Host");
      return false;
    }
    if (const int status = fault_of(framing)) {
      server_.counters.malformed.fetch_add(1, std::memory_order_relaxed);
      refuse(status,
             "the request's length is not clear: Transfer-Encoding may be chunked, alone, and then "
             "there is no Content-Length");
      return false;
    }
    const auto length = parser_->content_length();
    if (length && *length > server_.options.max_body_bytes) {
      end(http::error::body_limit);
      return false;
    }
    if (!framing.expects_continue) return true;
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    bound_time();
    net::async_write(stream_, net::buffer(kGoOn.data(), kGoOn.size()),
                     [self = this->shared_from_this()](error_code failed, size_t) {
                       failed ? self->end(failed) : self->go_on();
                     });
    return false;
  }

  /// What the header says of where the request ends.
  struct Framing {
    size_t fields = 0;
    int codings = 0, lengths = 0, hosts = 0;
    bool is_chunked = false, expects_continue = false;
  };

  /// Looks at each field once. The first of a name counts; what comes behind the body does not.
  Framing read_header() {
    const auto& header = parser_->get();
    const auto text = [](beast::string_view v) { return std::string_view(v.data(), v.size()); };
    const auto take = [&](std::string_view& to, const auto& field) {
      if (to.empty()) to = text(field.value());
    };
    request_ = {};
    request_.is_from_here = is_from_here_;
    request_.method = text(header.method_string());
    request_.target = text(header.target());
    Framing framing;
    for (const auto& field : header) {
      ++framing.fields;
      switch (field.name()) {
        case http::field::transfer_encoding:
          ++framing.codings;
          framing.is_chunked = beast::iequals(field.value(), "chunked");
          break;
        case http::field::content_length:
          ++framing.lengths;
          break;
        case http::field::expect:
          framing.expects_continue = beast::iequals(field.value(), "100-continue");
          break;
        case http::field::authorization:
          take(request_.authorization, field);
          break;
        case http::field::content_encoding:
          take(request_.content_encoding, field);
          break;
        case http::field::host:
          ++framing.hosts;
          take(request_.host, field);
          break;
        case http::field::origin:
          take(request_.origin, field);
          break;
        case http::field::unknown:
          if (beast::iequals(field.name_string(), "Sec-Fetch-Site")) {
            take(request_.fetch_site, field);
          } else if (beast::iequals(field.name_string(), "Inference-Header-Content-Length")) {
            take(request_.json_length, field);
          }
          break;
        default:
          break;
      }
    }
    return framing;
  }

  /// 0: where the request ends is told in one way that everybody reads alike.
  int fault_of(const Framing& framing) const {
    if (framing.codings == 0) return framing.lengths > 1 ? 400 : 0;
    if (framing.codings > 1 || framing.lengths > 0) return 400;
    if (parser_->get().version() < 11) return 400;
    return framing.is_chunked ? 0 : 501;
  }

  void on_request() {
    place_.leave();
    has_asked_ = true;
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive() && message.method() != http::verb::head;
    request_.body = message.body();
    // It counts as being answered until it is written.
    const auto responder = std::make_shared<SessionResponder>(this->shared_from_this(), server_);
    is_handling_ = true;
    server_.handler(request_, responder);
    is_handling_ = false;
    if (answer_) write(*std::exchange(answer_, std::nullopt));
  }

  /// Answers what cannot be handled, and closes.
  void end(error_code error) {
    HttpCounters& counters = server_.counters;
    const bool has_begun = buffer_.size() > 0 || (parser_ && parser_->got_some());
    if (is_shed_) return has_begun ? refuse_for_want_of_room() : close();
    if (error == http::error::body_limit) {
      counters.too_large.fetch_add(1, std::memory_order_relaxed);
      return refuse(
          413, message("the body is larger than ", server_.options.max_body_bytes,
                       " bytes; the server's --max-body says how large it may be, and half of its "
                       "--memory-limit"));
    }
    if (error == http::error::header_limit) {
      return refuse(431, message("the headers are too large: ", kMostHeaderBytes, " bytes and ",
                                 kMostFields, " fields at most"));
    }
    if (error == beast::error::timeout) {
      if (has_begun) counters.timed_out.fetch_add(1, std::memory_order_relaxed);
      return close();
    }
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      counters.malformed.fetch_add(1, std::memory_order_relaxed);
      return refuse(400, message("the request is no HTTP: ", error.message()));
    }
    say_goodbye();
  }

  void refuse_for_want_of_room() {
    server_.counters.out_of_room.fetch_add(1, std::memory_order_relaxed);
    refuse(503,
           message("the requests being read take all the memory there is for them; ",
                   server_.options.max_bytes_in_flight, " bytes at most"),
           true);
  }

  void refuse(int status, const std::string& why, bool may_retry = false) {
    place_.leave();
    keep_alive_ = false;
    is_refused_ = true;
    HttpResponse response;
    response.status = status;
    response.body = "{\"error\": \"" + why + "\"}";
    if (may_retry) response.headers.emplace_back("Retry-After", "1");
    write(std::move(response));
  }

  void write(HttpResponse&& response) {
    const auto status = static_cast<unsigned>(response.status);
    const beast::string_view reason = http::obsolete_reason(http::int_to_status(status));
    body_ = std::move(response.body);
    answer_reserved_ = std::move(response.reserved);
    writing_.emplace(server_.writing);
    head_.assign("HTTP/1.1 ").append(std::to_string(status)).append(" ");
    head_.append(reason.data(), reason.size());
    head_.append("\r\nContent-Type: ").append(response.content_type);
    head_.append("\r\nContent-Length: ").append(std::to_string(body_.size())).append("\r\n");
    for (const auto& [name, value] : response.headers) head_ += name + ": " + value + "\r\n";
    head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
    const bool is_small = body_.size() <= kSmallBody;
    if (is_small) head_ += body_;
    if (!kIsTls && is_small && write_at_once()) return on_written({});
    lowest().expires_after(std::chrono::seconds(server_.options.request_seconds));
    if (is_small) return write_parts(net::buffer(head_));
    if constexpr (!kIsTls) {
      return write_parts(
          std::array{net::const_buffer(net::buffer(head_)), net::const_buffer(net::buffer(body_))});
    }
    // Beast 1.74 takes the first of two buffers over TLS for all of them.
    net::async_write(
        stream_, net::buffer(head_), [self = this->shared_from_this()](error_code error, size_t) {
          error ? self->on_written(error) : self->write_parts(net::buffer(self->body_));
        });
  }

  /// False: the system has no room for all of the head and what follows it; it has what it took.
  bool write_at_once() {
    const ssize_t count =
        ::send(descriptor(), head_.data(), head_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) head_.erase(0, static_cast<size_t>(count));
    return head_.empty();
  }

  template <class Buffers>
  void write_parts(const Buffers& parts) {
    net::async_write(stream_, parts, [self = this->shared_from_this()](error_code error, size_t) {
      self->on_written(error);
    });
  }

  void on_written(error_code error) {
    writing_.reset();
    release_bytes();
    std::string().swap(body_);
    if (head_.capacity() > kFirstRead) std::string().swap(head_);
    answer_reserved_.reset();
    parser_.reset();
    if (error) return close();
    if (is_refused_) return drop_rest();
    if (!keep_alive_ || server_.is_draining.load(std::memory_order_relaxed)) return say_goodbye();
    read();
  }

  /// A client that is still sending would lose our refusal to a reset if we closed now: what it
  /// sends is dropped for a moment.
  void drop_rest() {
    static constexpr auto kMoment = std::chrono::seconds(2);
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
    lowest().expires_after(std::min<std::chrono::seconds>(
        kMoment, std::chrono::seconds(server_.options.request_seconds)));
    buffer_.clear();
    drop_some();
  }
  void drop_some() {
    lowest().async_read_some(buffer_.prepare(4096),
                             [self = this->shared_from_this()](error_code error, size_t) {
                               error ? self->close() : self->drop_some();
                             });
  }

  void say_goodbye() {
    if constexpr (kIsTls) {
      lowest().expires_after(std::chrono::seconds(1));
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->close(); });
    } else {
      close();
    }
  }

  void close() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  /// False: not for what has come of this request, even if others that send slowly make room. Only
  /// small ones may ask that of them: large ones would never end.
  bool has_room() {
    constexpr size_t kSmall = kReadingBytes + (size_t{64} << 10);
    while (!count_bytes()) {
      if (reading_bytes_ + parser_->get().body().size() > kSmall) return false;
      if (!waiting_.shed(Wait::reading, this)) return false;
    }
    return true;
  }
  /// What has come counts, not what was announced: that costs a client nothing. False: there is no
  /// room for it.
  bool count_bytes() {
    const size_t bytes = reading_bytes_ + parser_->get().body().size();
    if (bytes <= taken_) return true;
    const size_t more = bytes - taken_;
    std::atomic<size_t>& all = server_.counters.bytes_in_flight;
    if (all.fetch_add(more) + more > server_.options.max_bytes_in_flight) {
      all.fetch_sub(more);
      return false;
    }
    try {
      body_reserved_.grow_to(bytes);
    } catch (const ResourceExhaustedError&) {
      all.fetch_sub(more);
      return false;
    }
    taken_ = bytes;
    return true;
  }
  void release_bytes() {
    server_.counters.bytes_in_flight.fetch_sub(std::exchange(taken_, 0));
    body_reserved_.release();
  }

  std::shared_ptr<void> kept_;
  Stream stream_;
  HttpServer::State& server_;
  WaitingConnections& waiting_;
  WaitingConnections::Place place_{*this};
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string head_, body_;
  size_t reading_bytes_ = 0;  // beside the body's
  size_t taken_ = 0;          // bytes that count among those in flight
  ReservedMemory idle_reserved_, body_reserved_;
  std::shared_ptr<const void> answer_reserved_;
  HttpRequest request_;                 // whose texts are the parser's
  std::optional<HttpResponse> answer_;  // given while the request was being handled
  std::optional<OneMore> writing_;
  bool is_from_here_ = false, keep_alive_ = true, is_refused_ = false;
  bool has_asked_ = false, is_shed_ = false;
  bool has_header_ = false, has_time_ = false, is_handling_ = false;
};

}  // namespace tidemark::serve
