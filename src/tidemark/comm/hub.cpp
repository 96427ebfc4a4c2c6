#include "tidemark/comm/hub.h"

#include <poll.h>

#include <list>
#include <map>
#include <optional>

#include "tidemark/base/threads.h"

namespace tidemark::comm {

namespace {

struct Stranger {
  Channel channel;
  Clock::time_point since;
};

/// A worker's place at the hub; empty until it has come.
struct Seat {
  std::unique_ptr<Channel> channel;
  std::string name;
  Clock::time_point heard;
  bool has_left = false;
  Doing doing;
};

std::string seconds(Clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count() / 100 /
                        10.0)
      .substr(0, 5);
}

}  // namespace

void write(Writer& to, const Doing& doing) {
  to.number(doing.begun).number(doing.is_inside).text(doing.what).number(doing.live);
  to.number(doing.peak);
}

Doing read_doing(Reader& from) {
  Doing doing;
  doing.begun = from.number();
  doing.is_inside = from.number() != 0;
  doing.what = from.text();
  doing.live = from.number();
  doing.peak = from.number();
  return doing;
}

std::string describe(const Doing& doing) {
  if (doing.is_inside) return message("in collective ", doing.begun, ", ", doing.what);
  return message("in none, after ", doing.begun, " of them");
}

class Hub::Work {
 public:
  explicit Work(HubOptions options)
      : options_(std::move(options)),
        listening_(listen_at(options_.at)),
        seats_(static_cast<size_t>(options_.num_workers)) {}

  void stop() {
    stops_ = true;
    bell_.ring();
  }

  void run() {
    while (!stops_) {
      wait();
      admit();
      for (size_t rank = 0; rank < seats_.size(); ++rank) hear(rank);
      if (Clock::now() >= next_pulse_) pulse();
      flush();
    }
    say_goodbye();
  }

 private:
  void wait() {
    std::vector<pollfd> wanted{{bell_.fd(), POLLIN, 0}};
    const auto add = [&](const Channel& channel) {
      if (channel.is_closed()) return;
      const short events = channel.has_output() ? POLLIN | POLLOUT : POLLIN;
      wanted.push_back({channel.socket().fd(), events, 0});
    };
    if (listening_) wanted.push_back({listening_.fd(), POLLIN, 0});
    for (const Stranger& stranger : strangers_) add(stranger.channel);
    for (const Seat& seat : seats_) {
      if (seat.channel) add(*seat.channel);
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_pulse_ - Clock::now()).count();
    poll(wanted.data(), wanted.size(), static_cast<int>(std::clamp<int64_t>(left, 0, 100)));
    bell_.quiet();
  }

  /// Listens to those who came; who shows the secret gets the seat it asks for.
  void admit() {
    while (listening_) {
      Socket socket = accept_from(listening_);
      if (!socket) break;
      // Somebody who opens connections and says nothing keeps nobody out.
      if (strangers_.size() >= kMostStrangers) strangers_.pop_front();
      strangers_.push_back(
          {Channel(std::move(socket), Channel::Side::hub, options_.secret), Clock::now()});
    }
    for (auto stranger = strangers_.begin(); stranger != strangers_.end();) {
      Channel& channel = stranger->channel;
      channel.flush();
      channel.fill();
      Frame frame;
      const bool spoke = channel.next(frame);
      if (spoke && frame.kind == Kind::hello) seat(std::move(channel), frame.payload);
      const bool is_late = Clock::now() - stranger->since > kGreeting;
      stranger = spoke || channel.is_closed() || is_late ? strangers_.erase(stranger)
                                                         : std::next(stranger);
    }
  }

  void seat(Channel channel, std::string_view hello) {
    Reader reader(hello);
    const uint64_t rank = reader.number(), count = reader.number();
    const std::string name(reader.text());
    std::string why;
    if (!reader.ok() || count != seats_.size() || rank >= seats_.size()) {
      why = message("it is worker ", rank, " of ", count, ", but this group has ", seats_.size(),
                    " workers; TF_CONFIG must name the same cluster everywhere");
    } else if (seats_[rank].channel) {
      why = message("worker ", rank, " is here already: ", seats_[rank].name,
                    "; give each worker an index of its own in TF_CONFIG");
    } else if (is_dead_) {
      why = "the group has lost a worker and is being given up; start all workers again";
    }
    if (!why.empty()) {
      channel.send(Kind::refuse, why);
      channel.flush();
      return;
    }
    Seat& mine = seats_[rank];
    mine.channel = std::make_unique<Channel>(std::move(channel));
    mine.name = name;
    mine.heard = Clock::now();
    if (++num_seated_ < seats_.size()) return;
    Writer names;
    for (const Seat& one : seats_) names.text(one.name);
    names.text(own_address(seats_.back().channel->socket()));
    tell_all(Kind::welcome, names.bytes());
  }

