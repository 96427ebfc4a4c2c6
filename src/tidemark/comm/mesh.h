// Connections of one process to all others of its group, over a library that is opened when the
// first group is joined. This is all that collectives ask of what carries the bytes.
#pragma once

#include <tidemark/export.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct TidemarkMeshBuffer;
struct TidemarkMeshTable;

namespace tidemark::comm {

/// What carries the bytes.
enum class Carrier : uint8_t { gloo, mpi };

/// Memory that is sent from or received into. Goes before the mesh does.
class MeshBuffer {
 public:
  MeshBuffer(const TidemarkMeshTable& table, TidemarkMeshBuffer* buffer) noexcept
      : table_(&table), buffer_(buffer) {}
  ~MeshBuffer();
  MeshBuffer(const MeshBuffer&) = delete;
  MeshBuffer(MeshBuffer&& other) noexcept
      : table_(other.table_), buffer_(std::exchange(other.buffer_, nullptr)) {}
  TidemarkMeshBuffer* get() const noexcept { return buffer_; }
  const TidemarkMeshTable& table() const noexcept { return *table_; }

 private:
  const TidemarkMeshTable* table_;
  TidemarkMeshBuffer* buffer_;
};

/// Messages between two processes with the same slot arrive in their order, and each has the size
/// that its receiver expects. Errors are UnavailableErrors with the library's own words.
class Mesh {
 public:
  enum class Waited : uint8_t { done, woken };

  /// Throws UnimplementedError where the library that carries the bytes is not there.
  static void check_installed(Carrier carrier);
  /// Listens on the address; `limit`: how long anything may take.
  Mesh(Carrier carrier, int rank, int size, const std::string& address,
       std::chrono::milliseconds limit);
  ~Mesh();
  Mesh(const Mesh&) = delete;

  /// How the others reach this process.
  std::string addresses() const;
  /// `all`: addresses() of everybody, by rank.
  void connect(const std::vector<std::string>& all);
  void disconnect() noexcept;

  MeshBuffer buffer(void* data, size_t bytes);
  void send(const MeshBuffer& from, int to, uint64_t slot, size_t offset, size_t bytes);
  void receive(const MeshBuffer& into, int from, uint64_t slot, size_t offset, size_t bytes);
  Waited wait_sent(const MeshBuffer& from, std::chrono::milliseconds limit);
  Waited wait_received(const MeshBuffer& into, std::chrono::milliseconds limit);
  /// Who waits for the buffer, on another thread, looks around and waits again.
  static void wake(const MeshBuffer& buffer) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Which of how many processes this is that mpirun started; starts MPI.
struct MpiWorld {
  int rank = 0, size = 1;
};
TIDEMARK_API MpiWorld mpi_world();
/// Everybody's text, by rank, of those; at most kMostShared bytes each.
TIDEMARK_API std::vector<std::string> share_by_mpi(std::string_view own);
inline constexpr size_t kMostShared = 1024;

}  // namespace tidemark::comm
