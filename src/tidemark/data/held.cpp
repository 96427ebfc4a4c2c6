#include "tidemark/data/held.h"

#include <algorithm>
#include <mutex>

#include "tidemark/memory/context.h"

namespace tidemark::data {

namespace {

struct Stores {
  std::mutex mutex;
  std::vector<const Store*> all;
};

/// Never destroyed: iterators may go after the statics of this file.
Stores& stores() {
  static Stores& made = *new Stores;
  return made;
}

}  // namespace

Store::Store(memory::Holder holder) : holder_(holder), site_(memory::thread_context.site) {
  if (site_) memory::pin(*site_);
  const std::lock_guard hold(stores().mutex);
  stores().all.push_back(this);
}

Store::~Store() {
  {
    const std::lock_guard hold(stores().mutex);
    std::erase(stores().all, this);
  }
  if (site_) memory::unpin(*site_);
}

Held::Held(Store& store, Element element, bool is_shared)
    : store_(&store), element_(std::move(element)) {
  // A tensor that others refer to stays theirs: rows of a large one, for instance.
  const uint32_t most = is_shared ? 2 : 1;
  for (size_t i = 0; i < std::min<size_t>(element_.size(), 64); ++i) {
    memory::Buffer* buffer = element_[i].impl()->buffer;
    if (!buffer || buffer->refs.load(std::memory_order_acquire) > most) continue;
    if (buffer->holder != memory::Holder::value) continue;
    memory::set_holder(buffer, store.holder());
    named_ |= uint64_t{1} << i;
    bytes_ += static_cast<int64_t>(buffer->charged);
  }
  store.add(1, bytes_);
}

void Held::let_go() noexcept {
  if (!store_) return;
  for (size_t i = 0; named_ != 0; ++i, named_ >>= 1) {
    if (named_ & 1) memory::set_holder(element_[i].impl()->buffer, memory::Holder::value);
  }
  store_->add(-1, -std::exchange(bytes_, 0));
  store_ = nullptr;
}

std::vector<BufferUse> buffers_in_use() {
  struct Seen {
    memory::Holder holder;
    const memory::Site* site;
    int64_t elements, bytes;
  };
  std::vector<Seen> seen;
  {
    const std::lock_guard hold(stores().mutex);
    for (const Store* store : stores().all) {
      if (store->elements() == 0) continue;
      if (store->site()) memory::pin(*store->site());
      seen.push_back({store->holder(), store->site(), store->elements(), store->bytes()});
    }
  }
  std::vector<BufferUse> out;
  for (const Seen& one : seen) {
    out.push_back({memory::name_of(one.holder),
                   one.site ? memory::describe(*one.site) : "(unknown place)", one.elements,
                   one.bytes});
    if (one.site) memory::unpin(*one.site);
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

}  // namespace tidemark::data
