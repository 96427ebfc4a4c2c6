// What streams of a GPU have recorded: graphs of CUDA's, bounded and listed in the memory report.
//
// A recording has addresses in it and keeps none of the memory there; the code of its kernels it
// keeps. CUDA has memory for each on the GPU and on the host, which it does not tell: what is
// counted is a guess by pieces of work.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/cuda/code.h"
#include "tidemark/memory/site.h"

namespace tidemark::cuda {

/// What was launched while recording.
struct Launches {
  /// One that gets other arguments each time.
  struct Change {
    Handle piece, function;
  };
  std::vector<std::shared_ptr<const LoadedCode>> code;
  std::shared_ptr<const memory::Site> first_place;  // of the first kernel
  std::vector<Change> changes;                      // in their order
  bool may_change = false;                          // what is launched now
};

class Recordings {
 public:
  static constexpr int64_t kMostBytes = 64 << 20;
  static constexpr int64_t kPieceBytes = 1 << 10;

  explicit Recordings(const Context& context);

  bool has_room() const;
  /// Takes it over.
  std::shared_ptr<const RecordedWork> add(Handle recording, size_t pieces, Launches launches);

 private:
  friend class Recording;
  struct Account {
    mutable std::mutex mutex;
    memory::CacheUse use;
  };
  const Context& context_;
  const std::shared_ptr<Account> account_;  // recordings may outlive these
  memory::CacheRegistration listed_;
};

class Recording final : public RecordedWork {
 public:
  Recording(const Context& context, Handle recording, int64_t bytes, Launches launches,
            std::shared_ptr<Recordings::Account> account);
  /// Waits for work under way, which may be this.
  ~Recording() override;
  Recording(const Recording&) = delete;
  Handle handle() const { return recording_; }
  const Launches& launches() const { return launches_; }

 private:
  const Context& context_;
  const Handle recording_;
  const int64_t bytes_;
  const Launches launches_;
  const std::shared_ptr<Recordings::Account> account_;
};

}  // namespace tidemark::cuda
