#include "tidemark/kernels/cuda/recordings.h"

namespace tidemark::cuda {

Recordings::Recordings(const Context& context)
    : context_(context), account_(std::make_shared<Account>()), listed_([this] {
        std::lock_guard hold(account_->mutex);
        return account_->use;
      }) {
  account_->use.name = message("recorded steps of gpu:", context.device());
  account_->use.capacity = kMostBytes;
}

bool Recordings::has_room() const {
  std::lock_guard hold(account_->mutex);
  return account_->use.bytes < kMostBytes;
}

std::shared_ptr<const RecordedWork> Recordings::add(Handle recording, size_t pieces,
                                                    Launches launches) {
  const auto bytes = static_cast<int64_t>(pieces + 1) * kPieceBytes;
  return std::make_shared<const Recording>(context_, recording, bytes, std::move(launches),
                                           account_);
}

Recording::Recording(const Context& context, Handle recording, int64_t bytes, Launches launches,
                     std::shared_ptr<Recordings::Account> account)
    : context_(context),
      recording_(recording),
      bytes_(bytes),
      launches_(std::move(launches)),
      account_(std::move(account)) {
  std::lock_guard hold(account_->mutex);
  ++account_->use.entries;
  account_->use.bytes += bytes_;
}

Recording::~Recording() {
  {
    std::lock_guard hold(account_->mutex);
    --account_->use.entries;
    account_->use.bytes -= bytes_;
  }
  const bool is_pushed = context_.driver().push_context(context_.handle()) == kDone;
  if (is_pushed) context_.driver().synchronize();
  context_.driver().destroy_recording(recording_);  // which is of no thread's context
  if (is_pushed) context_.driver().pop_context();
}

}  // namespace tidemark::cuda
