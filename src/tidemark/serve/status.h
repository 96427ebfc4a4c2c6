// What became of a request, in words that both protocols turn into HTTP.
#pragma once

#include <tidemark/error.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace tidemark::serve {

/// Throws the typed error of the code: what handlers of requests end with.
class RequestError : public Error {
 public:
  using Error::Error;
};

/// A request that would not fit if it were the only one: trying again does not help.
class TooLargeError : public RequestError {
 public:
  explicit TooLargeError(const std::string& why)
      : RequestError(Code::resource_exhausted,
                     "the request takes more memory than there is, with no other running: " + why) {
  }
};

/// Texts of a client may have megabytes: an answer repeats the beginning.
template <class Piece>
decltype(auto) shortened(const Piece& piece) {
  constexpr size_t kMost = 500;
  if constexpr (std::is_same_v<Piece, std::string> || std::is_same_v<Piece, std::string_view>) {
    const std::string_view text = piece;
    return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
  } else {
    return (piece);
  }
}

template <class... Pieces>
[[noreturn]] void refuse(Code code, const Pieces&... pieces) {
  throw RequestError(code, message(shortened(pieces)...));
}

inline int http_status(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::out_of_range:
    case Code::data_loss:
      return 400;
    case Code::failed_precondition:
      return 412;
    case Code::unauthenticated:
      return 401;
    case Code::permission_denied:
      return 403;
    case Code::not_found:
      return 404;
    case Code::already_exists:
    case Code::aborted:
      return 409;
    case Code::resource_exhausted:
      return 429;
    case Code::cancelled:
      return 499;
    case Code::unimplemented:
      return 501;
    case Code::unavailable:
      return 503;
    case Code::deadline_exceeded:
      return 504;
    default:
      return 500;
  }
}

}  // namespace tidemark::serve
