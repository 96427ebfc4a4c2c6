#include "tidemark/kernels/cuda/pages.h"

namespace tidemark::cuda {

Address Pages::reserve(size_t bytes) {
  const Context::Scope scope(context_);
  Address start = 0;
  if (context_.driver().reserve(&start, bytes) != kDone) return 0;
  pages_.assign(bytes / page_bytes(), 0);
  return start_ = start;
}

int Pages::map_page(Address at) {
  Handle page = 0;
  const Driver& driver = context_.driver();
  if (const int status = driver.create_pages(&page, page_bytes(), context_.device())) return status;
  if (const int status = driver.map(at, page_bytes(), page)) {
    driver.release_pages(page);
    return status;
  }
  pages_[number_of(at)] = page;
  return kDone;
}

bool Pages::commit(Address start, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  size_t mapped = 0;
  int status = kDone;
  const char* call = "cuMemMap";
  for (; mapped < bytes && status == kDone; mapped += page_bytes()) {
    status = map_page(start + mapped);
    if (status != kDone) break;
  }
  if (status == kDone) {
    call = "cuMemSetAccess";
    status = context_.driver().allow_access(start, bytes, context_.device());
  }
  if (status == kDone) {
    present_ += bytes;
    return true;
  }
  release(start, mapped);
  if (status != kOutOfMemory) context_.check(status, call);
  return false;
}

void Pages::decommit(Address start, size_t bytes) noexcept {
  try {
    const Context::Scope scope(context_);
    release(start, bytes);
  } catch (const Error&) {
    // The GPU is lost to this process, and its memory with it.
  }
  present_ -= bytes;
}

/// Of a device that does not answer the pages are gone: there is nothing to be done about it.
void Pages::release(Address start, size_t bytes) noexcept {
  if (bytes == 0) return;
  context_.driver().unmap(start, bytes);
  for (size_t p = number_of(start); p < number_of(start + bytes); ++p) {
    context_.driver().release_pages(pages_[p]);
    pages_[p] = 0;
  }
}

}  // namespace tidemark::cuda
