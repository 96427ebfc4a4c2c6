// Asks the server's handlers for nearly everything. Allowed ends: one answer a request, with a
// status that HTTP knows; what it says it is (JSON) it is.
#include <span>

#include "damaged_files.h"
#include "tidemark/io/model_writer.h"
#include "tidemark/serve/json.h"
#include "tidemark/serve/server.h"
#include "tidemark/trace/builder.h"

namespace {

using namespace tidemark;
using fuzz::Random;
using serve::HttpRequest;

void save(const std::string& folder) {
  trace::GraphBuilder builder("f");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim, 3});
  const Tensor texts = builder.add_input(DType::string, {kUnknownDim});
  std::vector<Tensor> out;
  {
    const trace::TraceScope scope(builder);
    out = {call("sum", {x}, {{"axis", Ints{1}}}), call("identity", {texts})};
  }
  io::ModelWriter writer;
  writer.add_signature("serving_default", writer.add_function("f", *builder.finish(out)),
                       {"x", "texts"}, {"sum", "texts_bytes"});
  writer.write(folder);
}

class Waiting final : public serve::Responder {
 public:
  void send(serve::HttpResponse response) override {
    if (++count_ > 1) fuzz::found("a second answer");
    if (response.status < 200 || response.status > 599) fuzz::found("a status that is none");
    if (response.content_type == "application/json" && !response.body.empty()) {
      simdjson::dom::parser parser;
      const auto error = parser.parse(response.body).error();
      // Infinity and NaN are TensorFlow Serving's, and no JSON.
      if (error && response.body.find("Infinity") == std::string::npos &&
          response.body.find("NaN") == std::string::npos) {
        fuzz::found("an answer that is no JSON: " + response.body);
      }
    }
    status_ = response.status;
    status_.notify_all();
  }
  bool is_gone() const override { return false; }
  int wait() {
    status_.wait(0);
    return status_;
  }

 private:
  std::atomic<int> status_{0};
  int count_ = 0;
};

const char* const kPaths[] = {"/v1/models/m:predict",
                              "/v1/models/m",
                              "/v1/models/m/metadata",
                              "/v2/models/m/infer",
                              "/v2/models/m",
                              "/v2/models/m/stats",
                              "/v2/repository/index",
                              "/v2/health/ready",
                              "/v1/models/m/versions/1:predict",
                              "/v2/models/m/versions/1/infer",
                              "/v1/models/m/labels/x:predict",
                              "/v2",
                              "/metrics",
                              "/"};

const char* const kBodies[] = {
    R"({"instances": [{"x": [1, 2.5, -3e1], "texts": "a"}, {"x": [0, 0, 1], "texts": {"b64": "YQ=="}}]})",
    R"({"signature_name": "serving_default", "inputs": {"x": [[1, 2, 3]], "texts": ["b"]}})",
    R"({"id": "1", "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}, {"name": "texts", "datatype": "BYTES", "shape": [1], "data": ["t"]}], "outputs": [{"name": "sum", "parameters": {"binary_data": true}}], "parameters": {"timeout": 5}})",
    R"({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "parameters": {"binary_data_size": 12}}, {"name": "texts", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}}]}abcdefghijkl)"};

void change(std::string& text, Random& random) {
  static const std::string likely = "[]{}\",:0123456789eE-+.\\ truefalsn%/\xff";
  const size_t at = text.empty() ? 0 : random() % text.size();
  switch (random() % 4) {
    case 0:
      if (!text.empty()) text[at] = likely[random() % likely.size()];
      break;
    case 1:
      text.erase(at, random() % 8);
      break;
    case 2:
      text.insert(at, text.substr(random() % (text.size() + 1), random() % 20));
      break;
    default:
      if (!text.empty()) text[at] = static_cast<char>(random());
  }
}

std::string any_of(std::span<const char* const> texts, Random& random, int chance) {
  std::string out = texts[random() % texts.size()];
  while (random() % 10 < static_cast<uint64_t>(chance)) change(out, random);
  return out;
}

class Requests final : public fuzz::Fuzzer {
 public:
  Requests() { store_.start(); }

  bool execute(Random& random) override {
    const std::string path = any_of(kPaths, random, 1), body = any_of(kBodies, random, 6);
    const std::string length = std::to_string(static_cast<int64_t>(random() % 300) - 10);
    HttpRequest request;
    request.method = random() % 8 ? "POST" : "GET";
    request.target = path;
    request.body = body;
    if (random() % 3 == 0) request.json_length = length;
    const auto to = std::make_shared<Waiting>();
    serve::answer(context_, request, to);
    return to->wait() == 200;
  }

 private:
  serve::ServerOptions options() const {
    save(folder_.file("m/1"));
    serve::ServerOptions out;
    out.store.models_folder = folder_.path();
    out.store.poll_seconds = 3600;
    out.store.defaults.batching = {4, 1, {2, 4}};
    out.executor.slots = 1;
    return out;
  }

  const fuzz::ScratchFolder folder_{"fuzz_requests"};
  const serve::ServerOptions options_ = options();
  serve::ModelStore store_{options_.store};
  serve::HttpCounters http_;
  std::atomic<bool> is_draining_{false};
  serve::Executor executor_{options_.executor};
  serve::Context context_{options_, store_, executor_, http_, is_draining_, serve::Clock::now()};
};

const fuzz::AddFuzzer added("requests", fuzz::make<Requests>);

}  // namespace
