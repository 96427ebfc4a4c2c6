#include "tidemark/comm/channel.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "tidemark/base/sha256.h"
#include "tidemark/base/wire.h"

namespace tidemark::comm {

namespace {

constexpr std::string_view kMagic = "tidemark-comm-1\n";
constexpr size_t kNumber = 32;
constexpr size_t kHead = 5;  // size and kind
constexpr size_t kSignature = 16;
/// Of a stranger, until it has signed something.
constexpr size_t kMostUntrusted = 1024;

std::string random_bytes(size_t count) {
  std::string out(count, '\0');
  if (getrandom(out.data(), count, 0) != static_cast<ssize_t>(count)) {
    fail<InternalError>("the system gives no random numbers: ", std::strerror(errno));
  }
  return out;
}

void put_fixed(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

Channel::Channel(Socket socket, Side side, std::string_view secret)
    : socket_(std::move(socket)),
      side_(side),
      secret_(secret),
      own_number_(random_bytes(kNumber)),
      output_(std::string(kMagic) + own_number_) {}

void Channel::close(std::string why) {
  if (is_closed()) return;
  why_ = std::move(why);
  socket_ = Socket();
  input_.clear();
  output_.clear();
  at_ = 0;
}

std::string Channel::sign(Side from, uint64_t number, std::string_view signed_bytes) const {
  std::string text(1, from == Side::hub ? 'h' : 'w');
  put_fixed(text, number, 8);
  text += signed_bytes;
  return std::string(view(hmac(key_, text)).substr(0, kSignature));
}

/// Takes the other side's number off the front; false: it has not come yet.
bool Channel::greet() {
  if (!key_.empty()) return true;
  const size_t known = std::min(input_.size(), kMagic.size());
  if (input_.compare(0, known, kMagic, 0, known) != 0) {
    close("what it says is not what a worker says");
    return false;
  }
  if (input_.size() < kMagic.size() + kNumber) return false;
  const std::string other = input_.substr(kMagic.size(), kNumber);
  input_.erase(0, kMagic.size() + kNumber);
  const bool is_hub = side_ == Side::hub;
  const std::string text =
      message("tidemark session", is_hub ? other : own_number_, is_hub ? own_number_ : other);
  key_ = std::string(view(hmac(secret_, text)));
  std::string_view waiting = early_;
  while (!waiting.empty()) {
    uint32_t size = 0;
    const auto kind = static_cast<Kind>(waiting[0]);
    waiting.remove_prefix(1);
    take_fixed(waiting, size);
    append(kind, waiting.substr(0, size));
    waiting.remove_prefix(size);
  }
  early_.clear();
  return true;
}

void Channel::append(Kind kind, std::string_view payload) {
  std::string head;
  put_fixed(head, payload.size(), 4);
  head += static_cast<char>(kind);
  const std::string whole = head + std::string(payload);
  output_ += whole;
  output_ += sign(side_, sent_++, whole);
}

void Channel::send(Kind kind, std::string_view payload) {
  if (is_closed()) return;
  if (payload.size() > kMostPayload) {
    fail<InternalError>("a message of ", payload.size(), " bytes; at most ", kMostPayload);
  }
  if (output_.size() - at_ + payload.size() > kMostWaiting) {
    close("it does not read what is sent to it");
    return;
  }
  if (key_.empty()) {
    early_ += static_cast<char>(kind);
    put_fixed(early_, payload.size(), 4);
    early_ += payload;
  } else {
    append(kind, payload);
  }
}

void Channel::flush() {
  while (!is_closed() && has_output()) {
    const ssize_t sent =
        ::send(socket_.fd(), output_.data() + at_, output_.size() - at_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) close(std::strerror(errno));
      return;
    }
    at_ += static_cast<size_t>(sent);
  }
  output_.clear();
  at_ = 0;
}

void Channel::fill() {
  const size_t most = is_trusted() || side_ == Side::worker ? kMostPayload + 64 : kMostUntrusted;
  while (!is_closed() && !has_ended_ && input_.size() < most) {
    char piece[16384];
    const size_t room = std::min(sizeof piece, most - input_.size());
    const ssize_t got = recv(socket_.fd(), piece, room, 0);
    if (got == 0) {
      has_ended_ = true;  // what came before still counts
      return;
    }
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) close(std::strerror(errno));
      return;
    }
    input_.append(piece, static_cast<size_t>(got));
  }
}

bool Channel::next(Frame& frame) {
  if (is_closed()) return false;
  if (take(frame)) return true;
  if (has_ended_) close("it closed the connection");
  return false;
}

bool Channel::take(Frame& frame) {
  if (!greet() || input_.size() < kHead) return false;
  std::string_view head = input_;
  uint32_t size = 0;
  take_fixed(head, size);
  const bool is_known =
      head[0] >= static_cast<char>(Kind::hello) && head[0] <= static_cast<char>(Kind::left);
  const size_t most = is_trusted() ? kMostPayload : kMostUntrusted - kHead - kSignature;
  if (!is_known || (side_ == Side::hub && size > most) || size > kMostPayload) {
    close("it sent something that no worker with this secret would");
    return false;
  }
  const size_t whole = kHead + size + kSignature;
  if (input_.size() < whole) return false;
  const std::string_view signed_bytes = std::string_view(input_).substr(0, kHead + size);
  const Side from = side_ == Side::hub ? Side::worker : Side::hub;
  if (!same(sign(from, received_, signed_bytes),
            std::string_view(input_).substr(kHead + size, kSignature))) {
    close("it does not hold the same secret");
    return false;
  }
  ++received_;
  frame.kind = static_cast<Kind>(input_[4]);
  frame.payload = input_.substr(kHead, size);
  input_.erase(0, whole);
  return true;
}

Writer& Writer::number(uint64_t value) {
  put_fixed(bytes_, value, 8);
  return *this;
}

Writer& Writer::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
  return *this;
}

uint64_t Reader::number() {
  uint64_t value = 0;
  ok_ = ok_ && take_fixed(rest_, value);
  return ok_ ? value : 0;
}

std::string_view Reader::text() {
  const uint64_t size = number();
  if (size > rest_.size()) ok_ = false;
  if (!ok_) return {};
  const std::string_view out = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return out;
}

}  // namespace tidemark::comm
