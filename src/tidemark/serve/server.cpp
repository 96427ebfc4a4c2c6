#include "tidemark/serve/server.h"

#include "tidemark/base/file_access.h"
#include "tidemark/serve/json.h"
#include "tidemark/serve/reserved_memory.h"
#include "tidemark/serve/sandbox.h"
#include "tidemark/serve/threads.h"

namespace tidemark::serve {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  while (true) {
    const size_t plain = std::min(text.find('%'), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return out;
    const int high = text.size() > 2 ? hex_digit(text[1]) : -1;
    const int low = text.size() > 2 ? hex_digit(text[2]) : -1;
    if (high < 0 || low < 0) refuse(Code::invalid_argument, "the path is malformed");
    out += static_cast<char>(high * 16 + low);
    text.remove_prefix(3);
  }
}

HttpResponse text_response(std::string body, const char* type) {
  HttpResponse response;
  response.content_type = type;
  response.body = std::move(body);
  return response;
}

uint64_t milliseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

/// False: the path is nobody's.
bool route(Context& context, const HttpRequest& request, const ResponderRef& to) {
  const std::vector<std::string> path = split_path(request.target);
  const bool is_health = path.size() == 3 && path[0] == "v2" && path[1] == "health";
  if (!is_health) check_token(context.options, request.authorization);
  check_site(context.options, request);
  if (!request.content_encoding.empty() && request.content_encoding != "identity") {
    HttpResponse response;
    response.status = 415;
    response.body = "{\"error\": \"bodies must not be compressed\"}";
    to->send(std::move(response));
    return true;
  }
  if (handle_tensorflow(context, request, path, to)) return true;
  if (handle_inference_protocol(context, request, path, to)) return true;
  if (request.method != "GET") return false;
  if (path.empty()) {
    to->send(text_response(status_page(context), "text/html; charset=utf-8"));
  } else if (path.size() == 1 && path[0] == "metrics") {
    to->send(text_response(metrics_text(context), "text/plain; version=0.0.4; charset=utf-8"));
  } else if (path.size() == 1 && path[0] == "status.json") {
    to->send(text_response(status_json(context), "application/json"));
  } else if (path.size() == 3 && path[0] == "monitoring" && path[1] == "prometheus" &&
             path[2] == "metrics") {  // TensorFlow Serving's place for them
    to->send(text_response(metrics_text(context), "text/plain; version=0.0.4; charset=utf-8"));
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> split_path(std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (target.empty() || target[0] != '/') refuse(Code::invalid_argument, "the path is malformed");
  target.remove_prefix(1);
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(std::count(target.begin(), target.end(), '/')) + 1);
  while (!target.empty()) {
    const size_t end = target.find('/');
    out.push_back(decoded(target.substr(0, end)));
    target = end == std::string_view::npos ? "" : target.substr(end + 1);
  }
  return out;
}

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const TooLargeError& known) {
    return {known.code(), known.what(), true};
  } catch (const Error& known) {
    return {known.code(), known.what()};
  } catch (const std::bad_alloc&) {
    return {Code::unavailable, "there is no memory for the request"};
  } catch (const std::exception& other) {
    return {Code::internal, other.what()};
  }
}

HttpResponse error_response(const std::exception_ptr& error) {
  const Failure failure = failure_of(error);
  HttpResponse response;
  response.status = failure.is_too_large ? 413 : http_status(failure.code);
  if (response.status == 429 || response.status == 503) {
    response.headers.emplace_back("Retry-After", "1");
  }
  // Models' errors may repeat what they were given, however long.
  constexpr size_t kMostText = 4000;
  response.body = "{\"error\": ";
  put_string(response.body, std::string_view(failure.text).substr(0, kMostText));
  response.body += "}";
  return response;
}

void reserve_answer(HttpResponse& response, size_t bytes) {
  try {
    response.reserved = std::make_shared<const ReservedMemory>(bytes);
  } catch (const ResourceExhaustedError& error) {
    refuse(Code::resource_exhausted, "the answer takes up to ", bytes,
           " bytes, for which there is no room: ", error.what());
  }
  response.body.reserve(bytes);
}

