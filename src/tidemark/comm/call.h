// One collective while it runs.
#pragma once

#include "tidemark/base/interrupt.h"
#include "tidemark/comm/group.h"

namespace tidemark::comm {

/// What a collective is called, to be the same on all workers: "all_reduce by sum of 4 float32".
std::string describe_call(std::string_view what, const Piece& piece);
std::string describe_call(std::string_view what, std::string_view of, std::span<const Piece> pieces,
                          std::span<const Parts> parts);

/// Bytes of a tensor.
struct Range {
  size_t offset = 0, bytes = 0;
};
/// Those of a worker's part.
Range range_of(const Parts& parts, int worker, DType dtype);

/// From the first byte of a collective to the last: nobody else computes in the group meanwhile,
/// and the hub knows what this worker is in. If it ends by an exception, the group is dead.
class Group::Call {
 public:
  /// `what`: the same text on all workers, or they are told that they do different things.
  Call(Group& group, std::string what);
  ~Call();
  Call(const Call&) = delete;

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  MeshBuffer buffer(void* data, size_t bytes) { return mesh().buffer(data, bytes); }
  /// `phase`: messages of different phases never meet.
  void send(const MeshBuffer& from, int to, int phase, size_t offset, size_t bytes);
  void receive(const MeshBuffer& into, int from, int phase, size_t offset, size_t bytes);
  /// Until that many receipts, or sends, are done.
  void wait_received(const MeshBuffer& into, int count);
  void wait_sent(const MeshBuffer& from, int count);

 private:
  using Wait = Mesh::Waited (Mesh::*)(const MeshBuffer&, std::chrono::milliseconds);
  static Group& after_all_started(Group& group);
  Mesh& mesh() { return *group_.mesh_; }
  void wait(const MeshBuffer& buffer, int count, Wait wait);
  /// Throws what the hub says of it, or else what was seen here.
  template <class Work>
  void carefully(Work work);

  Group& group_;
  const std::unique_lock<std::mutex> alone_;
  const Clock::time_point began_, deadline_;
  uint64_t slot_ = 0;
  Clock::time_point met_{};  // when something of the others had come
  const int uncaught_;
};

}  // namespace tidemark::comm
