// Sites of C++ programs: a return address, turned into a line when somebody asks.

#include "tidemark/memory/site.h"
#include "tidemark/memory/symbolize.h"

namespace tidemark::memory {
namespace {

class AddressSource final : public SiteSource {
 public:
  std::string describe(uintptr_t address, uintptr_t) override {
    return describe_address(reinterpret_cast<const void*>(address));
  }
  void forget(uintptr_t, uintptr_t) noexcept override {}
};

/// Small on purpose: it lives in the static thread storage, of which there is little.
struct RecentSites {
  static constexpr size_t kEntries = 8;
  uint64_t generation;
  const void* address[kEntries];
  Site* site[kEntries];
};
thread_local constinit RecentSites recent __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

Site* site_of_address(const void* return_address) {
  static auto* source = new AddressSource;  // never destroyed: sites refer to it
  const uint64_t generation = site_generation();
  if (recent.generation != generation) {
    recent = {};
    recent.generation = generation;
  }
  const auto word = reinterpret_cast<uintptr_t>(return_address);
  const size_t at = ((word >> 3) ^ (word >> 9)) % RecentSites::kEntries;
  if (recent.address[at] == return_address && recent.site[at] != nullptr) return recent.site[at];
  Site* site = intern(*source, word, 0);
  recent.address[at] = return_address;
  recent.site[at] = site;
  return site;
}

}  // namespace tidemark::memory
