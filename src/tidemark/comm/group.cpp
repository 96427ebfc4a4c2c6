#include "tidemark/comm/group.h"

#include <cstring>

#include "tidemark/base/settings.h"
#include "tidemark/base/sha256.h"
#include "tidemark/comm/call.h"
#include "tidemark/comm/secret.h"
#include "tidemark/exec/long_work.h"

namespace tidemark::comm {

namespace {

/// How long the connections between two workers may take to stand, once all have joined.
constexpr std::chrono::seconds kConnecting{10};
constexpr int kAttempts = 3;

std::atomic<uint64_t> last_token{0};

}  // namespace

const char* const Group::kLeft = "it left a collective before its end";

std::shared_ptr<Group> Group::join(GroupOptions options) {
  const auto count = static_cast<int>(options.workers.size());
  if (count < 1 || options.rank < 0 || options.rank >= count) {
    fail("worker ", options.rank, " of a group of ", count, ": ranks go from 0 to ", count - 1);
  }
  const auto or_setting = [](std::chrono::milliseconds& time, const settings::Setting& setting) {
    if (time.count() <= 0) time = std::chrono::seconds(settings::integer(setting));
  };
  or_setting(options.join_time, settings::kJoinSeconds);
  or_setting(options.silence, settings::kSilenceSeconds);
  or_setting(options.collective_time, settings::kCollectiveSeconds);
  if (count > 1 && options.secret.empty()) options.secret = default_secret();
  const exec::LongWork others_go_on(true);
  return std::shared_ptr<Group>(new Group(std::move(options)));
}

std::shared_ptr<Group> Group::imagine(int rank, int size) {
  if (size < 1 || rank < 0 || rank >= size) {
    fail("an imagined group has at least one worker, and ranks from 0 on; given worker ", rank,
         " of ", size);
  }
  GroupOptions options{.rank = rank, .workers{}};
  options.workers.resize(static_cast<size_t>(size));
  options.is_imagined = true;
  return std::shared_ptr<Group>(new Group(std::move(options)));
}

Group::Group(GroupOptions options)
    : options_(std::move(options)), token_(0x636f6d6d00000000u + ++last_token) {
  if (size() == 1 || options_.is_imagined) return;
  Mesh::check_installed(options_.carrier);
  if (rank() == 0) {
    hub_ = std::make_unique<Hub>(HubOptions{HostPort::parse(options_.workers[0]), size(),
                                            options_.secret, options_.silence});
  }
  member_ = std::make_unique<Member>(MemberOptions{rank(), options_.workers, options_.secret,
                                                   options_.join_time, options_.silence},
                                     [this] { look_up(); });
  connect();
}

Group::~Group() {
  if (mesh_ && !failure().empty()) mesh_->disconnect();
  member_.reset();
  hub_.reset();
}

/// Gloo takes the first connection that comes, whoever makes it: everybody proves on every
/// connection that the secret is known, and where a stranger was quicker, all begin again.
void Group::connect() {
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string own, trouble;
    const auto attempted = [&](auto work) {
      try {
        if (trouble.empty()) work();
      } catch (const UnavailableError& error) {
        trouble = error.what();
      }
    };
    attempted([&] {
      mesh_ =
          std::make_unique<Mesh>(options_.carrier, rank(), size(), member_->address(), kConnecting);
      own = mesh_->addresses();
    });
    const std::vector<std::string> all = member_->exchange(own, kConnecting);
    attempted([&] {
      mesh_->connect(all);
      std::string everybody;
      for (const std::string& one : all) everybody += one;
      prove(everybody);
    });
    bool is_good = true;
    for (const std::string& said : member_->exchange(trouble, 3 * kConnecting)) {
      is_good = is_good && said.empty();
      if (!said.empty()) why = said;
    }
    if (is_good) return;
  }
  fail<UnavailableError>("the workers know each other, but cannot connect to each other: ", why);
}

void Group::prove(std::string_view everybody) {
  const std::string nonce(view(sha256(everybody)));
  const auto proof = [&](int from, int to) {
    return hmac(options_.secret, message("tidemark pair", nonce, from, " to ", to));
  };
  std::vector<Digest> sent(static_cast<size_t>(size())), got(sent.size());
  const MeshBuffer out = mesh_->buffer(sent.data(), sent.size() * sizeof(Digest));
  const MeshBuffer in = mesh_->buffer(got.data(), got.size() * sizeof(Digest));
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    const auto at = static_cast<size_t>(other);
    sent[at] = proof(rank(), other);
    mesh_->receive(in, other, 1, at * sizeof(Digest), sizeof(Digest));
    mesh_->send(out, other, 1, at * sizeof(Digest), sizeof(Digest));
  }
  for (int i = 1; i < size(); ++i) mesh_->wait_received(in, kConnecting);
  for (int i = 1; i < size(); ++i) mesh_->wait_sent(out, kConnecting);
  for (int other = 0; other < size(); ++other) {
    if (other != rank() &&
        !same(view(got[static_cast<size_t>(other)]), view(proof(other, rank())))) {
      fail<UnavailableError>("a stranger was connected in the place of ",
                             member_->name_of(static_cast<size_t>(other)));
    }
  }
}

void Group::look_up() noexcept {
  const std::lock_guard lock(mutex_);
  if (waited_for_) Mesh::wake(*waited_for_);
}

void Group::die(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
  }
  mesh_->disconnect();
  fail<UnavailableError>(why);
}

std::vector<Member::Seen> Group::seen() const {
  return member_ ? member_->all() : std::vector<Member::Seen>();
}

GroupTimes Group::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

std::string Group::failure() const {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return failure_;
  }
  return member_ ? member_->loss().text : std::string();
}

