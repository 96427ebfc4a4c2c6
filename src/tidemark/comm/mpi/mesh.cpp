// libtidemark_mpi.so: a mesh of connections carried by MPI, in processes that mpirun started. What
// an MPI does with messages it does inside of its calls, so who waits asks again and again, with
// pauses that grow: a core is not kept from those who compute.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tidemark/comm/mpi/interface.h"

namespace {

using Clock = std::chrono::steady_clock;

/// One thread at a time is inside MPI, whatever it promises.
std::mutex inside;
/// A mesh broke: others may be gone, and nobody waits for them at the end of the process.
std::atomic<bool> is_broken{false};

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + text);
}

/// MPI promises 15 bits of a tag: which collective, what kind, which phase of it.
int tag_of(uint64_t slot) {
  return static_cast<int>((slot >> 24 & 127) << 8 | (slot >> 8 & 127) << 1 | (slot & 1));
}

/// The parts of one message: an MPI counts bytes as an int.
using Message = std::vector<MPI_Request>;

}  // namespace

struct TidemarkMesh {
  int rank = 0, size = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  std::string addresses;
  std::atomic<bool> is_closed{false};
};

struct TidemarkMeshBuffer {
  TidemarkMesh* mesh = nullptr;
  char* data = nullptr;
  std::vector<Message> sent, received;
  std::atomic<bool> is_woken{false};
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
    const std::lock_guard lock(inside);
    return work();
  } catch (const std::exception& caught) {
    note(error, caught.what());
  } catch (...) {
    note(error, "MPI failed without saying why");
  }
  return otherwise;
}

bool has_started = false;  // MPI, by us

/// When the process ends, or the library goes.
[[gnu::destructor]] void finish() {
  int is_over = 0;
  if (!has_started || is_broken) return;
  if (MPI_Finalized(&is_over) == MPI_SUCCESS && !is_over) MPI_Finalize();
}

int start(int* rank, int* size, TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    int is_started = 0;
    check(MPI_Initialized(&is_started), "MPI_Initialized");
    if (!is_started) {
      int level = 0;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
      has_started = true;
      check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
      if (level < MPI_THREAD_SERIALIZED) {
        throw std::runtime_error("this MPI can be used by the main thread only");
      }
    }
    check(MPI_Comm_rank(MPI_COMM_WORLD, rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, size), "MPI_Comm_size");
    return 0;
  });
}

int share(const void* own, size_t bytes, void* all, TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    const int count = static_cast<int>(bytes);
    check(MPI_Allgather(own, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD),
          "MPI_Allgather");
    return 0;
  });
}

TidemarkMesh* open(int rank, int size, const char*, int64_t, TidemarkMeshError* error) {
  return guarded(error, static_cast<TidemarkMesh*>(nullptr), [&] {
    auto mesh = std::make_unique<TidemarkMesh>();
    mesh->rank = rank;
    mesh->size = size;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &mesh->comm), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(mesh->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int own = -1, all = 0;
    check(MPI_Comm_rank(mesh->comm, &own), "MPI_Comm_rank");
    check(MPI_Comm_size(mesh->comm, &all), "MPI_Comm_size");
    if (own != rank || all != size) {
      throw std::runtime_error("the group is not that of the processes that mpirun started");
    }
    mesh->addresses = "mpi";
    return mesh.release();
  });
}

const char* addresses(TidemarkMesh* mesh, size_t* bytes) {
  *bytes = mesh->addresses.size();
  return mesh->addresses.data();
}

int connect(TidemarkMesh*, const char* const*, size_t, TidemarkMeshError*) { return 0; }

void disconnect(TidemarkMesh* mesh) {
  mesh->is_closed = true;
  is_broken = true;
}

void close(TidemarkMesh* mesh) {
  {
    const std::lock_guard lock(inside);
    int is_over = 0;
    const bool can_free = MPI_Finalized(&is_over) == MPI_SUCCESS && !is_over && !mesh->is_closed;
    if (can_free) MPI_Comm_free(&mesh->comm);
  }
  delete mesh;
}

TidemarkMeshBuffer* buffer(TidemarkMesh* mesh, void* data, size_t, TidemarkMeshError* error) {
  return guarded(error, static_cast<TidemarkMeshBuffer*>(nullptr), [&] {
    auto made = std::make_unique<TidemarkMeshBuffer>();
    made->mesh = mesh;
    made->data = static_cast<char*>(data);
    return made.release();
  });
}

