#include "tidemark/comm/member.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <tidemark/memory.h>

#include "tidemark/base/threads.h"

namespace tidemark::comm {

namespace {

constexpr std::chrono::milliseconds kTryAgain{100};
constexpr std::chrono::seconds kSayAgain{5};

int milliseconds_until(Clock::time_point time) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(time - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1000));
}

}  // namespace

Member::Member(MemberOptions options, std::function<void()> on_news)
    : options_(std::move(options)), on_news_(std::move(on_news)), others_(options_.workers.size()) {
  join();
  heard_ = Clock::now();
  thread_ = start_thread("a group of workers", [this] { serve(); });
}

Member::~Member() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  bell_.ring();
  thread_.join();
}

std::string Member::name_of(size_t rank) const {
  if (rank >= size()) return "the group";
  const std::string& name = others_[rank].name;
  return message("worker ", rank, " (", name.empty() ? options_.workers[rank] : name, ")");
}

void Member::join() {
  const Clock::time_point deadline = Clock::now() + options_.join_time;
  std::string why;
  for (Clock::time_point say = Clock::now() + kSayAgain; !try_to_join(deadline, why);) {
    check_interrupt();
    if (!refused_.empty()) {
      fail<FailedPreconditionError>("the group of workers at ", options_.workers[0],
                                    " does not take this one: ", refused_);
    }
    if (Clock::now() >= deadline) {
      fail<UnavailableError>(
          "waited ", options_.join_time.count() / 1000.0, " s for the other workers: ", missing(),
          why.empty() ? "" : ". ", why,
          ". Start all workers that TF_CONFIG names, with the same TIDEMARK_SECRET; "
          "TIDEMARK_JOIN_SECONDS says how long to wait");
    }
    if (Clock::now() >= say) {
      std::fprintf(stderr, "tidemark: worker %d waits for %s%s%s\n", options_.rank,
                   missing().c_str(), why.empty() ? "" : ": ", why.c_str());
      say = Clock::now() + kSayAgain;
    }
    std::this_thread::sleep_for(kTryAgain);
  }
}

std::string Member::missing() const {
  std::string out;
  for (size_t rank = 0; rank < others_.size(); ++rank) {
    if (others_[rank].is_there || rank == static_cast<size_t>(options_.rank)) continue;
    out += message(out.empty() ? "" : ", ", "worker ", rank, " (", options_.workers[rank], ")");
  }
  return out.empty() ? "the group" : out;
}

bool Member::try_to_join(Clock::time_point deadline, std::string& why) {
  Socket socket = connect_to(HostPort::parse(options_.workers[0]),
                             std::min(deadline, Clock::now() + kSayAgain), why);
  if (!socket) {
    why = message("no connection to worker 0 at ", options_.workers[0], ": ", why);
    return false;
  }
  address_ = own_address(socket);
  auto channel =
      std::make_unique<Channel>(std::move(socket), Channel::Side::worker, options_.secret);
  const auto rank = static_cast<size_t>(options_.rank);
  channel->send(Kind::hello, Writer()
                                 .number(rank)
                                 .number(size())
                                 .text(message(options_.workers[rank], ", process ", getpid()))
                                 .bytes());
  wait_for_welcome(*channel, deadline, why);
  if (!is_welcome_) return false;
  channel_ = std::move(channel);
  return true;
}

