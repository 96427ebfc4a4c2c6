// Sockets that do not block, closed when they go.
#pragma once

#include <tidemark/error.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark {

using UnavailableError = TypedError<Code::unavailable>;

}  // namespace tidemark

namespace tidemark::comm {

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  Socket() noexcept = default;
  explicit Socket(int fd) noexcept : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// "host:port", where the host may be a name, an address, or an IPv6 address in brackets.
struct HostPort {
  std::string host, port;
  /// Throws InvalidArgumentError.
  static HostPort parse(std::string_view text);
};

/// Listens there; where the host is a name, on all of the machine's addresses: what the name means
/// here (127.0.1.1, a service's address) is not what it means elsewhere. Throws UnavailableError.
Socket listen_at(const HostPort& at);
/// A connection, or an empty socket and why there is none, at the latest at the deadline.
Socket connect_to(const HostPort& to, Clock::time_point deadline, std::string& why);
/// The next connection that waits; empty: none does.
Socket accept_from(const Socket& listening);
/// The address by which this side of the connection is known, without its port.
std::string own_address(const Socket& connected);

/// Wakes a thread that polls.
class Bell {
 public:
  Bell();
  void ring() const noexcept;
  void quiet() const noexcept;
  int fd() const noexcept { return event_.fd(); }

 private:
  Socket event_;
};

}  // namespace tidemark::comm
