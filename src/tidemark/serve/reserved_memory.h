// ReservedMemory: bytes of the server that are no tensors (connections, bodies, parsed JSON,
// answers), counted against the memory limit before they are used.
//
//   ReservedMemory room(body.size());       // throws ResourceExhaustedError where it does not fit
//   std::string answer; answer.reserve(…);  // what it is for
#pragma once

#include <cstddef>
#include <vector>

namespace tidemark::memory {
struct Buffer;
}

namespace tidemark::serve {

class ReservedMemory {
 public:
  explicit ReservedMemory(size_t bytes = 0) { grow_to(bytes); }
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  /// Throws ResourceExhaustedError with the numbers; what was reserved before stays so.
  void grow_to(size_t bytes);
  void release();

 private:
  size_t small_ = 0;                      // counted together with those of others
  std::vector<memory::Buffer*> buffers_;  // what is more
  size_t bytes_ = 0;                      // of the buffers
};

}  // namespace tidemark::serve
