#include "tidemark/comm/sockets.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>

namespace tidemark::comm {

namespace {

constexpr int kWaiting = 128;  // connections that the system keeps until they are taken

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// Null, and why.
Addresses resolve(const HostPort& what, bool for_listening, std::string& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (for_listening) hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(what.host.empty() ? nullptr : what.host.c_str(), what.port.c_str(),
                                 &hints, &found);
  if (status != 0) {
    why = message("the name ", what.host,
                  " is not known here: ", std::string_view(gai_strerror(status)));
    found = nullptr;
  }
  return {found, [](addrinfo* list) {
            if (list) freeaddrinfo(list);
          }};
}

void send_at_once(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket listen_at(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         address.ai_protocol));
  if (!socket) return {};
  const int on = 1;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) return {};
  if (listen(socket.fd(), kWaiting) != 0) return {};
  return socket;
}

/// Waits until the connection stands; false with errno set.
bool finish_connecting(const Socket& socket, Clock::time_point deadline) {
  pollfd wanted{socket.fd(), POLLOUT, 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
  if (ready == 0) errno = ETIMEDOUT;
  if (ready <= 0) return false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

HostPort HostPort::parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  HostPort out;
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    out = {std::string(host), std::string(text.substr(colon + 1))};
  }
  int port = 0;
  const char* end = out.port.data() + out.port.size();
  const auto [after, error] = std::from_chars(out.port.data(), end, port);
  if (out.host.empty() || error != std::errc{} || after != end || port < 1 || port > 65535) {
    fail("\"", text, "\" is no address of a worker: expected host:port, as in 10.0.0.7:2222");
  }
  return out;
}

bool is_address(const std::string& host) {
  in6_addr room;
  return inet_pton(AF_INET, host.c_str(), &room) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

Socket listen_at(const HostPort& at) {
  std::string why;
  const bool is_own = is_address(at.host) || at.host == "localhost";
  const Addresses found = resolve(is_own ? at : HostPort{"", at.port}, true, why);
  for (const addrinfo* one = found.get(); one; one = one->ai_next) {
    if (Socket socket = listen_at(*one)) return socket;
    why = std::strerror(errno);
  }
  fail<UnavailableError>("cannot listen at ", at.host, ":", at.port, ": ", why,
                         ". The first worker needs its address for itself: end what uses it, or "
                         "name another port in TF_CONFIG of all workers");
}

Socket connect_to(const HostPort& to, Clock::time_point deadline, std::string& why) {
  const Addresses found = resolve(to, false, why);
  for (const addrinfo* one = found.get(); one; one = one->ai_next) {
    Socket socket(::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                           one->ai_protocol));
    if (!socket) {
      why = std::strerror(errno);
      continue;
    }
    const bool is_there = connect(socket.fd(), one->ai_addr, one->ai_addrlen) == 0 ||
                          (errno == EINPROGRESS && finish_connecting(socket, deadline));
    if (is_there) {
      send_at_once(socket);
      return socket;
    }
    why = std::strerror(errno);
  }
  return {};
}

Socket accept_from(const Socket& listening) {
  Socket socket(accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) send_at_once(socket);
  return socket;
}

std::string own_address(const Socket& connected) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[NI_MAXHOST] = {};
  if (getsockname(connected.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "127.0.0.1";
  }
  return text;
}

Bell::Bell() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!event_) fail<ResourceExhaustedError>("no more files can be opened: ", std::strerror(errno));
}

void Bell::ring() const noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_.fd(), &one, sizeof one);
}

void Bell::quiet() const noexcept {
  uint64_t count = 0;
  [[maybe_unused]] const auto taken = read(event_.fd(), &count, sizeof count);
}

}  // namespace tidemark::comm
