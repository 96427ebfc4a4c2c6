#include "tidemark/exec/stretch.h"

#include <algorithm>

namespace tidemark::exec {

Recordings::Known* Recordings::known(const Addresses& key) {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Known& one) { return one.key == key; });
  return found == all_.end() ? nullptr : &*found;
}

std::shared_ptr<const RecordedWork> Recordings::find(const Addresses& key) {
  const std::lock_guard hold(mutex_);
  Known* const one = known(key);
  if (!one || !one->work) return nullptr;
  one->last_use = ++uses_;
  misses_ = 0;
  return one->work;
}

bool Recordings::is_due(const Addresses& key) {
  std::shared_ptr<const RecordedWork> gone;  // after the lock: its end waits for the device
  const std::lock_guard hold(mutex_);
  ++misses_;
  Known* one = known(key);
  if (!one) {
    if (all_.size() < kMost) {
      one = &all_.emplace_back();
    } else {
      one = &*std::min_element(all_.begin(), all_.end(), [](const Known& a, const Known& b) {
        return a.last_use < b.last_use;
      });
      gone = std::move(one->work);
    }
    *one = {key, nullptr, 0, 0};
  }
  one->last_use = ++uses_;
  return one->seen++ == kSeenBefore;
}

void Recordings::add(const Addresses& key, std::shared_ptr<const RecordedWork> work) {
  const std::lock_guard hold(mutex_);
  if (Known* const one = known(key)) one->work.swap(work);
}

size_t Recordings::count() const {
  const std::lock_guard hold(mutex_);
  return static_cast<size_t>(std::count_if(all_.begin(), all_.end(),
                                           [](const Known& one) { return one.work != nullptr; }));
}

size_t Stretch::bytes() const {
  size_t bytes =
      places.size() * sizeof(Place) + (steps.size() + changing.size()) * sizeof(uint32_t);
  for (const QueuedKernel& kernel : kernels) {
    bytes += sizeof(kernel) + kernel.attrs.size() * sizeof(Attr) +
             (kernel.inputs.size() + kernel.outputs.size()) * sizeof(QueuedKernel::Operand);
  }
  return bytes;
}

bool Recordings::is_hopeless() const {
  const std::lock_guard hold(mutex_);
  return misses_ >= kMostMisses;
}

}  // namespace tidemark::exec
