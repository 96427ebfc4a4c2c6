// Sums, products and extremes over all workers, each in the order of the ranks.
#include <cstring>

#include "tidemark/comm/call.h"

namespace tidemark::comm {

namespace {

/// A scratch block of this size serves every collective: two segments from each of the others.
constexpr size_t kScratch = size_t{1} << 20;
constexpr size_t kLargestSegment = size_t{256} << 10;
/// So small is sent whole to everybody: one message's time instead of two.
constexpr size_t kAtOnce = size_t{16} << 10;
constexpr int kFewWorkers = 8;
/// Pieces so small travel together, in a block of this size.
constexpr size_t kSmall = size_t{64} << 10;
constexpr size_t kTogether = size_t{512} << 10;

}  // namespace

size_t Group::scratch_bytes(bool all) const {
  if (size() == 1) return 0;
  return all ? kScratch + kTogether : kScratch;
}

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
  Call call(*this, describe_call(message("all_reduce by ", name_of(reduce)), piece));
  goes_at_once(piece) ? reduce_at_once(call, piece, reduce, scratch)
                      : reduce_together(call, piece, reduce, scratch);
}

/// Among those of the others in a scratch block.
size_t Group::place_of(int other) const {
  return static_cast<size_t>(other < rank() ? other : other - 1);
}

/// `own` becomes the reduction of what all workers have for it, in the order of the ranks. What the
/// others sent lies in `theirs`, each `stride` bytes from the one before, and is written over.
void Group::add_in_order(const Piece& own, Reduce reduce, char* theirs, size_t stride) const {
  const auto add = [&](void* sum, const void* more) {
    accumulate(sum, more, own.count, own.dtype, reduce);
  };
  char* before = nullptr;
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) {
      if (before) add(own.data, before);
      continue;
    }
    char* const part = theirs + place_of(other) * stride;
    if (other > rank()) {
      add(own.data, part);
    } else if (before) {
      add(before, part);
    } else {
      before = part;
    }
  }
}

size_t Group::bytes_of_all_reduce(std::span<const Piece> pieces) const {
  const auto others = static_cast<size_t>(size() - 1);
  size_t sum = 0;
  while (!pieces.empty() && others > 0) {
    const std::span<const Piece> few = pieces.first(num_together(pieces));
    pieces = pieces.subspan(few.size());
    Piece joined{nullptr, 0, few[0].dtype};
    for (const Piece& piece : few) joined.count += piece.count;
    if (goes_at_once(joined)) {
      sum += joined.bytes() * others;
      continue;
    }
    const int64_t own = joined.count * (rank() + 1) / size() - joined.count * rank() / size();
    const size_t own_bytes = static_cast<size_t>(own) * size_of(joined.dtype);
    sum += joined.bytes() - own_bytes + own_bytes * others;
  }
  return sum;
}

bool Group::goes_at_once(const Piece& piece) const {
  return piece.bytes() <= kAtOnce && size() <= kFewWorkers;
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
  const auto place = [&](int other) { return place_of(other) * slot_bytes; };
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
      add_in_order({all + offset, static_cast<int64_t>(bytes) / width, piece.dtype}, reduce,
                   parts[k % 2], slot_bytes);
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

void Group::reduce(std::span<const Piece> pieces, std::span<const Parts> parts,
                   std::span<const Piece> mine, Reduce reduce, std::string_view of, void* scratch) {
  for (const Piece& piece : pieces) check_reducible(piece.dtype, reduce);
  Call call(*this, describe_call(message("reduce by ", name_of(reduce)), of, pieces, parts));
  struct Segment {
    size_t piece, offset, bytes;
  };
  std::vector<MeshBuffer> data;
  std::vector<int> sent(pieces.size());
  std::vector<Segment> own;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Range here = range_of(parts[i], rank(), pieces[i].dtype);
    if (here.bytes == 0) continue;
    std::memcpy(mine[i].data, static_cast<char*>(pieces[i].data) + here.offset, here.bytes);
  }
  if (size() == 1) return;
  const size_t step = segment(), half = step * static_cast<size_t>(size() - 1);
  for (size_t i = 0; i < pieces.size(); ++i) {
    data.push_back(call.buffer(pieces[i].data, pieces[i].bytes()));
    const Range here = range_of(parts[i], rank(), pieces[i].dtype);
    for (size_t at = 0; at < here.bytes; at += step) {
      own.push_back({i, at, std::min(step, here.bytes - at)});
    }
    for (int k = 1; k < size(); ++k) {
      const int to = (rank() + k) % size();
      const Range theirs = range_of(parts[i], to, pieces[i].dtype);
      for (size_t at = 0; at < theirs.bytes; at += step, ++sent[i]) {
        call.send(data[i], to, 0, theirs.offset + at, std::min(step, theirs.bytes - at));
      }
    }
  }
  char* const halves[] = {static_cast<char*>(scratch), static_cast<char*>(scratch) + half};
  const MeshBuffer in[] = {call.buffer(halves[0], half), call.buffer(halves[1], half)};
  const auto ask = [&](size_t k) {
    for (int other = 0; other < size() && k < own.size(); ++other) {
      if (other != rank()) call.receive(in[k % 2], other, 0, place_of(other) * step, own[k].bytes);
    }
  };
  ask(0);
  ask(1);
  for (size_t k = 0; k < own.size(); ++k) {
    call.wait_received(in[k % 2], size() - 1);
    const Piece& sum = mine[own[k].piece];
    const auto count = static_cast<int64_t>(own[k].bytes / size_of(sum.dtype));
    add_in_order({static_cast<char*>(sum.data) + own[k].offset, count, sum.dtype}, reduce,
                 halves[k % 2], step);
    ask(k + 2);
  }
  for (size_t i = 0; i < pieces.size(); ++i) call.wait_sent(data[i], sent[i]);
}

void Group::reduce_scatter(const Piece& whole, const Piece& mine, Reduce reduce, void* scratch) {
  check_reducible(whole.dtype, reduce);
  Call call(*this, describe_call(message("reduce_scatter by ", name_of(reduce)), whole));
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

}  // namespace tidemark::comm