void Member::wait_for_welcome(Channel& channel, Clock::time_point deadline, std::string& why) {
  const Interrupt* const asked = thread_interrupt;
  Clock::time_point say = Clock::now() + kSayAgain, heard = Clock::now();
  while (Clock::now() < deadline && !channel.is_closed() && refused_.empty()) {
    channel.flush();
    pollfd wanted{channel.socket().fd(),
                  static_cast<short>(channel.has_output() ? POLLIN | POLLOUT : POLLIN), 0};
    poll(&wanted, 1, 50);
    if (asked) check_interrupt();
    channel.fill();
    for (Frame frame; !is_welcome_ && channel.next(frame);) {
      heard = Clock::now();
      handle(frame);
    }
    if (is_welcome_) return;
    // What it said last of the others is no news any more.
    if (channel.is_trusted() && Clock::now() - heard > options_.silence / 2) {
      for (Other& other : others_) other.is_there = true;
      others_[0].is_there = false;
    }
    if (Clock::now() >= say) {
      std::fprintf(stderr, "tidemark: worker %d waits for %s\n", options_.rank, missing().c_str());
      say = Clock::now() + kSayAgain;
    }
  }
  if (channel.is_closed() && !channel.is_trusted()) {
    why = message("worker 0 at ", options_.workers[0], " turned this one away (", channel.why(),
                  "): do both have the same TIDEMARK_SECRET?");
  } else {
    why = channel.why();
  }
}

void Member::serve() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stops_) break;
    }
    poll_once();
  }
  for (const auto& [kind, payload] : to_send_) channel_->send(kind, payload);
  channel_->flush();
}

void Member::poll_once() {
  pollfd wanted[2] = {{bell_.fd(), POLLIN, 0}, {-1, 0, 0}};
  if (!channel_->is_closed()) {
    wanted[1] = {channel_->socket().fd(),
                 static_cast<short>(channel_->has_output() ? POLLIN | POLLOUT : POLLIN), 0};
  }
  const Clock::time_point before = Clock::now();
  poll(wanted, 2, milliseconds_until(next_beat_));
  bell_.quiet();
  // Stopped itself meanwhile: what the hub said is still to be read.
  if (Clock::now() - before > options_.silence / 2) heard_ = Clock::now();
  channel_->fill();
  for (Frame frame; channel_->next(frame);) {
    heard_ = Clock::now();
    handle(frame);
  }
  if (channel_->is_closed()) {
    note_loss(0, others_[0].has_left
                     ? "it has finished"
                     : message("its process has ended or was cut off (", channel_->why(), ")"));
  } else if (Clock::now() - heard_ > options_.silence) {
    note_loss(0, message("it has not been heard for ", options_.silence.count() / 1000.0,
                         " s: it is stopped, or the network to it is down"));
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [kind, payload] : to_send_) channel_->send(kind, payload);
    to_send_.clear();
  }
  if (Clock::now() >= next_beat_) beat();
  channel_->flush();
}

void Member::beat() {
  next_beat_ = Clock::now() + kPulse;
  on_news_();
  const std::lock_guard lock(mutex_);
  channel_->send(Kind::beat, what_it_does());
}

/// Under the lock.
std::string Member::what_it_does() const {
  const memory::Stats memory = memory::stats();
  Doing now = doing_;
  now.live = static_cast<uint64_t>(std::max<int64_t>(memory.live, 0));
  now.peak = static_cast<uint64_t>(std::max<int64_t>(memory.peak, 0));
  Writer writer;
  write(writer, now);
  return writer.bytes();
}

std::vector<Member::Seen> Member::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Seen> out;
  for (size_t rank = 0; rank < others_.size(); ++rank) {
    const Other& other = others_[rank];
    out.push_back({name_of(rank), other.doing, other.is_there && !other.has_left});
  }
  return out;
}

void Member::handle(const Frame& frame) {
  Reader reader(frame.payload);
  switch (frame.kind) {
    case Kind::welcome: {
      const std::lock_guard lock(mutex_);
      for (Other& other : others_) other.name = reader.text();
      // By its name the first worker may know itself as 127.0.1.1; the others do not.
      if (options_.rank == 0) address_ = reader.text();
      is_welcome_ = reader.ok();
      break;
    }
    case Kind::refuse:
      refused_ = frame.payload;
      break;
    case Kind::pulse:
      note_pulse(frame.payload);
      break;
    case Kind::all_given: {
      const uint64_t number = reader.number();
      std::vector<std::string> parts;
      for (size_t i = 0; i < size(); ++i) parts.emplace_back(reader.text());
      const std::lock_guard lock(mutex_);
      if (reader.ok()) given_[number] = std::move(parts);
      told_.notify_all();
      break;
    }
    case Kind::lost: {
      const uint64_t rank = reader.number();
      note_loss(rank, std::string(reader.text()));
      break;
    }
    case Kind::left: {
      const uint64_t rank = reader.number();
      const std::lock_guard lock(mutex_);
      if (rank < others_.size()) others_[rank].has_left = true;
      told_.notify_all();
      break;
    }
    default:
      break;
  }
}

