#include <tidemark/memory.h>

namespace tidemark::memory {

std::string report() {
  const Stats s = stats();
  return "live " + format_bytes(s.live) + ", retained " + format_bytes(s.retained) + "\n";
}

}  // namespace tidemark::memory