void Group::all_gather(const Piece& mine, const Piece& all) {
  Call call(*this, describe_call("all_gather", mine));
  const size_t bytes = mine.bytes();
  char* const place = static_cast<char*>(all.data) + bytes * static_cast<size_t>(rank());
  if (bytes == 0) return;
  std::memmove(place, mine.data, bytes);
  if (size() == 1) return;
  const MeshBuffer in = call.buffer(all.data, all.bytes());
  const MeshBuffer out = call.buffer(mine.data, bytes);
  for (int i = 1; i < size(); ++i) {
    const int from = (rank() + size() - i) % size();
    call.receive(in, from, 0, bytes * static_cast<size_t>(from), bytes);
    call.send(out, (rank() + i) % size(), 0, 0, bytes);
  }
  call.wait_received(in, size() - 1);
  call.wait_sent(out, size() - 1);
}

void Group::broadcast(const Piece& piece, int root) {
  if (root < 0 || root >= size()) {
    fail("broadcast from worker ", root, "; there are workers 0 to ", size() - 1);
  }
  Call call(*this, message(describe_call("broadcast", piece), " from worker ", root));
  if (size() == 1 || piece.count == 0) return;
  const MeshBuffer data = call.buffer(piece.data, piece.bytes());
  if (rank() != root) {
    call.receive(data, root, 0, 0, piece.bytes());
    return call.wait_received(data, 1);
  }
  for (int other = 0; other < size(); ++other) {
    if (other != root) call.send(data, other, 0, 0, piece.bytes());
  }
  call.wait_sent(data, size() - 1);
}

void Group::gather(std::span<const Piece> pieces, std::span<const Parts> parts,
                   std::string_view of) {
  Call call(*this, describe_call("gather", of, pieces, parts));
  if (size() == 1) return;
  std::vector<MeshBuffer> data;
  std::vector<int> sent(pieces.size()), awaited(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    data.push_back(call.buffer(pieces[i].data, pieces[i].bytes()));
    const Range own = range_of(parts[i], rank(), pieces[i].dtype);
    for (int k = 1; k < size(); ++k) {
      const int from = (rank() + size() - k) % size();
      const Range theirs = range_of(parts[i], from, pieces[i].dtype);
      call.receive(data[i], from, 0, theirs.offset, theirs.bytes);
      awaited[i] += theirs.bytes > 0;
      call.send(data[i], (rank() + k) % size(), 0, own.offset, own.bytes);
      sent[i] += own.bytes > 0;
    }
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    call.wait_received(data[i], awaited[i]);
    call.wait_sent(data[i], sent[i]);
  }
}

void Group::all_to_all(const Piece& from, const Piece& to) {
  Call call(*this, describe_call("all_to_all", from));
  const size_t part = from.bytes() / static_cast<size_t>(size());
  if (part == 0) return;
  const auto at = [&](int of) { return part * static_cast<size_t>(of); };
  std::memmove(static_cast<char*>(to.data) + at(rank()),
               static_cast<const char*>(from.data) + at(rank()), part);
  if (size() == 1) return;
  const MeshBuffer in = call.buffer(to.data, to.bytes());
  const MeshBuffer out = call.buffer(from.data, from.bytes());
  for (int i = 1; i < size(); ++i) {
    const int source = (rank() + size() - i) % size(), target = (rank() + i) % size();
    call.receive(in, source, 0, at(source), part);
    call.send(out, target, 0, at(target), part);
  }
  call.wait_received(in, size() - 1);
  call.wait_sent(out, size() - 1);
}

void Group::barrier() {
  Call call(*this, "barrier");
  if (size() == 1) return;
  uint8_t out = 1;
  std::vector<uint8_t> in(static_cast<size_t>(size()));
  const MeshBuffer from = call.buffer(&out, 1), into = call.buffer(in.data(), in.size());
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    call.receive(into, other, 0, static_cast<size_t>(other), 1);
    call.send(from, other, 0, 0, 1);
  }
  call.wait_received(into, size() - 1);
  call.wait_sent(from, size() - 1);
}

void Group::check_real() const {
  if (!options_.is_imagined || size() == 1) return;
  fail<FailedPreconditionError>("worker ", rank(), " of ", size(),
                                " is imagined, to plan for: it has nobody to compute with");
}

std::vector<std::string> Group::exchange(std::string_view own) {
  check_real();
  if (!member_) return {std::string(own)};
  if (const std::string why = failure(); !why.empty()) fail<UnavailableError>(why);
  const exec::LongWork others_go_on(true);
  return member_->exchange(own, options_.collective_time);
}

void Group::give_up(std::string_view why) {
  const exec::LongWork others_go_on(true);
  if (member_) member_->give_up(why);
}

uint64_t Group::start(std::function<void()> collectives) {
  check_real();
  return beside_.start(std::move(collectives));
}

void Group::finish(uint64_t ticket) {
  const Clock::time_point began = Clock::now();
  try {
    beside_.finish(ticket);
  } catch (...) {
    if (member_ && failure().empty()) member_->give_up(kLeft);  // this thread's run was stopped
    throw;
  }
  const std::lock_guard lock(mutex_);
  times_.waiting += Clock::now() - began;
}

void Group::settle() noexcept {
  try {
    const exec::LongWork others_go_on(true);
    return beside_.settle();
  } catch (...) {  // there is no time left for it
    if (member_) member_->give_up(kLeft);
  }
  const UninterruptedScope until_it_knows;
  const exec::LongWork others_go_on(true);
  beside_.settle();
}

void Group::leave(std::chrono::milliseconds limit) {
  const exec::LongWork others_go_on(true);
  if (member_) member_->leave(limit);
}

}  // namespace tidemark::comm
