// Requests: as bytes on a connection ("http"), and as bodies that the handlers of both protocols
// get
// ("bodies": the first byte says whose).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "targets.h"
#include "tidemark/serve/json.h"
#include "tidemark/serve/server.h"

namespace tidemark::fuzz {

namespace {

serve::ServerOptions options() {
  serve::ServerOptions out;
  out.http.port = 0;
  out.http.request_seconds = 1;
  out.store.models_folder = scratch_folder() + "/models";
  out.store.poll_seconds = 3600;
  out.executor.slots = 1;
  return out;
}

void check_json(const std::string& body) {
  simdjson::dom::parser parser;
  if (!parser.parse(body).error()) return;
  // Those are TensorFlow Serving's, and no JSON.
  if (body.find("Infinity") == std::string::npos && body.find("NaN") == std::string::npos) {
    found("an answer that is no JSON: " + body);
  }
}

// --- bodies --------------------------------------------------------------------------------------

class Waiting final : public serve::Responder {
 public:
  void send(serve::HttpResponse response) override {
    if (status_ != 0) found("a second answer");
    if (response.status < 200 || response.status > 599) found("a status that is none");
    if (response.status == 500) found("a failure without a type: " + response.body);
    if (response.content_type == "application/json" && !response.body.empty()) {
      check_json(response.body);
    }
    status_ = response.status;
    status_.notify_all();
  }
  bool is_gone() const override { return false; }
  void wait() { status_.wait(0); }

 private:
  std::atomic<int> status_{0};
};

/// What handlers look at; it lives as long as the process.
struct Handlers {
  const serve::ServerOptions given = options();
  serve::ModelStore store{given.store};
  serve::Executor executor{given.executor};
  serve::HttpCounters http;
  std::atomic<bool> is_draining{false};
  serve::Context context{given, store, executor, http, is_draining, serve::Clock::now()};
};

Handlers* handlers = nullptr;

void start_handlers() {
  save_model(scratch_folder() + "/models/m/1");
  handlers = new Handlers;
  handlers->store.start();
  while (!handlers->store.has_loaded()) ::usleep(1000);
}

constexpr std::array<std::string_view, 4> kTargets = {"/v1/models/m:predict", "/v2/models/m/infer",
                                                      "/v2/models/m/versions/1/infer",
                                                      "/v2/repository/models/m/unload"};

void take_body(std::string_view bytes) {
  if (bytes.size() < 2) return;
  serve::HttpRequest request;
  const auto which = static_cast<unsigned char>(bytes[0]);
  request.method = "POST";
  request.target = kTargets[which % kTargets.size()];
  request.body = bytes.substr(2);
  const std::string length = std::to_string(static_cast<unsigned char>(bytes[1]));
  if (which >= 128) request.json_length = length;
  const auto to = std::make_shared<Waiting>();
  serve::answer(handlers->context, request, to);
  to->wait();
}

const std::string kRows =
    R"({"instances": [{"x": [1, 2.5, -3e1], "texts": "a"}, {"x": [0, 0, 1], "texts": {"b64": "YQ=="}}]})";
const std::string kColumns =
    R"({"signature_name": "serving_default", "inputs": {"x": [[1, 2, 3]], "texts": ["b"]}})";
const std::string kInference =
    R"({"id": "1", "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]},)"
    R"( {"name": "texts", "datatype": "BYTES", "shape": [1], "data": ["t"]}], "outputs": [{"name":)"
    R"( "sum", "parameters": {"binary_data": true}}], "parameters": {"timeout": 5}})";
const std::string kBinary =
    R"({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "parameters":)"
    R"( {"binary_data_size": 12}}, {"name": "texts", "datatype": "BYTES", "shape": [1],)"
    R"( "parameters": {"binary_data_size": 5}}]})";

std::map<std::string, std::string> body_seeds() {
  const std::string data("\0\0\x80?\0\0\0@\0\0\0@\x01\0\0\0a", 17);
  const auto with_length = [](const std::string& json, const std::string& rest) {
    return std::string{static_cast<char>(129), static_cast<char>(json.size())} + json + rest;
  };
  return {{"rows", std::string(2, '\0') + kRows},
          {"columns", std::string(2, '\0') + kColumns},
          {"inference", std::string("\1\0", 2) + kInference},
          {"binary", with_length(kBinary, data)}};
}

// --- bytes of a connection -----------------------------------------------------------------------

serve::Server* server = nullptr;

void start_server() {
  save_model(scratch_folder() + "/models/m/1");
  server = new serve::Server(options());
  server->start();
  while (!server->has_loaded()) ::usleep(1000);
}

void take_connection(std::string_view bytes) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{10, 0};
  ::setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (::connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    (void)!::send(s, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(s, SHUT_WR);
    char part[4096];
    std::string answer;
    ssize_t count = 0;
    while ((count = ::recv(s, part, sizeof(part), 0)) > 0) {
      if (answer.size() < sizeof(part)) answer.append(part, static_cast<size_t>(count));
    }
    if (count < 0 && errno == EAGAIN) found("the connection was left open");
    if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) found("no HTTP: " + answer);
    if (answer.starts_with("HTTP/1.1 500")) found("a failure without a type: " + answer);
  }
  const linger none{1, 0};  // as many connections as there may be ports would else be waiting
  ::setsockopt(s, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  ::close(s);
}

std::map<std::string, std::string> connection_seeds() {
  const auto post = [](const std::string& path, const std::string& more, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n" + body;
  };
  const auto length = [](const std::string& body) {
    return "Content-Length: " + std::to_string(body.size()) + "\r\n";
  };
  const std::string predict = "/v1/models/m:predict";
  return {{"predict", post(predict, length(kRows), kRows)},
          {"twice", post(predict, length(kRows), kRows) + post(predict, length(kRows), kRows)},
          {"chunked", post(predict, "Transfer-Encoding: chunked\r\n",
                           "5\r\n{\"ins\r\n3;a=b\r\ntan\r\n0\r\nX: y\r\n\r\n")},
          {"continue", post(predict, "Expect: 100-continue\r\n" + length(kColumns), kColumns)},
          {"both", post(predict, "Transfer-Encoding: chunked\r\n" + length(kRows), kRows)},
          {"infer", post("/v2/models/m/infer",
                         "Inference-Header-Content-Length: " + std::to_string(kBinary.size()) +
                             "\r\n" + length(kBinary + "abcdefghijkl12345"),
                         kBinary + "abcdefghijkl12345")},
          {"metrics", "GET /metrics HTTP/1.0\r\n\r\n"},
          {"origin", post(predict, "Origin: http://a.b\r\nSec-Fetch-Site: cross-site\r\n", "")}};
}

const AddTarget http("http", {start_server, take_connection, connection_seeds});
const AddTarget bodies("bodies", {start_handlers, take_body, body_seeds});

}  // namespace

}  // namespace tidemark::fuzz
