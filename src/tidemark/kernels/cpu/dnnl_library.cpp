#include "tidemark/kernels/cpu/dnnl_library.h"

#include <tidemark/error.h>

#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tidemark/base/plugin.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::cpu {

namespace {

/// Machine code and descriptions of one primitive, as measured over many shapes, rounded up.
constexpr int64_t kPrimitiveBytes = 64 << 10;
constexpr int64_t kCacheBytes = 8 << 20;

const TidemarkDnnlTable* open_library() {
  std::string why;
  const void* table = open_plugin("libtidemark_dnnl.so", "tidemark_dnnl_table", why);
  if (!table) {
    std::fprintf(stderr,
                 "tidemark: products and convolutions run on the built-in kernels, several times "
                 "slower, as %s\n",
                 why.c_str());
  }
  return static_cast<const TidemarkDnnlTable*>(table);
}

struct Hash {
  size_t operator()(const TidemarkDnnlProduct& p) const {
    uint64_t h = static_cast<uint64_t>(p.is_bfloat16) + 1;
    for (const int64_t v : {p.m, p.n, p.k, p.a_row_stride, p.a_column_stride, p.b_row_stride,
                            p.b_column_stride, p.c_row_stride}) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h;
  }
};

struct Same {
  bool operator()(const TidemarkDnnlProduct& a, const TidemarkDnnlProduct& b) const {
    return same_product(a, b);
  }
};

/// The least recently used product goes first. Products oneDNN does not serve are kept as null.
class ProductCache {
 public:
  static ProductCache& instance() {
    static ProductCache* cache = new ProductCache;  // pool threads may outlive static objects
    return *cache;
  }

  std::shared_ptr<const DnnlProduct> get(const TidemarkDnnlTable& table,
                                         const TidemarkDnnlProduct& wanted) {
    {
      std::lock_guard lock(mutex_);
      if (const auto it = by_shape_.find(wanted); it != by_shape_.end()) {
        ++hits_;
        if (it->second != recent_.begin()) recent_.splice(recent_.begin(), recent_, it->second);
        return it->second->product;
      }
      ++misses_;
    }
    std::shared_ptr<const DnnlProduct> made;  // outside the lock: it takes a millisecond
    if (TidemarkDnnlPrimitive* primitive = table.create(&wanted)) {
      made = std::make_shared<DnnlProduct>(table, primitive);
    }
    insert(wanted, made);
    return made;
  }

 private:
  struct Entry {
    TidemarkDnnlProduct shape;
    std::shared_ptr<const DnnlProduct> product;
  };

  void insert(const TidemarkDnnlProduct& shape, std::shared_ptr<const DnnlProduct> product) {
    Entry evicted;  // destroyed after the lock is gone
    std::lock_guard lock(mutex_);
    if (by_shape_.contains(shape)) return;  // another thread was faster
    recent_.push_front({shape, std::move(product)});
    by_shape_.emplace(shape, recent_.begin());
    if (static_cast<int64_t>(recent_.size()) * kPrimitiveBytes <= kCacheBytes) return;
    evicted = std::move(recent_.back());
    by_shape_.erase(evicted.shape);
    recent_.pop_back();
    ++evictions_;
  }

  memory::CacheUse use() {
    std::lock_guard lock(mutex_);
    const int64_t entries = static_cast<int64_t>(recent_.size());
    return {"matmul primitives", entries, entries * kPrimitiveBytes, kCacheBytes, hits_, misses_,
            evictions_};
  }

  std::mutex mutex_;
  std::list<Entry> recent_;  // most recently used first
  std::unordered_map<TidemarkDnnlProduct, std::list<Entry>::iterator, Hash, Same> by_shape_;
  int64_t hits_ = 0, misses_ = 0, evictions_ = 0;
  memory::CacheRegistration listed_{[this] { return use(); }};
};

}  // namespace

const TidemarkDnnlTable* dnnl_table() {
  static const TidemarkDnnlTable* const table = open_library();
  return table;
}

void DnnlProduct::run(const void* a, const void* b, void* c, void* scratch) const {
  const int status = table_.run(primitive_, a, b, c, scratch);
  if (status != 0) fail<InternalError>("[matmul] oneDNN failed with status ", status);
}

bool same_product(const TidemarkDnnlProduct& a, const TidemarkDnnlProduct& b) {
  return a.is_bfloat16 == b.is_bfloat16 && a.m == b.m && a.n == b.n && a.k == b.k &&
         a.a_row_stride == b.a_row_stride && a.a_column_stride == b.a_column_stride &&
         a.b_row_stride == b.b_row_stride && a.b_column_stride == b.b_column_stride &&
         a.c_row_stride == b.c_row_stride;
}

std::shared_ptr<const DnnlProduct> dnnl_product(const TidemarkDnnlProduct& wanted) {
  const TidemarkDnnlTable* table = dnnl_table();
  return table ? ProductCache::instance().get(*table, wanted) : nullptr;
}

}  // namespace tidemark::cpu
