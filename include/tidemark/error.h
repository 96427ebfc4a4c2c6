// Errors, typed as TensorFlow's. Every message says what was given, what is allowed, what to do.
//
//   try { td::matmul(a, b); }
//   catch (const td::InvalidArgumentError& e) { std::cerr << e.what(); }
#pragma once

#include <tidemark/export.h>

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace tidemark {

/// TensorFlow's (and gRPC's) status codes.
enum class Code {
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

class TIDEMARK_API Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const noexcept { return code_; }

 private:
  Code code_;
};

template <Code C>
class TIDEMARK_API TypedError : public Error {
 public:
  explicit TypedError(const std::string& message) : Error(C, message) {}
};

using InvalidArgumentError = TypedError<Code::invalid_argument>;
using NotFoundError = TypedError<Code::not_found>;
using AlreadyExistsError = TypedError<Code::already_exists>;
using ResourceExhaustedError = TypedError<Code::resource_exhausted>;
using FailedPreconditionError = TypedError<Code::failed_precondition>;
using OutOfRangeError = TypedError<Code::out_of_range>;
using UnimplementedError = TypedError<Code::unimplemented>;
using InternalError = TypedError<Code::internal>;

namespace detail {
inline void append(std::string& out, std::string_view piece) { out += piece; }
template <std::same_as<bool> T>  // a template, or string literals would come here as pointers
void append(std::string& out, T piece) {
  out += piece ? "true" : "false";
}
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) void append(std::string& out, T piece) {
  out += std::to_string(piece);
}
template <class T>
requires requires(const T& t) {
  { t.to_string() } -> std::convertible_to<std::string>;
}
void append(std::string& out, const T& piece) { out += piece.to_string(); }
}  // namespace detail

/// Joins strings, numbers and things with to_string() into one message.
template <class... Pieces>
std::string message(const Pieces&... pieces) {
  std::string out;
  (detail::append(out, pieces), ...);
  return out;
}

/// Throws the error of the given type with the joined message.
template <class E = InvalidArgumentError, class... Pieces>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Pieces&... pieces) {
  throw E(message(pieces...));
}

}  // namespace tidemark
