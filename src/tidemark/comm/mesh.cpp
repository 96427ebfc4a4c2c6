#include "tidemark/comm/mesh.h"

#include "tidemark/base/plugin.h"
#include "tidemark/comm/gloo/interface.h"
#include "tidemark/comm/sockets.h"

namespace tidemark::comm {

namespace {

const TidemarkGlooTable& gloo() {
  static std::string& why = *new std::string;
  static const auto* const opened = static_cast<const TidemarkGlooTable*>(
      open_plugin("libtidemark_gloo.so", "tidemark_gloo_table", why, Lookup::itself_first));
  if (!opened) {
    fail<UnimplementedError>(
        "this installation cannot carry tensors between processes, as ", why,
        ". It needs Gloo: on Debian, install libgloo-dev and build Tidemark again");
  }
  return *opened;
}

void check(bool good, const TidemarkGlooError& error) {
  if (!good) fail<UnavailableError>(std::string_view(error.text));
}

Mesh::Waited waited(int answer, const TidemarkGlooError& error) {
  check(answer != kGlooFailed, error);
  return answer == kGlooDone ? Mesh::Waited::done : Mesh::Waited::woken;
}

}  // namespace

struct Mesh::State {
  TidemarkGlooMesh* mesh = nullptr;
};

MeshBuffer::~MeshBuffer() { gloo().drop(buffer_); }

void Mesh::check_installed() { gloo(); }

Mesh::Mesh(int rank, int size, const std::string& address, std::chrono::milliseconds limit)
    : state_(std::make_unique<State>()) {
  TidemarkGlooError error{};
  state_->mesh = gloo().open(rank, size, address.c_str(), limit.count(), &error);
  check(state_->mesh, error);
}

Mesh::~Mesh() { gloo().close(state_->mesh); }

std::string Mesh::addresses() const {
  size_t bytes = 0;
  const char* first = gloo().addresses(state_->mesh, &bytes);
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
  TidemarkGlooError error{};
  check(gloo().connect(state_->mesh, addresses.data(), all[0].size(), &error) == 0, error);
}

void Mesh::disconnect() noexcept { gloo().disconnect(state_->mesh); }

MeshBuffer Mesh::buffer(void* data, size_t bytes) {
  TidemarkGlooError error{};
  TidemarkGlooBuffer* made = gloo().buffer(state_->mesh, data, bytes, &error);
  check(made, error);
  return MeshBuffer(made);
}

void Mesh::send(const MeshBuffer& from, int to, uint64_t slot, size_t offset, size_t bytes) {
  TidemarkGlooError error{};
  check(gloo().send(from.get(), to, slot, offset, bytes, &error) == 0, error);
}

void Mesh::receive(const MeshBuffer& into, int from, uint64_t slot, size_t offset, size_t bytes) {
  TidemarkGlooError error{};
  check(gloo().receive(into.get(), from, slot, offset, bytes, &error) == 0, error);
}

Mesh::Waited Mesh::wait_sent(const MeshBuffer& from, std::chrono::milliseconds limit) {
  TidemarkGlooError error{};
  return waited(gloo().wait_sent(from.get(), limit.count(), &error), error);
}

Mesh::Waited Mesh::wait_received(const MeshBuffer& into, std::chrono::milliseconds limit) {
  TidemarkGlooError error{};
  return waited(gloo().wait_received(into.get(), limit.count(), &error), error);
}

void Mesh::wake(const MeshBuffer& buffer) noexcept { gloo().wake(buffer.get()); }

}  // namespace tidemark::comm
