#include "tidemark/comm/mesh.h"

#include "tidemark/base/plugin.h"
#include "tidemark/comm/mesh_table.h"
#include "tidemark/comm/mpi/interface.h"
#include "tidemark/comm/sockets.h"
#include "tidemark/exec/long_work.h"

namespace tidemark::comm {

namespace {

template <class Table>
const Table& opened(const char* library, const char* symbol, std::string_view what,
                    std::string_view package) {
  static std::string& why = *new std::string;
  static const auto* const table =
      static_cast<const Table*>(open_plugin(library, symbol, why, Lookup::itself_first));
  if (!table) {
    fail<UnimplementedError>("this installation cannot carry tensors between processes by ", what,
                             ", as ", why, ". On Debian, install ", package,
                             " and build Tidemark again");
  }
  return *table;
}

const TidemarkMeshTable& gloo() {
  return opened<TidemarkMeshTable>("libtidemark_gloo.so", "tidemark_gloo_table", "Gloo",
                                   "libgloo-dev");
}

const TidemarkMpiTable& mpi() {
  return opened<TidemarkMpiTable>("libtidemark_mpi.so", "tidemark_mpi_table", "MPI",
                                  "libopenmpi-dev or libmpich-dev");
}

const TidemarkMeshTable& table_of(Carrier carrier) {
  return carrier == Carrier::mpi ? mpi().mesh : gloo();
}

void check(bool good, const TidemarkMeshError& error) {
  if (!good) fail<UnavailableError>(std::string_view(error.text));
}

Mesh::Waited waited(int answer, const TidemarkMeshError& error) {
  check(answer != kMeshFailed, error);
  return answer == kMeshDone ? Mesh::Waited::done : Mesh::Waited::woken;
}

}  // namespace

struct Mesh::State {
  const TidemarkMeshTable& table;
  TidemarkMesh* mesh = nullptr;
};

MeshBuffer::~MeshBuffer() {
  if (buffer_) table_->drop(buffer_);
}

void Mesh::check_installed(Carrier carrier) { table_of(carrier); }

Mesh::Mesh(Carrier carrier, int rank, int size, const std::string& address,
           std::chrono::milliseconds limit)
    : state_(new State{table_of(carrier)}) {
  TidemarkMeshError error{};
  state_->mesh = state_->table.open(rank, size, address.c_str(), limit.count(), &error);
  check(state_->mesh, error);
}

Mesh::~Mesh() { state_->table.close(state_->mesh); }

std::string Mesh::addresses() const {
  size_t bytes = 0;
  const char* first = state_->table.addresses(state_->mesh, &bytes);
  return {first, bytes};
}

void Mesh::connect(const std::vector<std::string>& all) {
  std::vector<const char*> addresses;
  for (const std::string& one : all) {
    if (one.size() != all[0].size()) {
      fail<UnavailableError>("another worker could not listen for connections");
    }
    addresses.push_back(one.data());
  }
  TidemarkMeshError error{};
  check(state_->table.connect(state_->mesh, addresses.data(), all[0].size(), &error) == 0, error);
}

void Mesh::disconnect() noexcept { state_->table.disconnect(state_->mesh); }

MeshBuffer Mesh::buffer(void* data, size_t bytes) {
  TidemarkMeshError error{};
  TidemarkMeshBuffer* made = state_->table.buffer(state_->mesh, data, bytes, &error);
  check(made, error);
  return {state_->table, made};
}

void Mesh::send(const MeshBuffer& from, int to, uint64_t slot, size_t offset, size_t bytes) {
  TidemarkMeshError error{};
  check(from.table().send(from.get(), to, slot, offset, bytes, &error) == 0, error);
}

void Mesh::receive(const MeshBuffer& into, int from, uint64_t slot, size_t offset, size_t bytes) {
  TidemarkMeshError error{};
  check(into.table().receive(into.get(), from, slot, offset, bytes, &error) == 0, error);
}

Mesh::Waited Mesh::wait_sent(const MeshBuffer& from, std::chrono::milliseconds limit) {
  TidemarkMeshError error{};
  return waited(from.table().wait_sent(from.get(), limit.count(), &error), error);
}

Mesh::Waited Mesh::wait_received(const MeshBuffer& into, std::chrono::milliseconds limit) {
  TidemarkMeshError error{};
  return waited(into.table().wait_received(into.get(), limit.count(), &error), error);
}

void Mesh::wake(const MeshBuffer& buffer) noexcept { buffer.table().wake(buffer.get()); }

MpiWorld mpi_world() {
  MpiWorld world;
  TidemarkMeshError error{};
  const exec::LongWork others_go_on(true);
  check(mpi().start(&world.rank, &world.size, &error) == 0, error);
  return world;
}

std::vector<std::string> share_by_mpi(std::string_view own) {
  const MpiWorld world = mpi_world();
  if (own.size() >= kMostShared) {
    fail("processes of MPI tell each other less than ", kMostShared, " bytes; given ", own.size());
  }
  std::string mine(own), all(kMostShared * static_cast<size_t>(world.size), '\0');
  mine.resize(kMostShared);
  TidemarkMeshError error{};
  const exec::LongWork others_go_on(true);
  check(mpi().share(mine.data(), kMostShared, all.data(), &error) == 0, error);
  std::vector<std::string> out;
  for (size_t at = 0; at < all.size(); at += kMostShared) out.emplace_back(all.c_str() + at);
  return out;
}

}  // namespace tidemark::comm
