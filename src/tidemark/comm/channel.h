// A connection between two processes that hold the same secret. First each sends a random number;
// from then on everything is frames, signed with a key made of the secret and both numbers. What is
// not signed, too long or out of order closes the channel: a stranger learns nothing and is
// listened to for a few bytes only.
//
//   frame: payload size (4 bytes), kind (1 byte), payload, signature (16 bytes)
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tidemark/comm/sockets.h"

namespace tidemark::comm {

/// What a frame is for. Workers to the hub: hello, beat, give, give_up, leave. The hub to workers:
/// welcome, refuse, pulse, all_given, lost, left.
enum class Kind : uint8_t {
  hello = 1,  ///< rank, number of workers, name: who wants to join
  welcome,    ///< everybody is there: the names of all, the number of this attempt
  refuse,     ///< why
  beat,       ///< what the worker is doing
  pulse,      ///< what every worker is doing, and who is missing
  give,       ///< a number and bytes: the worker's part of an exchange
  all_given,  ///< the same number and the parts of all
  give_up,    ///< the worker failed, and why
  lost,       ///< the group is dead: because of whom, and why
  leave,      ///< the worker has finished
  left,       ///< who has finished
};

struct Frame {
  Kind kind{};
  std::string payload;
};

/// Bytes of one frame's payload, at most.
inline constexpr size_t kMostPayload = size_t{1} << 20;
/// Bytes that may wait until the other side reads them.
inline constexpr size_t kMostWaiting = size_t{8} << 20;

class Channel {
 public:
  enum class Side : uint8_t { worker, hub };
  /// Sends the first bytes. Throws where no random numbers are to be had.
  Channel(Socket socket, Side side, std::string_view secret);

  const Socket& socket() const { return socket_; }
  /// Nothing will come or go any more; why() says why.
  bool is_closed() const { return !why_.empty(); }
  const std::string& why() const { return why_; }
  /// A frame was received that was signed with the secret.
  bool is_trusted() const { return received_ > 0; }
  bool has_output() const { return at_ < output_.size(); }

  /// Queues a frame; it goes out in flush(), or when the number of the other side is known.
  void send(Kind kind, std::string_view payload);
  /// Writes what the socket takes.
  void flush();
  /// Reads what has come. At most a frame and a little is kept.
  void fill();
  /// The next frame that has come whole. False, and the other side has ended: closed.
  bool next(Frame& frame);

 private:
  void close(std::string why);
  bool greet();
  bool take(Frame& frame);
  std::string sign(Side from, uint64_t number, std::string_view signed_bytes) const;
  void append(Kind kind, std::string_view payload);

  Socket socket_;
  const Side side_;
  const std::string secret_;
  std::string own_number_, key_;
  std::string input_, output_;
  std::string early_;  // frames that wait for the key: kind, size, payload
  size_t at_ = 0;      // in output_
  uint64_t sent_ = 0, received_ = 0;
  bool has_ended_ = false;  // the other side sends nothing more
  std::string why_;
};

/// Numbers and texts one after the other, as payloads.
class Writer {
 public:
  Writer& number(uint64_t value);
  Writer& text(std::string_view value);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads them again; what is cut off gives zeros and empty texts, and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  uint64_t number();
  std::string_view text();
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tidemark::comm
