#include "tidemark/memory/ledger.h"

namespace tidemark::memory {

const char* name_of(Holder holder) noexcept {
  switch (holder) {
    case Holder::value:
      return "value";
    case Holder::variable:
      return "variable";
    case Holder::constant:
      return "constant";
    case Holder::gradient:
      return "gradient";
    case Holder::tape:
      return "tape";
    case Holder::workspace:
      return "workspace";
    case Holder::arena:
      return "arena";
    case Holder::dataset:
      return "dataset";
    case Holder::cache:
      return "cache";
    case Holder::borrowed:
      return "borrowed";
    case Holder::dataset_shuffle:
      return "dataset shuffle buffer";
    case Holder::dataset_prefetch:
      return "dataset prefetch buffer";
    case Holder::dataset_cache:
      return "dataset cache";
  }
  return "unknown";
}

void Ledger::tell(void (Observer::*what)(const Buffer&) noexcept, const Buffer& buffer) noexcept {
  for_each_observer([&](Observer& observer) { (observer.*what)(buffer); });
}

void Ledger::set_holder(Buffer* buffer, Holder holder) noexcept {
  const auto charged = static_cast<int64_t>(buffer->charged);
  leave(holders_[static_cast<int>(buffer->holder)], charged);
  buffer->holder = holder;
  enter(holders_[static_cast<int>(holder)], charged);
  note_change(*buffer);
}

void Ledger::set_idle(Buffer* buffer, bool idle, size_t used) noexcept {
  if (buffer->idle == idle) return;
  const auto charged = static_cast<int64_t>(buffer->charged);
  buffer->idle = idle;
  (idle ? live_ : planned_) -= charged;
  (idle ? planned_ : live_) += charged;
  use(idle ? -static_cast<int64_t>(used) : static_cast<int64_t>(used));
  note_peak();
  note_change(*buffer);
}

void Ledger::shrink(Buffer* buffer, size_t bytes, size_t charged) noexcept {
  const auto fewer = static_cast<int64_t>(buffer->charged - charged);
  Account& holder = holders_[static_cast<int>(buffer->holder)];
  remember_peak(*buffer->site);
  remember_peak(holder);
  buffer->site->live_bytes -= fewer;
  holder.live_bytes -= fewer;
  (buffer->idle ? planned_ : live_) -= fewer;
  tensor_bytes_ -= static_cast<int64_t>(buffer->bytes - bytes);
  buffer->bytes = bytes;
  buffer->charged = charged;
  note_change(*buffer);
}

void Ledger::grow(Buffer* buffer, size_t bytes, size_t charged) noexcept {
  const auto more = static_cast<int64_t>(charged - buffer->charged);
  buffer->site->live_bytes += more;
  holders_[static_cast<int>(buffer->holder)].live_bytes += more;
  (buffer->idle ? planned_ : live_) += more;
  use(static_cast<int64_t>(bytes - buffer->bytes));
  buffer->bytes = bytes;
  buffer->charged = charged;
  note_peak();
  note_change(*buffer);
}

int64_t Ledger::reset_peak() noexcept {
  const int64_t old = peak_;
  peak_ = live_;
  tensor_peak_ = tensor_bytes_;
  ++peak_number_;
  for (Account& account : holders_) account.peak_bytes = account.live_bytes;
  return old;
}

}  // namespace tidemark::memory