namespace {

void answer_now(Context& context, const HttpRequest& request, const ResponderRef& to) {
  try {
    if (!route(context, request, to)) {
      refuse(Code::not_found, "Not found: ", request.method, " ", request.target);
    }
  } catch (const ResourceExhaustedError& error) {  // the inputs alone
    const bool is_alone = context.executor.busy_slots() == 0;
    to->send(error_response(is_alone ? std::make_exception_ptr(TooLargeError(error.what()))
                                     : std::current_exception()));
  } catch (...) {
    to->send(error_response(std::current_exception()));
  }
}

}  // namespace

void answer(Context& context, const HttpRequest& request, const ResponderRef& to) {
  // Reading many numbers takes long, and other connections wait for this thread.
  constexpr size_t kLargeBody = size_t{128} << 10;
  if (request.body.size() <= kLargeBody) return answer_now(context, request, to);
  // The texts of a request live until it is answered.
  context.executor.run_chore(request.body.size(),
                             [&context, request, to] { answer_now(context, request, to); });
}

void submit(Context& context, std::shared_ptr<const Servable> servable,
            const SignatureSpec& signature, std::vector<Tensor> inputs, Asker asker,
            double timeout_seconds) {
  const double most = context.options.request_seconds;
  const double timeout = timeout_seconds > 0 ? std::min(timeout_seconds, most) : most;
  Job job;
  job.signature = &signature;
  job.inputs = std::move(inputs);
  job.arrived = Clock::now();
  job.deadline = job.arrived + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(timeout));
  servable->counters.last_milliseconds.store(milliseconds_now(), std::memory_order_relaxed);
  job.servable = std::move(servable);
  job.is_gone = std::move(asker.is_gone);
  job.done = std::move(asker.done);
  context.executor.submit(std::move(job));
}

void run_signature(Context& context, std::shared_ptr<const Servable> servable,
                   const SignatureSpec& signature, std::vector<Tensor> inputs,
                   const ResponderRef& to,
                   std::function<HttpResponse(std::vector<Tensor>&&)> respond,
                   double timeout_seconds) {
  Asker asker;
  asker.is_gone = [to] { return to->is_gone(); };
  asker.done = [to, respond = std::move(respond)](Result&& result) {
    try {
      if (result.error) std::rethrow_exception(result.error);
      to->send(respond(std::move(result.outputs)));
    } catch (...) {
      to->send(error_response(std::current_exception()));
    }
  };
  submit(context, std::move(servable), signature, std::move(inputs), std::move(asker),
         timeout_seconds);
}

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      store_(options_.store),
      executor_(options_.executor),
      context_{options_, store_, executor_, http_counters_, is_draining_, Clock::now()},
      http_(
          options_.http,
          [this](const HttpRequest& request, const ResponderRef& to) {
            answer(context_, request, to);
          },
          http_counters_) {}

Server::~Server() = default;

void Server::start() {
  if (!options_.store.allows_files) forbid_files();
  http_.start();
  if (options_.grpc_port >= 0) grpc_ = GrpcServer::start(context_);
  if (options_.is_sandboxed) close_sandbox();
  store_.start();
}

void Server::drain() {
  const auto end = Clock::now() + std::chrono::seconds(options_.drain_seconds);
  // Time to tell those whose requests were stopped.
  const auto grace = std::chrono::milliseconds(500);
  is_draining_ = true;
  executor_.refuse_new();
  http_.refuse_new();
  std::vector<std::jthread> calls;
  try {
    if (grpc_) add_thread(calls, Urgency::soon, [&] { grpc_->drain(end + grace); });
  } catch (const ResourceExhaustedError&) {  // calls are waited for below, with all other requests
  }
  if (http_.wait_until_idle(end) && executor_.wait_until_idle(end)) return;
  executor_.stop();
  http_.wait_until_idle(Clock::now() + grace);
}

}  // namespace tidemark::serve