/// Messages that will not come any more, because the group is dead.
void let_go(std::vector<Message>& messages, bool can_cancel) {
  for (Message& parts : messages) {
    for (MPI_Request& request : parts) {
      if (request == MPI_REQUEST_NULL) continue;
      if (can_cancel) MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }
}

void drop(TidemarkMeshBuffer* buffer) {
  if (!buffer) return;
  {
    const std::lock_guard lock(inside);
    int is_over = 0;
    if (MPI_Finalized(&is_over) == MPI_SUCCESS && !is_over) {
      let_go(buffer->received, true);
      let_go(buffer->sent, false);
    }
  }
  delete buffer;
}

constexpr size_t kMostBytes = size_t{1} << 30;

template <class Call>
Message in_parts(TidemarkMeshBuffer* buffer, size_t offset, size_t bytes, Call call) {
  if (buffer->mesh->is_closed) throw std::runtime_error("the connections are closed");
  Message parts;
  for (size_t at = 0; at < bytes; at += kMostBytes) {
    parts.push_back(MPI_REQUEST_NULL);
    const int count = static_cast<int>(std::min(kMostBytes, bytes - at));
    check(call(buffer->data + offset + at, count, &parts.back()), "MPI");
  }
  return parts;
}

int send(TidemarkMeshBuffer* buffer, int to, uint64_t slot, size_t offset, size_t bytes,
         TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    const MPI_Comm comm = buffer->mesh->comm;
    buffer->sent.push_back(in_parts(buffer, offset, bytes, [&](char* at, int n, MPI_Request* r) {
      return MPI_Isend(at, n, MPI_BYTE, to, tag_of(slot), comm, r);
    }));
    return 0;
  });
}

int receive(TidemarkMeshBuffer* buffer, int from, uint64_t slot, size_t offset, size_t bytes,
            TidemarkMeshError* error) {
  return guarded(error, 1, [&] {
    const MPI_Comm comm = buffer->mesh->comm;
    buffer->received.push_back(
        in_parts(buffer, offset, bytes, [&](char* at, int n, MPI_Request* r) {
          return MPI_Irecv(at, n, MPI_BYTE, from, tag_of(slot), comm, r);
        }));
    return 0;
  });
}

/// Takes one message out that is whole.
bool take_one(std::vector<Message>& messages) {
  for (auto one = messages.begin(); one != messages.end(); ++one) {
    int is_done = 0;
    check(MPI_Testall(static_cast<int>(one->size()), one->data(), &is_done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (!is_done) continue;
    messages.erase(one);
    return true;
  }
  return false;
}

int wait(TidemarkMeshBuffer* buffer, std::vector<Message>& messages, int64_t milliseconds,
         TidemarkMeshError* error) {
  constexpr int kQuick = 200;
  constexpr std::chrono::microseconds kLongest{200};
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(milliseconds);
  std::chrono::microseconds pause{2};
  for (int tries = 0;; ++tries) {
    const int answer = guarded(error, int{kMeshFailed}, [&] {
      if (buffer->mesh->is_closed) throw std::runtime_error("the connections are closed");
      if (take_one(messages)) return int{kMeshDone};
      return buffer->is_woken.exchange(false) ? int{kMeshWoken} : -1;
    });
    if (answer >= 0) return answer;
    if (tries < kQuick) {
      std::this_thread::yield();
      continue;
    }
    if (Clock::now() >= end) {
      note(error, "timed out waiting for a message");
      return kMeshFailed;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongest);
  }
}

int wait_sent(TidemarkMeshBuffer* buffer, int64_t milliseconds, TidemarkMeshError* error) {
  return wait(buffer, buffer->sent, milliseconds, error);
}

int wait_received(TidemarkMeshBuffer* buffer, int64_t milliseconds, TidemarkMeshError* error) {
  return wait(buffer, buffer->received, milliseconds, error);
}

void wake(TidemarkMeshBuffer* buffer) { buffer->is_woken = true; }

constexpr TidemarkMpiTable kTable = {{open, addresses, connect, disconnect, close, buffer, drop,
                                      send, receive, wait_sent, wait_received, wake},
                                     start,
                                     share};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TidemarkMpiTable* tidemark_mpi_table() {
  return &kTable;
}
