// <tidemark/serve.h>: the server in a program that is not ours.

#include <tidemark/serve.h>

#include <algorithm>
#include <thread>

#include "tidemark/serve/server.h"

namespace tidemark {

struct ModelServer::State {
  explicit State(serve::ServerOptions options) : server(std::move(options)) {}
  serve::Server server;
  bool is_started = false;
};

namespace {

serve::ServerOptions options_of(const ModelServerOptions& from) {
  if (from.port < 0 || from.port > 65535 || from.slots < 0 || from.slots > 1024 ||
      from.threads < 1 || from.threads > 256 || !(from.request_seconds > 0)) {
    fail("[ModelServer] ports are 0 to 65535, slots up to 1024 (0: one a core), threads 1 to 256, ",
         "and `request_seconds` is positive. Received: port ", from.port, ", slots ", from.slots,
         ", threads ", from.threads, ", request_seconds ", from.request_seconds);
  }
  serve::ServerOptions out;
  out.http.address = from.address;
  out.http.port = static_cast<uint16_t>(from.port);
  out.http.threads = from.threads;
  out.http.max_body_bytes = from.max_body_bytes;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  out.executor.slots = from.slots > 0 ? from.slots : cores;
  out.store.slots = out.executor.slots;
  out.store.allows_files = true;  // the models are the program's own, and so are its files
  out.request_seconds = from.request_seconds;
  out.token = from.token;
  out.admin = serve::Admin::nobody;
  return out;
}

}  // namespace

ModelServer::ModelServer(const ModelServerOptions& options)
    : state_(std::make_unique<State>(options_of(options))) {}

ModelServer::~ModelServer() {
  try {
    stop();
  } catch (...) {  // what was not answered is not waited for
  }
}

void ModelServer::add(const std::string& name, const SavedModel& model,
                      const ServedModelOptions& how) {
  if (name.empty() || name.find_first_of("/:%") != std::string::npos || how.version < 0) {
    fail("[ModelServer] a model needs a name without '/', ':' and '%', and a version that is not ",
         "negative. Received: \"", name, "\", version ", how.version);
  }
  serve::Batching batching;
  batching.max_batch_size = how.max_batch_size;
  batching.timeout_micros = how.batch_timeout_micros;
  state_->server.store().add_given(name, how.version, model, batching);
}

void ModelServer::remove(const std::string& name) { state_->server.store().remove_given(name); }

void ModelServer::start() {
  if (state_->is_started) fail<FailedPreconditionError>("[ModelServer] it runs already");
  state_->server.start();
  state_->is_started = true;
}

int ModelServer::port() const {
  if (!state_->is_started) fail<FailedPreconditionError>("[ModelServer] it was not started yet");
  return state_->server.port();
}

void ModelServer::stop() {
  if (!state_->is_started) return;
  state_->is_started = false;
  state_->server.drain();
}

}  // namespace tidemark
