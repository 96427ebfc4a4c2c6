#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>

#include <tidemark/memory.h>

#include "tidemark/serve/http_session.h"
#include "tidemark/serve/threads.h"

namespace tidemark::serve {

void HttpServer::State::accept() {
  net::io_context& context = readers[next++ % readers.size()].context;
  acceptor->async_accept(context, [this](error_code error, TcpSocket socket) {
    is_accepting = false;
    if (error == net::error::operation_aborted || !acceptor->is_open()) return;
    if (error) return accept_after_a_pause();
    try {
      take(std::move(socket));
    } catch (const ResourceExhaustedError&) {
      counters.refused_connections.fetch_add(1);
    } catch (const std::bad_alloc&) {
      counters.refused_connections.fetch_add(1);
    }
    accept();
  });
  is_accepting = true;
}

void HttpServer::State::take(TcpSocket&& socket) {
  if (!has_room()) {
    counters.refused_connections.fetch_add(1);
    return;
  }
  counters.accepted.fetch_add(1, std::memory_order_relaxed);
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (tls) return tls->start_session(std::move(socket), *this);
  const auto session = std::make_shared<Session<TcpStream>>(*this, nullptr, std::move(socket));
  net::dispatch(session->executor(), [session] { session->start(); });
}

/// Whether there is room for another connection. Where all are taken, those that have waited
/// longest for their clients are closed meanwhile.
bool HttpServer::State::has_room() {
  constexpr size_t kMeanwhile = 64;
  const size_t now = counters.connections.load();
  if (now < options.max_connections) return true;
  if (now >= options.max_connections + kMeanwhile) return false;
  ReadingThread& reader = readers[shedding++ % readers.size()];
  net::post(reader.context, [&waiting = reader.waiting] {
    // Those who have asked before stay while there are others, however short these have waited.
    for (const Wait how : {Wait::first, Wait::reading, Wait::idle}) {
      if (waiting.has_any(how)) return (void)waiting.shed(how);
    }
  });
  return true;
}

ReadingThread& HttpServer::State::reader_of(const net::execution_context& context) {
  return *std::find_if(readers.begin(), readers.end(),
                       [&](const ReadingThread& reader) { return &reader.context == &context; });
}

/// No files or no memory for another connection: asking again at once would only burn a core.
void HttpServer::State::accept_after_a_pause() {
  counters.refused_connections.fetch_add(1);
  retry->expires_after(std::chrono::milliseconds(50));
  retry->async_wait([this](error_code error) {
    is_accepting = false;
    if (!error && acceptor->is_open()) accept();
  });
  is_accepting = true;
}

/// After something failed: a server that does not accept would be deaf for good.
void HttpServer::State::go_on_accepting() noexcept {
  while (acceptor->is_open() && !is_accepting) {
    try {
      accept();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

namespace {

/// Of the memory limit: what is left is for models and their runs.
size_t for_connections() { return static_cast<size_t>(memory::limit()) / 4; }
size_t for_requests() { return static_cast<size_t>(memory::limit()) / 2; }

/// As many files as the system lets the process open; how many connections that allows, with some
/// left for models, certificates and gRPC.
size_t connections_by_files(size_t wanted) {
  constexpr rlim_t kOwn = 128;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  const rlim_t left = files.rlim_cur > 2 * kOwn ? files.rlim_cur - kOwn : files.rlim_cur / 2;
  return std::min(wanted, static_cast<size_t>(left));
}

/// A connection for which memory ran out is closed; the others go on.
template <class GoOn>
void run_for_good(net::io_context& context, const GoOn& go_on) {
  while (!context.stopped()) {
    try {
      context.run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tidemark serve: closed a connection: %s\n", error.what());
      go_on();
    }
  }
}

}  // namespace

HttpServer::HttpServer(HttpOptions options, Handler handler, HttpCounters& counters)
    : state_(std::make_unique<State>(std::move(options), std::move(handler), counters)) {}

HttpServer::~HttpServer() {
  for (ReadingThread& reader : state_->readers) reader.context.stop();
  state_->threads.clear();
}

void HttpServer::start() {
  State& state = *state_;
  state.tls = TlsFiles::open(state.options.tls_certificate, state.options.tls_key);
  HttpOptions& options = state.options;
  const size_t each = state.tls ? kIdleBytesOfTls : kIdleBytes;
  options.max_connections =
      std::min(connections_by_files(options.max_connections), for_connections() / each + 1);
  options.max_bytes_in_flight = std::min(options.max_bytes_in_flight, for_requests());
  options.max_body_bytes = std::min(options.max_body_bytes, for_requests());
  for (int i = 0; i < std::max(1, state.options.threads); ++i) state.readers.emplace_back();
  state.retry.emplace(state.readers[0].context);
  error_code error;
  const auto address = net::ip::make_address(state.options.address, error);
  if (error) fail("'", state.options.address, "' is no address to listen on");
  tcp::acceptor& acceptor = state.acceptor.emplace(state.readers[0].context);
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
  for (ReadingThread& reader : state.readers) {
    const bool is_first = &reader == &state.readers[0];
    add_thread(state.threads, Urgency::at_once, [&state, &context = reader.context, is_first] {
      const auto stay = net::make_work_guard(context);
      run_for_good(context, [&] {
        if (is_first) state.go_on_accepting();
      });
    });
  }
}

uint16_t HttpServer::port() const { return state_->acceptor->local_endpoint().port(); }

void HttpServer::refuse_new() {
  State& state = *state_;
  state.is_draining = true;
  net::post(state.readers[0].context, [&state] {
    error_code ignored;
    state.acceptor->close(ignored);
  });
}

bool HttpServer::wait_until_idle(std::chrono::steady_clock::time_point end) {
  const State& state = *state_;
  const auto is_idle = [&] { return state.answering.load() + state.writing.load() == 0; };
  while (!is_idle() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return is_idle();
}

}  // namespace tidemark::serve
