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
/// A scratch block of this size serves every collective: two segments from each of the others.
constexpr size_t kScratch = size_t{1} << 20;
constexpr size_t kLargestSegment = size_t{256} << 10;
/// So small is sent whole to everybody: one message's time instead of two.
constexpr size_t kAtOnce = size_t{16} << 10;
constexpr int kFewWorkers = 8;
/// Pieces so small travel together, in a block of this size.
constexpr size_t kSmall = size_t{64} << 10;
constexpr size_t kTogether = size_t{512} << 10;

std::atomic<uint64_t> last_token{0};

std::string text_of(std::string_view what, const Piece& piece) {
  return message(what, " of ", piece.count, " ", name_of(piece.dtype));
}

}  // namespace

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

Group::Group(GroupOptions options)
    : options_(std::move(options)), token_(0x636f6d6d00000000u + ++last_token) {
  if (size() == 1) return;
  Mesh::check_installed();
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
      mesh_ = std::make_unique<Mesh>(rank(), size(), member_->address(), kConnecting);
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

std::string Group::failure() const {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return failure_;
  }
  return member_ ? member_->loss().text : std::string();
}

size_t Group::scratch_bytes() const { return size() > 1 ? kScratch + kTogether : 0; }

/// Bytes that go at once; two from each of the others fit into the scratch block.
size_t Group::segment() const {
  const size_t fits = kScratch / 2 / static_cast<size_t>(size() - 1);
  return std::max<size_t>(std::min(fits, kLargestSegment) / 64 * 64, 64);
}

void Group::all_reduce(std::span<const Piece> pieces, Reduce reduce, void* scratch) {
  for (const Piece& piece : pieces) check_reducible(piece.dtype, reduce);
  if (const std::string why = failure(); !why.empty()) fail<UnavailableError>(why);
  auto* const block = static_cast<char*>(scratch) + kScratch;
  while (!pieces.empty()) {
    const std::span<const Piece> few = pieces.first(num_together(pieces));
    pieces = pieces.subspan(few.size());
    if (few.size() == 1) {
      all_reduce(few[0], reduce, scratch);
      continue;
    }
    Piece joined{block, 0, few[0].dtype};
    for (const Piece& piece : few) {
      std::memcpy(block + joined.bytes(), piece.data, piece.bytes());
      joined.count += piece.count;
    }
    all_reduce(joined, reduce, scratch);
    const char* from = block;
    for (const Piece& piece : few) {
      std::memcpy(piece.data, from, piece.bytes());
      from += piece.bytes();
    }
  }
}

/// How many of the first pieces travel as one.
size_t Group::num_together(std::span<const Piece> pieces) const {
  size_t bytes = 0, count = 0;
  while (count < pieces.size() && pieces[count].dtype == pieces[0].dtype &&
         pieces[count].bytes() <= kSmall && bytes + pieces[count].bytes() <= kTogether) {
    bytes += pieces[count++].bytes();
  }
  return size() == 1 ? 1 : std::max<size_t>(count, 1);
}

void Group::all_reduce(const Piece& piece, Reduce reduce, void* scratch) {
  if (size() == 1 || piece.count == 0) return;
  Call call(*this, text_of(message("all_reduce by ", name_of(reduce)), piece));
  const bool is_small = piece.bytes() <= kAtOnce && size() <= kFewWorkers;
  is_small ? reduce_at_once(call, piece, reduce, scratch)
           : reduce_together(call, piece, reduce, scratch);
}

/// Everybody gets everything and adds it up.
void Group::reduce_at_once(Call& call, const Piece& piece, Reduce reduce, void* scratch) {
  const size_t bytes = piece.bytes();
  auto* const all = static_cast<char*>(scratch);
  const MeshBuffer in = call.buffer(all, bytes * static_cast<size_t>(size()));
  const MeshBuffer out = call.buffer(piece.data, bytes);
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    call.receive(in, other, 0, bytes * static_cast<size_t>(other), bytes);
    call.send(out, other, 0, 0, bytes);
  }
  call.wait_received(in, size() - 1);
  call.wait_sent(out, size() - 1);
  const auto part = [&](int of) -> char* {
    return of == rank() ? static_cast<char*>(piece.data) : all + bytes * static_cast<size_t>(of);
  };
  // The first two into the first's place: to the bit, the order of two does not matter.
  for (int other = 1; other < size(); ++other) {
    accumulate(part(0), part(other), piece.count, piece.dtype, reduce);
  }
  if (rank() != 0) std::memcpy(piece.data, all, bytes);
}

