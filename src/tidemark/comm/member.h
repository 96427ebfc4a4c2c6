// A worker's side of the hub: joins, says what it does, learns who is lost.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tidemark/comm/hub.h"

namespace tidemark::comm {

struct MemberOptions {
  int rank = 0;
  /// host:port of all workers, by rank; the hub is at the first.
  std::vector<std::string> workers;
  std::string secret;
  std::chrono::milliseconds join_time{600000};
  std::chrono::milliseconds silence{30000};
};

/// Why the group is dead. An empty text: it is not.
struct Loss {
  uint64_t rank = kNobody;
  std::string text;  // names the worker
  explicit operator bool() const { return !text.empty(); }
};

class Member {
 public:
  /// Joins, or throws UnavailableError that names those who did not come. Says now and then on the
  /// standard error whom it waits for. `on_news` is called a few times a second
  /// and as soon as somebody is lost, on a thread of the member's.
  Member(MemberOptions options, std::function<void()> on_news);
  /// Without leave() the others take it for lost.
  ~Member();
  Member(const Member&) = delete;

  size_t size() const { return options_.workers.size(); }
  /// "worker 2 (10.0.0.3:2222, process 4711)"
  std::string name_of(size_t rank) const;
  /// The address by which this process reaches the hub.
  const std::string& address() const { return address_; }

  /// Everybody's bytes, by rank; all workers call it in the same order. Throws what loss() says,
  /// and DeadlineExceededError.
  std::vector<std::string> exchange(std::string_view own, std::chrono::milliseconds limit);

  /// A collective begins; returns its number, from 1.
  uint64_t begin(std::string what);
  void end();

  Loss loss() const;
  /// Waits for the verdict on what was seen here, up to `limit`.
  Loss wait_for_loss(std::chrono::milliseconds limit) const;
  struct Seen {
    std::string name;
    Doing doing;
    bool is_there = false;
  };
  /// All workers, by rank, as they were heard last.
  std::vector<Seen> all() const;
  /// Who is behind, for a collective that takes too long: "worker 2 (…) is in none, after 11".
  std::string who_lags() const;
  /// Tells all others that this one failed.
  void give_up(std::string_view why);
  /// Has finished. Waits until all others have, as long as that.
  void leave(std::chrono::milliseconds limit);

 private:
  struct Other {
    bool is_there = false, has_left = false;
    std::string name;
    Doing doing;
  };
  void join();
  bool try_to_join(Clock::time_point deadline, std::string& why);
  void wait_for_welcome(Channel& channel, Clock::time_point deadline, std::string& why);
  std::string missing() const;
  void serve();
  void poll_once();
  void handle(const Frame& frame);
  void note_pulse(std::string_view payload);
  void note_loss(uint64_t rank, std::string why);
  void beat();
  std::string what_it_does() const;

  const MemberOptions options_;
  const std::function<void()> on_news_;
  std::string address_;
  std::unique_ptr<Channel> channel_;  // of the thread, once that runs
  Bell bell_;

  mutable std::mutex mutex_;
  mutable std::condition_variable told_;
  std::vector<Other> others_;
  Doing doing_;
  Loss loss_;
  std::map<uint64_t, std::vector<std::string>> given_;
  std::vector<std::pair<Kind, std::string>> to_send_;
  uint64_t exchanges_ = 0;
  bool is_welcome_ = false, stops_ = false, leaves_ = false;
  std::string refused_;

  Clock::time_point heard_, next_beat_;
  std::thread thread_;
};

}  // namespace tidemark::comm
