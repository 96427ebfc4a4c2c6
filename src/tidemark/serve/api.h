// What the protocols share: a request in, a response out, now or when the model has run.
#pragma once

#include "tidemark/serve/executor.h"
#include "tidemark/serve/http.h"
#include "tidemark/serve/model_store.h"

namespace tidemark::serve {

/// Who may load and unload models.
enum class Admin { with_token, local, nobody };

struct ServerOptions {
  HttpOptions http;
  ExecutorOptions executor;
  StoreOptions store;
  double request_seconds = 30;  // a request that waited longer is not run any more
  std::string token;            // of clients; empty: anybody
  Admin admin = Admin::with_token;
  bool is_sandboxed = false;
  std::vector<std::string> hosts;  // names of this server beside its address and localhost
  int drain_seconds = 30;
  int grpc_port = -1;  // 0: any free one; -1: no gRPC
};

/// Everything handlers of requests look at.
struct Context {
  const ServerOptions& options;
  ModelStore& store;
  Executor& executor;
  HttpCounters& http;
  std::atomic<bool>& is_draining;
  Clock::time_point started;
};

using ResponderRef = std::shared_ptr<Responder>;

/// The path's parts, decoded: "/v1/models/m:predict" → {"v1", "models", "m:predict"}. Throws
/// RequestError for a target that is no path.
std::vector<std::string> split_path(std::string_view target);

/// What an error says to clients.
struct Failure {
  Code code;
  std::string text;
  bool is_too_large = false;
};
Failure failure_of(const std::exception_ptr& error);
/// A response of the error, as both protocols write it: {"error": "…"}.
HttpResponse error_response(const std::exception_ptr& error);

/// Counts the answer's bytes against the memory limit until it is written, and makes room for them.
/// Throws RequestError where there is none.
void reserve_answer(HttpResponse& response, size_t bytes);

/// Throws RequestError unless it is the header that clients must send.
void check_token(const ServerOptions& options, std::string_view authorization);
/// Throws RequestError for what a page of another site made a browser on this machine send.
void check_site(const ServerOptions& options, const HttpRequest& request);
/// Throws RequestError unless whoever asks may load and unload models.
void check_admin(const ServerOptions& options, bool is_from_here);

/// Who waits for a run: both are called from any thread, `done` once unless submit throws.
struct Asker {
  std::function<bool()> is_gone;
  std::function<void(Result&&)> done;
};
void submit(Context& context, std::shared_ptr<const Servable> servable,
            const SignatureSpec& signature, std::vector<Tensor> inputs, Asker asker,
            double timeout_seconds);

/// Runs the signature; `respond` turns its outputs into the response.
void run_signature(Context& context, std::shared_ptr<const Servable> servable,
                   const SignatureSpec& signature, std::vector<Tensor> inputs,
                   const ResponderRef& to,
                   std::function<HttpResponse(std::vector<Tensor>&&)> respond,
                   double timeout_seconds = 0);

/// Answers any request: finds who it is for, and turns errors into responses.
void answer(Context& context, const HttpRequest& request, const ResponderRef& to);

/// TensorFlow Serving's REST API, below /v1. False: the path is not its.
bool handle_tensorflow(Context& context, const HttpRequest& request,
                       const std::vector<std::string>& path, const ResponderRef& to);
/// The Open Inference Protocol (KServe, Triton), below /v2.
bool handle_inference_protocol(Context& context, const HttpRequest& request,
                               const std::vector<std::string>& path, const ResponderRef& to);
/// Prometheus's text, and the page for people.
std::string metrics_text(const Context& context);
std::string status_page(const Context& context);
std::string status_json(const Context& context);

}  // namespace tidemark::serve
