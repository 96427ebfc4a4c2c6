// Pages: the memory of one GPU, made present and given back a page at a time at fixed addresses.
//
// A page is one allocation of the driver's, because what is mapped cannot be split: any page can go
// back by itself, and memory is never held for want of a neighbour.
#pragma once

#include <vector>

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

class Pages {
 public:
  explicit Pages(const Context& context) : context_(context) {}

  size_t page_bytes() const { return context_.facts().page_bytes; }
  /// 0: refused. Once.
  Address reserve(size_t bytes);
  /// False: there is not as much memory, and nothing has changed. Throws InternalError for other
  /// refusals, and nothing has changed either.
  bool commit(Address start, size_t bytes);
  /// Of whole pages that are present.
  void decommit(Address start, size_t bytes) noexcept;
  size_t present() const { return present_; }

 private:
  size_t number_of(Address address) const { return (address - start_) / page_bytes(); }
  int map_page(Address at);
  void release(Address start, size_t bytes) noexcept;

  const Context& context_;
  Address start_ = 0;
  std::vector<Handle> pages_;  // by number; 0: not present
  size_t present_ = 0;         // bytes
};

}  // namespace tidemark::cuda
