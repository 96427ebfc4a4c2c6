// A group of processes that compute together, each with its own part of the data.
//
//   auto group = comm::Group::join({.rank = 1, .workers = {"10.0.0.1:2222", "10.0.0.2:2222"},
//                                   .secret = secret});
//   group->all_reduce(pieces, Reduce::sum, scratch);     // everywhere the sum of all
//   group->leave(seconds(5));
//
// All workers make the same calls in the same order. Sums are taken in the order of the ranks, so
// every worker has the same bits, and every run gives them again. A group that has lost a worker is
// dead: each call then throws UnavailableError that names the worker; who wants to go on joins a
// new group. One thread at a time computes in a group; others wait.
//
// What is started goes on while the caller does something else, on a thread of the group's:
//
//   const uint64_t ticket = group->start([=] { group->all_reduce(pieces, Reduce::sum, scratch); });
//   …                                                    // whoever else calls waits for it
//   group->finish(ticket);
#pragma once

#include <tidemark/memory.h>

#include <atomic>
#include <span>

#include "tidemark/comm/beside.h"
#include "tidemark/comm/member.h"
#include "tidemark/comm/mesh.h"
#include "tidemark/kernels/accumulate.h"

namespace tidemark::comm {

struct GroupOptions {
  int rank = 0;
  std::vector<std::string> workers;  ///< host:port each; one alone needs no address
  std::string secret = {};           ///< empty: default_secret()
  // Zero: as the settings say.
  std::chrono::milliseconds join_time{0};
  /// A worker that is not heard for so long is lost.
  std::chrono::milliseconds silence{0};
  /// The longest that one collective may take.
  std::chrono::milliseconds collective_time{0};
  Carrier carrier = Carrier::gloo;
  bool is_imagined = false;  ///< see Group::imagine
};

/// Elements of one dtype, one after the other.
struct Piece {
  void* data = nullptr;
  int64_t count = 0;
  DType dtype = DType::invalid;
  size_t bytes() const { return static_cast<size_t>(count) * size_of(dtype); }
};

/// How the elements of a tensor are shared out: those of worker r begin at element r of this and
/// end at element r + 1. There is one more than workers, from 0 to the number of elements.
using Parts = std::vector<int64_t>;

/// Where this worker's time went in collectives. Who waits least is who the others wait for.
struct GroupTimes {
  uint64_t collectives = 0;
  std::chrono::nanoseconds inside{0};   ///< of them, from the first byte to the last
  std::chrono::nanoseconds waiting{0};  ///< of that, until the others had come, too
};

class TIDEMARK_API Group {
 public:
  /// Throws UnavailableError that names the workers that did not come.
  static std::shared_ptr<Group> join(GroupOptions options);
  /// This worker of a group that is not there, to plan for: graphs can have steps of it, and none
  /// of them runs.
  static std::shared_ptr<Group> imagine(int rank, int size);
  ~Group();
  Group(const Group&) = delete;

  int rank() const { return options_.rank; }
  int size() const { return static_cast<int>(options_.workers.size()); }
  /// Of its steps in graphs: they stay in the order of the program.
  uint64_t token() const { return token_; }
  /// Scratch bytes that adding up needs; the caller gives them. `all`: for all_reduce, else for
  /// reductions to parts.
  size_t scratch_bytes(bool all = true) const;

  /// Each piece becomes the reduction of all workers' pieces.
  void all_reduce(std::span<const Piece> pieces, Reduce reduce, void* scratch);
  /// What this worker sends in that.
  size_t bytes_of_all_reduce(std::span<const Piece> pieces) const;
  /// `mine`: of each piece this worker's part, which becomes the reduction of what all have for it.
  /// `of`: what the pieces are, the same text on all workers, or they are told that they differ.
  void reduce(std::span<const Piece> pieces, std::span<const Parts> parts,
              std::span<const Piece> mine, Reduce reduce, std::string_view of, void* scratch);
  /// Each piece, whose own part is there, becomes whole.
  void gather(std::span<const Piece> pieces, std::span<const Parts> parts, std::string_view of);
  /// `whole` is a part for each worker; `mine` becomes the reduction of all the parts for this one.
  void reduce_scatter(const Piece& whole, const Piece& mine, Reduce reduce, void* scratch);
  /// `all` becomes everybody's `mine`, by rank.
  void all_gather(const Piece& mine, const Piece& all);
  /// The piece becomes the root's.
  void broadcast(const Piece& piece, int root);
  /// `from` is a part for each worker; `to` becomes everybody's part for this one.
  void all_to_all(const Piece& from, const Piece& to);
  /// Until all workers are here.
  void barrier();
  /// Everybody's bytes, by rank: a few kilobytes, by way of the first worker.
  std::vector<std::string> exchange(std::string_view own);

  /// Collectives to be made by the group's own thread, after those started before.
  uint64_t start(std::function<void()> collectives);
  /// Until they are done; throws what they threw.
  void finish(uint64_t ticket);
  /// After it nothing that was started goes on: it is done or, where this thread's run is to be
  /// stopped, has been given up.
  void settle() noexcept;

  /// Tells the others that this worker failed, and why. The group is dead then.
  void give_up(std::string_view why);
  /// Has finished; waits for the others to finish, as long as that.
  void leave(std::chrono::milliseconds limit);
  /// Why the group is dead; empty: it is not.
  std::string failure() const;
  /// Bytes that this process sent to others, in collectives.
  uint64_t bytes_sent() const { return bytes_sent_; }
  GroupTimes times() const;
  /// All workers, by rank, as the first one has heard them last; none: there are no others.
  std::vector<Member::Seen> seen() const;

 private:
  class Call;
  explicit Group(GroupOptions options);
  void connect();
  void prove(std::string_view everybody);
  void check_real() const;
  size_t segment() const;
  size_t place_of(int other) const;
  bool goes_at_once(const Piece& piece) const;
  size_t num_together(std::span<const Piece> pieces) const;
  void all_reduce(const Piece& piece, Reduce reduce, void* scratch);
  void reduce_together(Call& call, const Piece& piece, Reduce reduce, void* scratch);
  void add_in_order(const Piece& own, Reduce reduce, char* theirs, size_t stride) const;
  void reduce_at_once(Call& call, const Piece& piece, Reduce reduce, void* scratch);
  void look_up() noexcept;
  static const char* const kLeft;
  [[noreturn]] void die(std::string why);

  const GroupOptions options_;
  const uint64_t token_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Mesh> mesh_;
  std::mutex calls_;  // held by the collective that runs
  mutable std::mutex mutex_;
  const MeshBuffer* waited_for_ = nullptr;
  GroupTimes times_;
  std::string failure_;
  std::atomic<uint64_t> bytes_sent_{0};
  std::unique_ptr<Member> member_;  // its thread uses those above
  Beside beside_;                   // and so does this one's
};

}  // namespace tidemark::comm
