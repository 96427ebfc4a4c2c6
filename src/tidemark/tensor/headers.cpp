#include "tidemark/tensor/headers.h"

#include <new>

namespace tidemark::detail {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kMostKept = 0;  // whoever uses a header that is gone shall be seen
#else
constexpr uint32_t kMostKept = 256;
#endif

/// Memory of headers that this thread has freed, chained through their first bytes.
struct KeptHeaders {
  void* first = nullptr;
  uint32_t count = 0;
  bool is_over = false;  // the thread ends: other objects of it may still free tensors

  void* take() noexcept {
    void* memory = first;
    if (memory) {
      first = *static_cast<void**>(memory);
      --count;
    }
    return memory;
  }
  bool keep(void* memory) noexcept {
    if (count >= kMostKept || is_over) return false;
    *static_cast<void**>(memory) = first;
    first = memory;
    ++count;
    return true;
  }
  ~KeptHeaders() {
    is_over = true;
    while (void* memory = take()) ::operator delete(memory);
  }
};

thread_local constinit KeptHeaders kept __attribute__((tls_model("initial-exec")));

}  // namespace

TensorImpl* new_header() {
  void* memory = kept.take();
  if (!memory) memory = ::operator new(sizeof(TensorImpl), std::nothrow);
  if (!memory) fail<ResourceExhaustedError>("no memory for a tensor's header");
  return new (memory) TensorImpl;
}

void free_header(TensorImpl* impl) noexcept {
  impl->~TensorImpl();
  if (!kept.keep(impl)) ::operator delete(impl);
}

}  // namespace tidemark::detail
