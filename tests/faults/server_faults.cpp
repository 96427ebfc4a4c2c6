// A server whose system calls go wrong, seed by seed: what is asked meanwhile is answered, or
// refused with a reason, or its connection is closed because that is what failed; when the faults
// end all is as it was before.
//
//   faults_server [seeds] [first seed]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <tidemark/memory.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "system_calls.h"
#include "tidemark/io/model_writer.h"
#include "tidemark/serve/json.h"
#include "tidemark/serve/server.h"
#include "tidemark/trace/builder.h"

namespace {

using namespace tidemark;
using faults::Call;

[[noreturn]] void wrong(uint64_t seed, const std::string& what) {
  std::fprintf(stderr, "seed %llu: %s; calls that failed:", static_cast<unsigned long long>(seed),
               what.c_str());
  const faults::FaultCounts seen = faults::stop_faults();
  for (size_t i = 0; i < faults::kCalls; ++i) {
    std::fprintf(stderr, " %s %llu", faults::kNames[i], static_cast<unsigned long long>(seen[i]));
  }
  std::fprintf(stderr, "\n");
  std::_Exit(1);
}

/// y = [sum of the row]
void save(const std::string& folder) {
  trace::GraphBuilder builder("f");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim, 3});
  std::vector<Tensor> out;
  {
    const trace::TraceScope scope(builder);
    out = {call("sum", {x}, {{"axis", Ints{1}}})};
  }
  io::ModelWriter writer;
  writer.add_signature("serving_default", writer.add_function("f", *builder.finish(out)), {"x"},
                       {"y"});
  writer.write(folder);
}

struct Answer {
  int status = 0;  // 0: the connection was closed before the answer was whole
  std::string body;
};

class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    is_open_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;

  Answer ask(uint64_t seed, const std::string& request) {
    Answer answer;
    if (!is_open_) return answer;
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return closed();
    size_t end = std::string::npos, size = 0;
    while (end == std::string::npos || text_.size() < end + size) {
      char part[4096];
      const ssize_t count = ::recv(socket_, part, sizeof(part), 0);
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) wrong(seed, "no answer came");
      if (count <= 0) return closed();
      text_.append(part, static_cast<size_t>(count));
      if (end != std::string::npos || (end = text_.find("\r\n\r\n")) == std::string::npos) continue;
      end += 4;
      const size_t length = text_.find("Content-Length: ");
      if (length == std::string::npos || length > end) wrong(seed, "no length: " + text_);
      size = std::strtoull(text_.c_str() + length + 16, nullptr, 10);
    }
    answer.status = std::atoi(text_.c_str() + std::strlen("HTTP/1.1 "));
    answer.body = text_.substr(end, size);
    is_open_ = text_.substr(0, end).find("Connection: close") == std::string::npos;
    text_.erase(0, end + size);
    return answer;
  }
  bool is_open() const { return is_open_; }

 private:
  Answer closed() {
    is_open_ = false;
    return {};
  }
  int socket_;
  bool is_open_ = false;
  std::string text_;
};

std::string post(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

const std::string kRow = R"({"instances": [[1, 2, 3.5]]})";
const std::string kSum = "6.5";

/// What is asked, and whether it can be answered as meant.
std::pair<std::string, bool> draw_request(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return {post("/v2/models/m/infer",
                   R"({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3],)"
                   R"( "data": [1, 2, 3.5]}]})"),
              true};
    case 1:
      return {"GET /v1/models/m HTTP/1.1\r\nHost: localhost\r\n\r\n", true};
    case 2:
      return {"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", true};
    case 3:
      return {post("/v1/models/none:predict", kRow), false};
    case 4:
      return {post("/v1/models/m:predict", R"({"instances": [[1, 2], [3]]})"), false};
    case 5: {  // as large as a chore
      std::string rows = R"({"instances": [)";
      for (int i = 0; i < 12000; ++i) rows += "[1, 2, 3.5], ";
      return {post("/v1/models/m:predict", rows + "[1, 2, 3.5]]}"), true};
    }
    default:
      return {post("/v1/models/m:predict", kRow), true};
  }
}

/// No memory (429, 413), no time (504), no room (503), gone (499): each says why.
void check(uint64_t seed, const Answer& answer, bool is_meant, bool may_close) {
  if (answer.status == 0) {
    if (!may_close) wrong(seed, "a connection was closed though none failed");
    return;
  }
  if (answer.status == 200) {
    if (!is_meant) wrong(seed, "answered: " + answer.body);
    if (answer.body.find("predictions") != std::string::npos &&
        answer.body.find(kSum) == std::string::npos) {
      wrong(seed, "a wrong answer: " + answer.body);
    }
    return;
  }
  if (answer.status == 500) wrong(seed, "a failure without a type: " + answer.body);
  simdjson::dom::parser parser;
  std::string_view why;
  if (parser.parse(answer.body)["error"].get(why) || why.empty()) {
    wrong(seed, std::to_string(answer.status) + " without a reason: " + answer.body);
  }
}

struct Totals {
  uint64_t answers = 0, refusals = 0, closed = 0, started = 0, not_started = 0;
  faults::FaultCounts faults{};
};

void add(const faults::FaultCounts& seen, Totals& totals) {
  for (size_t i = 0; i < faults::kCalls; ++i) totals.faults[i] += seen[i];
}

