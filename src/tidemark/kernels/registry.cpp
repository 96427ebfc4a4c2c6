#include <tidemark/kernel.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tidemark/tensor/storage.h"

namespace tidemark {

namespace {

struct Tables {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<KernelTable>, std::less<>> by_op;
};

Tables& tables() {
  static Tables* all = new Tables;  // kernels live as long as the process
  return *all;
}

}  // namespace

const Kernel& KernelTable::find_other(KernelKind kind, DType key) const {
  static constexpr Kernel kNone;
  const auto found = std::find_if(others_.begin(), others_.end(), [&](const Other& other) {
    return other.kind == kind && other.dtypes.contains(key);
  });
  return found == others_.end() ? kNone : found->kernel;
}

void KernelTable::set(KernelKind kind, DType key, Kernel kernel) {
  if (kind == KernelKind::cpu) {
    cpu_[static_cast<int>(key)] = kernel;
    return;
  }
  const auto same = std::find_if(others_.begin(), others_.end(), [&](const Other& other) {
    return other.kind == kind && other.kernel == kernel;
  });
  if (same != others_.end()) {
    same->dtypes.bits |= dtype_set(key).bits;
  } else {
    others_.push_back({kind, dtype_set(key), kernel});
  }
}

DTypeSet KernelTable::dtypes(KernelKind kind) const {
  DTypeSet set;
  for (int i = 0; i < kDTypeSlots; ++i) {
    if (find(kind, static_cast<DType>(i)).run) set.bits |= 1u << i;
  }
  return set;
}

void register_kernel(std::string_view op, KernelKind kind, DTypeSet dtypes, Kernel kernel) {
  Tables& all = tables();
  std::lock_guard lock(all.mutex);
  auto& table = all.by_op[std::string(op)];
  if (!table) table = std::make_unique<KernelTable>();
  for (int i = 0; i < kDTypeSlots; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!dtypes.contains(dtype)) continue;
    if (table->find(kind, dtype).run) {
      fail<AlreadyExistsError>("[", op, "] has a kernel for ", name_of(dtype), " already");
    }
    table->set(kind, dtype, kernel);
  }
}

void detail::register_kernels(std::string_view op, KernelKind kind,
                              std::span<const KernelFor> kernels) {
  register_or_report([&] {
    for (const KernelFor& one : kernels) register_kernel(op, kind, one.dtypes, one.kernel);
  });
}

const KernelTable* kernels_of(const OpDef& op) {
  std::atomic_ref<KernelTable*> cached(const_cast<OpDef&>(op).kernels);
  if (KernelTable* known = cached.load(std::memory_order_acquire)) return known;
  Tables& all = tables();
  std::lock_guard lock(all.mutex);
  const auto it = all.by_op.find(op.name());
  if (it == all.by_op.end()) return nullptr;
  cached.store(it->second.get(), std::memory_order_release);
  return it->second.get();
}

void KernelContext::set_rows(int output, int64_t rows) {
  Shape shape = outputs_[static_cast<size_t>(output)].shape();
  shape[0] = rows;
  set_shape(output, shape);
}

void KernelContext::set_shape(int output, const Shape& shape) {
  // The runtime made the output for this call and nobody else has seen it yet.
  detail::TensorImpl* impl = outputs_[static_cast<size_t>(output)].impl();
  const int64_t count = shape.num_elements();
  if (count > impl->num_elements) {
    tidemark::fail<InternalError>("[", call_.op.name(), "] grew output ", output, " to ", shape);
  }
  impl->shape = shape;
  impl->num_elements = count;
}

char* KernelContext::string_bytes(int output) const {
  return string_area(outputs_[static_cast<size_t>(output)]);
}

int64_t KernelContext::string_capacity(int output) const {
  const Tensor& t = outputs_[static_cast<size_t>(output)];
  return static_cast<int64_t>(t.impl()->buffer->bytes - t.nbytes());
}

}  // namespace tidemark
