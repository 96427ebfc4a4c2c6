// The hub: where all workers of a group meet. A thread of the first worker's process listens at its
// address; every worker, the first one too, has a channel to it. It lets those in that hold the
// secret, hands round small pieces of bytes, hears from everybody a few times a second, and tells
// all as soon as one is lost: because its connection closed, because it was silent for too long,
// because it gave up, or because two workers do different things.
#pragma once

#include <tidemark/export.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tidemark/comm/channel.h"

namespace tidemark::comm {

struct HubOptions {
  HostPort at;
  int num_workers = 1;
  std::string secret;
  /// A worker that is not heard for so long is lost.
  std::chrono::milliseconds silence{30000};
};

/// How often workers are heard and told.
inline constexpr std::chrono::milliseconds kPulse{100};
/// Who has not shown the secret within this time is not listened to any more.
inline constexpr std::chrono::seconds kGreeting{5};
inline constexpr size_t kMostStrangers = 64;
/// Exchanges that some have given their part for and others not.
inline constexpr size_t kMostExchanges = 64;
/// In `lost`: no single worker is to blame.
inline constexpr uint64_t kNobody = ~uint64_t{0};

class Hub {
 public:
  /// Listens and starts the thread; throws UnavailableError where the address cannot be had.
  explicit Hub(HubOptions options);
  /// Tells those who are still there that the first worker has gone.
  ~Hub();
  Hub(const Hub&) = delete;

 private:
  class Work;
  std::unique_ptr<Work> work_;
  std::thread thread_;
};

/// What a worker does: how many collectives it has begun, which one it is in; and its memory.
struct Doing {
  uint64_t begun = 0;
  bool is_inside = false;
  std::string what;             // "all_reduce of 4 float32"
  uint64_t live = 0, peak = 0;  // bytes of tensors
};
void write(Writer& to, const Doing& doing);
Doing read_doing(Reader& from);

/// "in collective 12, all_reduce of 4 float32" or "after 11 collectives".
TIDEMARK_API std::string describe(const Doing& doing);

}  // namespace tidemark::comm