/// Each worker adds up a share of the elements and gives the result to all, segment by segment.
void Group::reduce_together(Call& call, const Piece& piece, Reduce reduce, void* scratch) {
  const auto width = static_cast<int64_t>(size_of(piece.dtype));
  const int64_t step = std::max<int64_t>(static_cast<int64_t>(segment()) / width, 1);
  const auto begin_of = [&](int of) { return piece.count * of / size(); };
  /// Segment `k` of the share: where it begins and how many elements it has.
  const auto part = [&](int of, int64_t k) {
    const int64_t begin = std::min(begin_of(of) + k * step, begin_of(of + 1));
    return std::pair(static_cast<size_t>(begin * width),
                     static_cast<size_t>(std::min(step, begin_of(of + 1) - begin) * width));
  };
  int64_t most = 0;
  for (int of = 0; of < size(); ++of) most = std::max(most, begin_of(of + 1) - begin_of(of));
  const int64_t segments = (most + step - 1) / step;
  const auto slot_bytes = static_cast<size_t>(step * width);
  const size_t half = static_cast<size_t>(size() - 1) * slot_bytes;
  const auto place = [&](int other) {
    return static_cast<size_t>(other < rank() ? other : other - 1) * slot_bytes;
  };
  auto* const all = static_cast<char*>(piece.data);
  char* const parts[] = {static_cast<char*>(scratch), static_cast<char*>(scratch) + half};
  const MeshBuffer data = call.buffer(all, piece.bytes());
  // By turns, or a quick worker's next segment would count for a slow one's.
  const MeshBuffer in[] = {call.buffer(parts[0], half), call.buffer(parts[1], half)};
  int sent = 0, gathered = 0;
  const auto ask = [&](int64_t k) {  // everybody's segment of this worker's share
    for (int other = 0; other < size() && k < segments; ++other) {
      if (other != rank()) call.receive(in[k % 2], other, 0, place(other), part(rank(), k).second);
    }
  };
  const auto give = [&](int64_t k) {  // to everybody, of their shares; and be ready for the results
    for (int i = 1; i < size() && k < segments; ++i) {
      const int other = (rank() + i) % size();
      const auto [offset, bytes] = part(other, k);
      if (bytes == 0) continue;
      call.receive(data, other, 1, offset, bytes);
      call.send(data, other, 0, offset, bytes);
      ++sent;
      ++gathered;
    }
  };
  ask(0);
  ask(1);
  give(0);
  give(1);
  for (int64_t k = 0; k < segments; ++k) {
    const auto [offset, bytes] = part(rank(), k);
    if (bytes > 0) {
      call.wait_received(in[k % 2], size() - 1);
      const auto count = static_cast<int64_t>(bytes) / width;
      const auto add = [&](void* sum, const void* more) {
        accumulate(sum, more, count, piece.dtype, reduce);
      };
      // In the order of the ranks; this worker's own stands where the result is to be.
      char* before = nullptr;
      for (int other = 0; other < size(); ++other) {
        if (other == rank()) {
          if (before) add(all + offset, before);
          continue;
        }
        char* const theirs = parts[k % 2] + place(other);
        if (other > rank()) {
          add(all + offset, theirs);
        } else if (before) {
          add(before, theirs);
        } else {
          before = theirs;
        }
      }
      for (int i = 1; i < size(); ++i) {
        call.send(data, (rank() + i) % size(), 1, offset, bytes);
        ++sent;
      }
    }
    ask(k + 2);
    give(k + 2);
  }
  call.wait_received(data, gathered);
  call.wait_sent(data, sent);
}

void Group::reduce_scatter(const Piece& whole, const Piece& mine, Reduce reduce, void* scratch) {
  check_reducible(whole.dtype, reduce);
  Call call(*this, text_of(message("reduce_scatter by ", name_of(reduce)), whole));
  const size_t part = mine.bytes();
  char* const own = static_cast<char*>(whole.data) + part * static_cast<size_t>(rank());
  const size_t step = std::min(part, size() > 1 ? segment() : part);
  auto* const in_scratch = static_cast<char*>(scratch);
  if (size() == 1 || part == 0) {
    if (part > 0) std::memmove(mine.data, own, part);
    return;
  }
  const MeshBuffer out = call.buffer(whole.data, whole.bytes());
  const MeshBuffer in = call.buffer(scratch, step * static_cast<size_t>(size()));
  for (size_t at = 0; at < part; at += step) {
    const size_t bytes = std::min(step, part - at);
    for (int i = 1; i < size(); ++i) {
      const int from = (rank() + size() - i) % size(), to = (rank() + i) % size();
      call.receive(in, from, 0, step * static_cast<size_t>(from), bytes);
      call.send(out, to, 0, part * static_cast<size_t>(to) + at, bytes);
    }
    call.wait_received(in, size() - 1);
    std::memcpy(in_scratch + step * static_cast<size_t>(rank()), own + at, bytes);
    const auto count = static_cast<int64_t>(bytes / size_of(whole.dtype));
    for (int other = 1; other < size(); ++other) {
      accumulate(in_scratch, in_scratch + step * static_cast<size_t>(other), count, whole.dtype,
                 reduce);
    }
    std::memcpy(static_cast<char*>(mine.data) + at, in_scratch, bytes);
    call.wait_sent(out, size() - 1);
  }
}

void Group::all_gather(const Piece& mine, const Piece& all) {
  Call call(*this, text_of("all_gather", mine));
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
  Call call(*this, message(text_of("broadcast", piece), " from worker ", root));
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

void Group::all_to_all(const Piece& from, const Piece& to) {
  Call call(*this, text_of("all_to_all", from));
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

std::vector<std::string> Group::exchange(std::string_view own) {
  if (!member_) return {std::string(own)};
  if (const std::string why = failure(); !why.empty()) fail<UnavailableError>(why);
  const exec::LongWork others_go_on(true);
  return member_->exchange(own, options_.collective_time);
}

void Group::give_up(std::string_view why) {
  const exec::LongWork others_go_on(true);
  if (member_) member_->give_up(why);
}

void Group::leave(std::chrono::milliseconds limit) {
  const exec::LongWork others_go_on(true);
  if (member_) member_->leave(limit);
}

}  // namespace tidemark::comm