void run_seed(uint64_t seed, uint16_t port, Totals& totals) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<Answer, bool>> got;
  faults::start_faults(seed);
  for (auto connections = 1 + random() % 2; connections > 0; --connections) {
    Client client(port);
    for (auto requests = 1 + random() % 3; requests > 0 && client.is_open(); --requests) {
      const auto [request, is_meant] = draw_request(random);
      got.emplace_back(client.ask(seed, request), is_meant);
    }
  }
  const faults::FaultCounts seen = faults::stop_faults();
  const auto count = [&](Call call) { return seen[static_cast<size_t>(call)]; };
  const bool may_close = count(Call::receive) + count(Call::send) + count(Call::accept) +
                             count(Call::clock) + count(Call::object) >
                         0;
  for (const auto& [answer, is_meant] : got) {
    check(seed, answer, is_meant, may_close);
    ++(answer.status == 0     ? totals.closed
       : answer.status == 200 ? totals.answers
                              : totals.refusals);
  }
  add(seen, totals);
  const Answer plain = Client(port).ask(seed, post("/v1/models/m:predict", kRow));
  if (plain.status != 200 || plain.body.find(kSum) == std::string::npos) {
    wrong(seed, "not answered afterwards: " + std::to_string(plain.status) + " " + plain.body);
  }
}

/// The server looks for models, finds one and reads it while calls fail.
void load_with_faults(uint64_t seed, double poll_seconds, Totals& totals) {
  faults::start_faults(seed);
  std::this_thread::sleep_for(std::chrono::duration<double>(10 * poll_seconds));
  add(faults::stop_faults(), totals);
}

/// A server that starts while calls fail: it runs, or it says why not, and ends either way.
void start_another(uint64_t seed, serve::ServerOptions options, Totals& totals) {
  std::string said;
  faults::start_faults(seed);
  std::thread([&] {  // of which calls fail; this one's do not
    try {
      serve::Server other(std::move(options));
      other.start();
    } catch (const Error& error) {
      faults::spare_this_thread();  // what it says is copied
      said = error.what();
    } catch (const std::bad_alloc&) {
      said = "no memory";
    } catch (const std::exception& error) {
      wrong(seed, std::string("a server failed to start without a type: ") + error.what());
    }
  })
      .join();
  add(faults::stop_faults(), totals);
  ++(said.empty() ? totals.started : totals.not_started);
}

/// Waits until it holds: what a connection leaves behind goes when its thread gets to it.
template <class Condition>
void wait_for(uint64_t seed, const char* what, Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  wrong(seed, what);
}

int64_t gauge(uint64_t seed, uint16_t port, const std::string& name) {
  const Answer status =
      Client(port).ask(seed, "GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  simdjson::dom::parser parser;
  int64_t value = -1;
  if (status.status != 200 || parser.parse(status.body)[name].get(value)) {
    wrong(seed, "no status: " + status.body);
  }
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  faults::spare_this_thread();
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("faults_" + std::to_string(::getpid()))).string();
  save(folder + "/m/1");
  serve::ServerOptions options;
  options.http.port = 0;
  options.store.models_folder = folder;
  options.store.poll_seconds = 0.05;
  options.executor.slots = 2;
  serve::Server server(options);
  server.start();
  wait_for(0, "the model was not loaded", [&] { return server.has_loaded(); });
  const uint16_t port = server.port();
  for (int i = 0; i < 50; ++i) (void)Client(port).ask(0, post("/v1/models/m:predict", kRow));
  const int64_t live = gauge(0, port, "live");
  Totals totals;
  constexpr uint64_t kVersionEvery = 250, kStartEvery = 50;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    // A version that is written while calls fail is served when they no longer do.
    const uint64_t version = 1 + (seed - first) / kVersionEvery;
    const bool has_new = (seed - first) % kVersionEvery == 0 && version > 1;
    if ((seed - first) % kStartEvery == 0) start_another(seed, options, totals);
    if (has_new) {
      save(folder + "/m/" + std::to_string(version));
      std::filesystem::remove_all(folder + "/m/" + std::to_string(version - 2));
      load_with_faults(seed, options.store.poll_seconds, totals);
    }
    run_seed(seed, port, totals);
    if (!has_new) continue;
    wait_for(seed, "the new version is not served", [&] {
      return Client(port)
                 .ask(seed,
                      post("/v1/models/m/versions/" + std::to_string(version) + ":predict", kRow))
                 .status == 200;
    });
    wait_for(seed, "connections are left", [&] { return gauge(seed, port, "connections") <= 1; });
    wait_for(seed, "slots are left taken", [&] { return gauge(seed, port, "busy") == 0; });
    wait_for(seed, "memory is left", [&] { return gauge(seed, port, "live") <= live + 4096; });
  }
  std::printf(
      "%llu seeds: %llu servers started, %llu not; %llu answers, %llu refusals, %llu closed "
      "connections; faults:",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(totals.started),
      static_cast<unsigned long long>(totals.not_started),
      static_cast<unsigned long long>(totals.answers),
      static_cast<unsigned long long>(totals.refusals),
      static_cast<unsigned long long>(totals.closed));
  for (size_t i = 0; i < faults::kCalls; ++i) {
    std::printf(" %s %llu", faults::kNames[i], static_cast<unsigned long long>(totals.faults[i]));
  }
  std::printf("\n");
  std::filesystem::remove_all(folder);
  std::fflush(nullptr);
  std::_Exit(totals.answers > seeds / 2 ? 0 : 1);
}
