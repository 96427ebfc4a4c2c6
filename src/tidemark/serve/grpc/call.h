// What all gRPC calls have in common: tokens, bounds, deadlines, errors.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include "tidemark/serve/api.h"

namespace tidemark::serve {

inline grpc::Status status_of(const std::exception_ptr& error) {
  if (!error) return grpc::Status::OK;
  const Failure failure = failure_of(error);
  return {static_cast<grpc::StatusCode>(failure.code), failure.text};  // the numbers are gRPC's
}

inline void check_token_of(const Context& context, const grpc::CallbackServerContext& call) {
  const auto found = call.client_metadata().find("authorization");
  const bool is_there = found != call.client_metadata().end();
  check_token(context.options, is_there
                                   ? std::string_view(found->second.data(), found->second.size())
                                   : std::string_view());
}

/// Bytes of a request, counted with those of HTTP's until it is answered.
class BytesInFlight {
 public:
  BytesInFlight(Context& context, size_t bytes) : counters_(context.http), bytes_(bytes) {
    const size_t most = context.options.http.max_bytes_in_flight;
    if (counters_.bytes_in_flight.fetch_add(bytes) + bytes > most) {
      counters_.bytes_in_flight.fetch_sub(bytes);
      counters_.out_of_room.fetch_add(1, std::memory_order_relaxed);
      refuse(Code::unavailable, "the requests being read take all the memory there is for them");
    }
  }
  ~BytesInFlight() { counters_.bytes_in_flight.fetch_sub(bytes_); }
  BytesInFlight(const BytesInFlight&) = delete;
  BytesInFlight& operator=(const BytesInFlight&) = delete;

 private:
  HttpCounters& counters_;
  size_t bytes_;
};

/// Seconds until the client gives up; 0: it never does.
inline double seconds_left(const grpc::CallbackServerContext& call) {
  const auto deadline = call.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return 0;
  const std::chrono::duration<double> left = deadline - std::chrono::system_clock::now();
  return std::max(left.count(), 1e-6);
}

enum class Token { needed, not_needed };

/// The work fills the response and returns, or throws.
template <class Work>
grpc::ServerUnaryReactor* answer_now(Context& context, grpc::CallbackServerContext* call,
                                     const Work& work, Token token = Token::needed) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  std::exception_ptr error;
  try {
    if (token == Token::needed) check_token_of(context, *call);
    work();
  } catch (...) {
    error = std::current_exception();
  }
  reactor->Finish(status_of(error));
  return reactor;
}

/// Ends a call: with null, or with the error. The request and the response are gone afterwards.
using Finish = std::function<void(const std::exception_ptr&)>;

/// The work calls what it is given once, from any thread, unless it throws.
template <class Work>
grpc::ServerUnaryReactor* answer_later(Context& context, grpc::CallbackServerContext* call,
                                       const Work& work) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  const Finish finish = [reactor](const std::exception_ptr& error) {
    reactor->Finish(status_of(error));
  };
  try {
    check_token_of(context, *call);
    work(finish);
  } catch (...) {
    finish(std::current_exception());
  }
  return reactor;
}

/// Runs the signature; `respond` fills the response from its outputs.
inline void run_call(Context& context, grpc::CallbackServerContext* call, size_t request_bytes,
                     std::shared_ptr<const Servable> servable, const SignatureSpec& signature,
                     std::vector<Tensor> inputs, const Finish& finish, double timeout,
                     std::function<void(std::vector<Tensor>&&)> respond) {
  auto bytes = std::make_shared<BytesInFlight>(context, request_bytes);
  Asker asker;
  asker.is_gone = [call] { return call->IsCancelled(); };
  asker.done = [bytes, finish, respond = std::move(respond)](Result&& result) {
    std::exception_ptr error = result.error;
    try {
      if (!error) respond(std::move(result.outputs));
    } catch (...) {
      error = std::current_exception();
    }
    finish(error);
  };
  submit(context, std::move(servable), signature, std::move(inputs), std::move(asker), timeout);
}

/// The services; each lives as long as the server that it is registered with.
std::unique_ptr<grpc::Service> make_prediction_service(Context& context);
std::unique_ptr<grpc::Service> make_model_service(Context& context);
std::unique_ptr<grpc::Service> make_inference_service(Context& context);

}  // namespace tidemark::serve