  void hear(size_t rank) {
    Seat& seat = seats_[rank];
    if (!seat.channel || seat.channel->is_closed()) return;
    seat.channel->fill();
    for (Frame frame; seat.channel->next(frame);) {
      seat.heard = Clock::now();
      handle(rank, frame);
    }
    if (!seat.channel->is_closed()) return;
    if (num_seated_ < seats_.size() && !is_dead_) {  // it may come again
      seat = {};
      --num_seated_;
    } else if (!seat.has_left) {
      lose(rank, message("its process has ended or was cut off (", seat.channel->why(), ")"));
    }
  }

  void handle(size_t rank, const Frame& frame) {
    Seat& seat = seats_[rank];
    Reader reader(frame.payload);
    switch (frame.kind) {
      case Kind::beat:
        seat.doing = read_doing(reader);
        break;
      case Kind::give:
        give(rank, frame.payload);
        break;
      case Kind::give_up:
        lose(rank, message("it gave up: ", std::string_view(frame.payload)));
        break;
      case Kind::leave:
        seat.has_left = true;
        tell_all(Kind::left, Writer().number(rank).bytes());
        break;
      default:
        break;
    }
  }

  void give(size_t rank, std::string_view payload) {
    Reader reader(payload);
    const uint64_t number = reader.number();
    auto& parts = exchanges_[number];
    if (exchanges_.size() > kMostExchanges) {
      return lose(rank, "it began more exchanges than it finished");
    }
    parts.resize(seats_.size());
    parts[rank] = std::string(reader.text());
    for (const auto& part : parts) {
      if (!part) return;
    }
    Writer all;
    all.number(number);
    for (const auto& part : parts) all.text(*part);
    exchanges_.erase(number);
    tell_all(Kind::all_given, all.bytes());
  }

  /// Tells everybody what is known of all, and finds who is silent or does something else.
  void pulse() {
    const Clock::time_point now = Clock::now();
    const bool was_away = next_pulse_ != Clock::time_point() && now - next_pulse_ > 10 * kPulse;
    next_pulse_ = now + kPulse;
    if (was_away) {  // this process was stopped itself: nobody could be heard
      for (Seat& seat : seats_) seat.heard = now;
    }
    Writer known;
    for (const Seat& seat : seats_) {
      known.number(seat.channel ? 1 : 0);
      write(known, seat.doing);
    }
    tell_all(Kind::pulse, known.bytes());
    if (num_seated_ < seats_.size()) return;
    for (size_t rank = 0; rank < seats_.size(); ++rank) {
      const Seat& seat = seats_[rank];
      if (!seat.has_left && now - seat.heard > options_.silence) {
        lose(rank, message("it has not been heard for ", seconds(now - seat.heard),
                           " s: it is stopped, or the network to it is down"));
      }
    }
    find_difference();
  }

  void find_difference() {
    for (size_t rank = 0; rank < seats_.size(); ++rank) {
      const Seat& seat = seats_[rank];
      const Seat& first = seats_[0];
      if (seat.doing.is_inside && first.doing.is_inside && seat.doing.begun == first.doing.begun &&
          seat.doing.what != first.doing.what) {
        return lose(kNobody,
                    message("the workers do different things: worker 0 is ", describe(first.doing),
                            ", and worker ", rank, " is ", describe(seat.doing)));
      }
      for (size_t other = 0; other < seats_.size(); ++other) {
        const Seat& waits = seats_[other];
        if (seat.has_left && waits.doing.is_inside && waits.doing.begun > seat.doing.begun) {
          return lose(rank,
                      message("it has finished after ", seat.doing.begun,
                              " collectives, while worker ", other, " is ", describe(waits.doing)));
        }
      }
    }
  }

  void lose(uint64_t rank, std::string_view why) {
    if (is_dead_) return;
    is_dead_ = true;
    listening_ = Socket();
    strangers_.clear();
    tell_all(Kind::lost, Writer().number(rank).text(why).bytes());
  }

  void tell_all(Kind kind, std::string_view payload) {
    for (Seat& seat : seats_) {
      if (seat.channel) seat.channel->send(kind, payload);
    }
  }

  void flush() {
    for (Stranger& stranger : strangers_) stranger.channel.flush();
    for (Seat& seat : seats_) {
      if (seat.channel) seat.channel->flush();
    }
  }

  void say_goodbye() {
    const Clock::time_point until = Clock::now() + std::chrono::seconds(1);
    bool is_waiting = true;
    while (is_waiting && Clock::now() < until) {
      flush();
      is_waiting = false;
      for (const Seat& seat : seats_) is_waiting |= seat.channel && seat.channel->has_output();
      if (is_waiting) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const HubOptions options_;
  Socket listening_;
  Bell bell_;
  std::atomic<bool> stops_{false};
  std::list<Stranger> strangers_;
  std::vector<Seat> seats_;
  size_t num_seated_ = 0;
  bool is_dead_ = false;
  std::map<uint64_t, std::vector<std::optional<std::string>>> exchanges_;
  Clock::time_point next_pulse_;
};

Hub::Hub(HubOptions options) : work_(std::make_unique<Work>(std::move(options))) {
  thread_ = start_thread("the hub of a group of workers", [work = work_.get()] { work->run(); });
}

Hub::~Hub() {
  work_->stop();
  thread_.join();
}

}  // namespace tidemark::comm
