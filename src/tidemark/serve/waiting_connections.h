// WaitingConnections: those of one thread that wait for their clients' bytes, in the order in which
// they began to. Where there is no room for another, the one that has waited longest goes: clients
// that send at once are served beside any number that do not.
//
//   WaitingConnections::Place place(connection);
//   waiting.add(place, Wait::first);     // until
//   place.leave();                       // what it waited for came
//   waiting.shed(Wait::reading);         // another one had to go
#pragma once

#include <array>
#include <chrono>
#include <list>
#include <utility>

namespace tidemark::serve {

/// For the first request, for the rest of one, or for another after one was answered. Those who
/// have asked before are the last to go.
enum class Wait { first, reading, idle };

/// One that may be told to go.
class Sheddable {
 public:
  virtual void shed() = 0;

 protected:
  ~Sheddable() = default;
};

/// One thread's: it alone calls these.
class WaitingConnections {
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Sheddable* connection;
    Clock::time_point since;
  };
  using Entries = std::list<Entry>;

 public:
  /// One connection's, which keeps it.
  class Place {
   public:
    explicit Place(Sheddable& connection) : away_{{&connection, {}}} {}
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    void leave() {
      if (in_) away_.splice(away_.end(), *std::exchange(in_, nullptr), at_);
    }

   private:
    friend class WaitingConnections;
    Entries away_;  // the entry, while it is in no other list
    Entries* in_ = nullptr;
    Entries::iterator at_;
  };

  /// Behind all others that wait so.
  void add(Place& place, Wait how) {
    place.leave();
    Entries& to = waiting_[static_cast<size_t>(how)];
    place.at_ = place.away_.begin();
    place.at_->since = Clock::now();
    to.splice(to.end(), place.away_);
    place.in_ = &to;
  }

  bool has_any(Wait how) const { return !waiting_[static_cast<size_t>(how)].empty(); }

  /// Tells the one that has waited longest to go, if that is longer than clients take that send at
  /// once. False: there is none.
  bool shed(Wait how, const Sheddable* but = nullptr) {
    constexpr auto kPatience = std::chrono::milliseconds(50);
    for (const Entry& one : waiting_[static_cast<size_t>(how)]) {
      if (one.connection == but) continue;
      if (Clock::now() - one.since < kPatience) return false;
      one.connection->shed();
      return true;
    }
    return false;
  }

 private:
  std::array<Entries, 3> waiting_;
};

}  // namespace tidemark::serve
