#include "tidemark/kernels/cpu/dnnl_library.h"

#include <tidemark/error.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "tidemark/base/plugin.h"
#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/kernels/cpu/primitive_cache.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::cpu {

namespace {

/// Machine code and descriptions of one primitive, as measured over many shapes, rounded up.
constexpr int64_t kPrimitiveBytes = 64 << 10;
constexpr int64_t kCacheBytes = 8 << 20;

const TidemarkDnnlTable* open_library() {
  std::string why;
  // Its own functions come first for the libraries below it: see dnnl/run_memory.h.
  const void* table =
      open_plugin("libtidemark_dnnl.so", "tidemark_dnnl_table", why, Lookup::itself_first);
  if (!table) {
    std::fprintf(stderr,
                 "tidemark: products and convolutions run on the built-in kernels, several times "
                 "slower, as %s\n",
                 why.c_str());
  }
  return static_cast<const TidemarkDnnlTable*>(table);
}

/// What the library packs matrices into, for the memory report.
void list_scratch(const TidemarkDnnlTable& table) {
  new memory::CacheRegistration([&table] {  // for as long as the process runs
    memory::CacheUse use;
    use.name = "oneDNN's scratch memory";
    use.bytes = static_cast<int64_t>(table.kept_bytes());
    use.capacity = static_cast<int64_t>(table.most_kept_bytes());
    use.entries = use.bytes > 0;
    return use;
  });
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

using ProductCache = PrimitiveCache<TidemarkDnnlProduct, DnnlProduct, Hash, Same>;

ProductCache& product_cache() {
  static ProductCache* cache = new ProductCache("matmul primitives", kCacheBytes);
  return *cache;  // never destroyed: pool threads may outlive static objects
}

}  // namespace

const TidemarkDnnlTable* dnnl_table() {
  static const TidemarkDnnlTable* const table = [] {
    const TidemarkDnnlTable* opened = open_library();
    if (opened) {
#if defined(__x86_64__)
      opened->use_level(static_cast<int>(best_level()) - static_cast<int>(Level::v2) + 2);
#endif
      list_scratch(*opened);
    }
    return opened;
  }();
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
  if (!table) return nullptr;
  return product_cache().get(
      wanted,
      [&] {
        TidemarkDnnlPrimitive* made = table->create(&wanted);
        return made ? std::make_shared<const DnnlProduct>(*table, made) : nullptr;
      },
      [](const DnnlProduct*) { return kPrimitiveBytes; });
}

}  // namespace tidemark::cpu
