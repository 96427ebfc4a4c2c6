#include "tidemark/comm/call.h"

#include <exception>
#include <string_view>

namespace tidemark::comm {

namespace {

/// How long the hub may take to say who is lost after a connection broke.
constexpr std::chrono::seconds kVerdict{3};

}  // namespace

std::string describe_call(std::string_view what, const Piece& piece) {
  return message(what, " of ", piece.count, " ", name_of(piece.dtype));
}

std::string describe_call(std::string_view what, std::string_view of, std::span<const Piece> pieces,
                          std::span<const Parts> parts) {
  size_t bytes = 0, shares = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes();
  for (const Parts& one : parts) {
    const std::string_view bounds(reinterpret_cast<const char*>(one.data()),
                                  one.size() * sizeof(one[0]));
    shares = shares * 31 + std::hash<std::string_view>()(bounds);
  }
  return message(what, " of ", of, of.empty() ? "" : ": ", pieces.size(), " tensors of ", bytes,
                 " bytes, shared out as ", shares % 10000);
}

Range range_of(const Parts& parts, int worker, DType dtype) {
  const auto at = static_cast<size_t>(worker);
  const size_t width = size_of(dtype);
  return {static_cast<size_t>(parts[at]) * width,
          static_cast<size_t>(parts[at + 1] - parts[at]) * width};
}

/// Collectives come in the order of the program, wherever they run.
Group& Group::Call::after_all_started(Group& group) {
  group.beside_.settle();
  return group;
}

Group::Call::Call(Group& group, std::string what)
    : group_(after_all_started(group)),
      alone_(group.calls_),
      began_(Clock::now()),
      deadline_(began_ + group.options_.collective_time),
      uncaught_(std::uncaught_exceptions()) {
  group.check_real();
  if (const std::string why = group.failure(); !why.empty()) fail<UnavailableError>(why);
  if (!group_.member_) return;
  const auto kind = std::hash<std::string_view>()(what) & 0xffff;
  slot_ = group_.member_->begin(std::move(what)) << 24 | kind << 8;
}

Group::Call::~Call() {
  if (!group_.member_) return;
  group_.member_->end();
  {
    const std::lock_guard lock(group_.mutex_);
    const Clock::time_point now = Clock::now();
    ++group_.times_.collectives;
    group_.times_.inside += now - began_;
    // Where it goes on beside others, who needs it is who waits.
    if (met_ > began_ && !group_.beside_.is_here()) group_.times_.waiting += met_ - began_;
  }
  if (std::uncaught_exceptions() == uncaught_) return;
  // Others may be in the middle of what this one does not finish.
  group_.member_->give_up(kLeft);
}

void Group::Call::send(const MeshBuffer& from, int to, int phase, size_t offset, size_t bytes) {
  if (bytes == 0) return;
  carefully([&] { mesh().send(from, to, slot_ | static_cast<uint64_t>(phase), offset, bytes); });
  group_.bytes_sent_ += bytes;
}

void Group::Call::receive(const MeshBuffer& into, int from, int phase, size_t offset,
                          size_t bytes) {
  if (bytes == 0) return;
  carefully(
      [&] { mesh().receive(into, from, slot_ | static_cast<uint64_t>(phase), offset, bytes); });
}

void Group::Call::wait_received(const MeshBuffer& into, int count) {
  wait(into, count, &Mesh::wait_received);
}

void Group::Call::wait_sent(const MeshBuffer& from, int count) {
  wait(from, count, &Mesh::wait_sent);
}

void Group::Call::wait(const MeshBuffer& buffer, int count, Wait wait) {
  if (count == 0) return;
  struct Known {
    Group& group;
    Known(Group& g, const MeshBuffer& b) : group(g) { set(&b); }
    ~Known() { set(nullptr); }
    void set(const MeshBuffer* b) {
      const std::lock_guard lock(group.mutex_);
      group.waited_for_ = b;
    }
  } const known(group_, buffer);
  while (count > 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    const std::chrono::milliseconds limit = std::max(left, std::chrono::milliseconds(1));
    carefully([&] {
      if ((mesh().*wait)(buffer, limit) == Mesh::Waited::done) --count;
    });
    if (count == 0) break;
    if (const Loss loss = group_.member_->loss()) group_.die(loss.text);
    check_interrupt();
  }
  if (met_ == Clock::time_point{}) met_ = Clock::now();
}

template <class Work>
void Group::Call::carefully(Work work) {
  try {
    work();
  } catch (const UnavailableError& error) {
    if (Clock::now() >= deadline_) {
      const std::string late = group_.member_->who_lags();
      group_.die(message("a collective took longer than ",
                         group_.options_.collective_time.count() / 1000.0, " s",
                         late.empty() ? "" : ": ", late,
                         ". TIDEMARK_COLLECTIVE_SECONDS says how long one may take"));
    }
    const Loss loss = group_.member_->wait_for_loss(kVerdict);
    group_.die(
        loss ? loss.text
             : message("a connection to another worker broke: ", std::string_view(error.what())));
  }
}

}  // namespace tidemark::comm