void Member::note_pulse(std::string_view payload) {
  Reader reader(payload);
  const std::lock_guard lock(mutex_);
  for (Other& other : others_) {
    other.is_there = reader.number() != 0;
    other.doing = read_doing(reader);
  }
}

void Member::note_loss(uint64_t rank, std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (loss_ || leaves_) return;
    loss_ = {rank, rank == kNobody ? std::move(why)
                                   : message(name_of(rank), " is lost: ", std::move(why))};
    told_.notify_all();
  }
  on_news_();
}

std::vector<std::string> Member::exchange(std::string_view own, std::chrono::milliseconds limit) {
  if (own.size() + 16 > kMostPayload / size() - 16) {
    fail("a message of ", own.size(), " bytes to ", size(), " workers; at most ",
         kMostPayload / size() - 32, " can be exchanged at once");
  }
  const Clock::time_point deadline = Clock::now() + limit;
  std::unique_lock lock(mutex_);
  const uint64_t number = ++exchanges_;
  to_send_.emplace_back(Kind::give, Writer().number(number).text(own).bytes());
  bell_.ring();
  const auto is_done = [&] { return given_.contains(number) || loss_ || Clock::now() >= deadline; };
  while (!is_done()) {
    told_.wait_for(lock, std::chrono::milliseconds(20));
    if (!thread_interrupt) continue;
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
  if (const auto found = given_.find(number); found != given_.end()) {
    std::vector<std::string> out = std::move(found->second);
    given_.erase(found);
    return out;
  }
  if (loss_) fail<UnavailableError>(loss_.text);
  fail<DeadlineExceededError>("waited ", limit.count() / 1000.0, " s for a message of all workers");
}

uint64_t Member::begin(std::string what) {
  const std::lock_guard lock(mutex_);
  doing_.is_inside = true;
  doing_.what = std::move(what);
  return ++doing_.begun;
}

void Member::end() {
  const std::lock_guard lock(mutex_);
  doing_.is_inside = false;
}

Loss Member::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

Loss Member::wait_for_loss(std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  told_.wait_for(lock, limit, [&] { return bool(loss_); });
  return loss_;
}

std::string Member::who_lags() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (size_t rank = 0; rank < others_.size(); ++rank) {
    const Doing& doing = others_[rank].doing;
    if (rank == static_cast<size_t>(options_.rank) || doing.begun >= doing_.begun) continue;
    out += message(out.empty() ? "" : "; ", name_of(rank), " is ", describe(doing));
  }
  return out;
}

void Member::give_up(std::string_view why) {
  {
    const std::lock_guard lock(mutex_);
    if (loss_) return;
    to_send_.emplace_back(Kind::give_up, std::string(why.substr(0, 4096)));
  }
  bell_.ring();
  // It has to be out before the process goes on to its end.
  wait_for_loss(std::chrono::seconds(1));
}

void Member::leave(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (loss_ || leaves_) return;
  // Who has left is held against the last that was heard of it: that must not be a beat old.
  to_send_.emplace_back(Kind::beat, what_it_does());
  to_send_.emplace_back(Kind::leave, "");
  bell_.ring();
  const auto all_left = [&] {
    if (loss_) return true;
    for (const Other& other : others_) {
      if (!other.has_left) return false;
    }
    return true;
  };
  told_.wait_for(lock, limit, all_left);
  leaves_ = true;
}

}  // namespace tidemark::comm
