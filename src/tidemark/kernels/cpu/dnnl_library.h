// Matrix products of the library, made once per shape and kept in a bounded cache.
#pragma once

#include <memory>

#include "tidemark/kernels/cpu/dnnl/interface.h"

namespace tidemark::cpu {

/// Null when the library is not there, which is said once on stderr.
const TidemarkDnnlTable* dnnl_table();

/// A product oneDNN runs; kept alive by whoever runs it.
class DnnlProduct {
 public:
  DnnlProduct(const TidemarkDnnlTable& table, TidemarkDnnlPrimitive* primitive)
      : table_(table), primitive_(primitive) {}
  ~DnnlProduct() { table_.destroy(primitive_); }
  DnnlProduct(const DnnlProduct&) = delete;
  size_t scratch_bytes() const { return table_.scratch_bytes(primitive_); }
  /// On the calling thread. Throws InternalError when the library fails.
  void run(const void* a, const void* b, void* c, void* scratch) const;

 private:
  const TidemarkDnnlTable& table_;
  TidemarkDnnlPrimitive* primitive_;
};

bool same_product(const TidemarkDnnlProduct& a, const TidemarkDnnlProduct& b);

/// Null when the library is not there (said once on stderr) or has no fast code for this product.
std::shared_ptr<const DnnlProduct> dnnl_product(const TidemarkDnnlProduct& wanted);

}  // namespace tidemark::cpu
