// libtidemark_gloo.so: a mesh of connections made and served by Gloo. Only what is public in Gloo's
// headers is used, so that one source serves the versions that Debian has.
#include <gloo/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/comm/mesh_table.h"

struct TidemarkMesh {
  int rank, size;
  std::shared_ptr<gloo::transport::Device> device;
  std::shared_ptr<gloo::transport::Context> context;
  std::string addresses;
};

struct TidemarkMeshBuffer {
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
};

namespace {

void note(TidemarkMeshError* error, const char* why) {
  std::strncpy(error->text, why, sizeof error->text - 1);
  error->text[sizeof error->text - 1] = 0;
}

/// The answer of `work`; where it throws, `otherwise` and why.
template <class Work, class Result>
Result guarded(TidemarkMeshError* error, Result otherwise, Work work) {
  try {
    return work();
  } catch (const std::exception& caught) {
    note(error, caught.what());
  } catch (...) {
    note(error, "Gloo failed without saying why");
  }
  return otherwise;
}

TidemarkMesh* open(int rank, int size, const char* address, int64_t milliseconds,
                   TidemarkMeshError* error) {
  return guarded(error, static_cast<TidemarkMesh*>(nullptr), [&] {
    auto mesh = std::make_unique<TidemarkMesh>();
    mesh->rank = rank;
    mesh->size = size;
    mesh->device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address));
    mesh->context = mesh->device->createContext(rank, size);
    mesh->context->setTimeout(std::chrono::milliseconds(milliseconds));
    std::vector<std::vector<char>> all(static_cast<size_t>(size));
    size_t longest = 0;
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      all[static_cast<size_t>(other)] = mesh->context->createPair(other)->address().bytes();
      longest = std::max(longest, all[static_cast<size_t>(other)].size());
    }
    for (std::vector<char>& one : all) {
      one.resize(longest);
      mesh->addresses.append(one.data(), one.size());
    }
    return mesh.release();
  });
}

const char* addresses(TidemarkMesh* mesh, size_t* bytes) {
  *bytes = mesh->addresses.size();
  return mesh->addresses.data();
}

int connect(TidemarkMesh* mesh, const char* const* all, size_t bytes, TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    const size_t each = bytes / static_cast<size_t>(mesh->size);
    for (int other = 0; other < mesh->size; ++other) {
      if (other == mesh->rank) continue;
      const char* mine = all[other] + each * static_cast<size_t>(mesh->rank);
      mesh->context->getPair(other)->connect(std::vector<char>(mine, mine + each));
    }
    return 0;
  });
}

void disconnect(TidemarkMesh* mesh) {
  for (int other = 0; other < mesh->size; ++other) {
    try {
      if (other != mesh->rank) mesh->context->getPair(other)->close();
    } catch (const std::exception&) {  // it is closed already
    }
  }
}

void close(TidemarkMesh* mesh) { delete mesh; }

TidemarkMeshBuffer* buffer(TidemarkMesh* mesh, void* data, size_t bytes, TidemarkMeshError* error) {
  return guarded(error, static_cast<TidemarkMeshBuffer*>(nullptr), [&] {
    auto made = std::make_unique<TidemarkMeshBuffer>();
    made->buffer = mesh->context->createUnboundBuffer(data, bytes);
    return made.release();
  });
}

void drop(TidemarkMeshBuffer* buffer) { delete buffer; }

int send(TidemarkMeshBuffer* buffer, int to, uint64_t slot, size_t offset, size_t bytes,
         TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    buffer->buffer->send(to, slot, offset, bytes);
    return 0;
  });
}

int receive(TidemarkMeshBuffer* buffer, int from, uint64_t slot, size_t offset, size_t bytes,
            TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    buffer->buffer->recv(from, slot, offset, bytes);
    return 0;
  });
}

int wait_sent(TidemarkMeshBuffer* buffer, int64_t milliseconds, TidemarkMeshError* error) {
  return guarded(error, int{kMeshFailed}, [&] {
    const bool done = buffer->buffer->waitSend(std::chrono::milliseconds(milliseconds));
    return int{done ? kMeshDone : kMeshWoken};
  });
}

int wait_received(TidemarkMeshBuffer* buffer, int64_t milliseconds, TidemarkMeshError* error) {
  return guarded(error, int{kMeshFailed}, [&] {
    const bool done = buffer->buffer->waitRecv(std::chrono::milliseconds(milliseconds));
    return int{done ? kMeshDone : kMeshWoken};
  });
}

void wake(TidemarkMeshBuffer* buffer) {
  buffer->buffer->abortWaitRecv();
  buffer->buffer->abortWaitSend();
}

constexpr TidemarkMeshTable kTable = {open, addresses, connect, disconnect, close,         buffer,
                                      drop, send,      receive, wait_sent,  wait_received, wake};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TidemarkMeshTable* tidemark_gloo_table() {
  return &kTable;
}
