// Sites of C++ programs: a return address, turned into a line when somebody asks. It is the
// program's: where the library called itself, the frames are walked up to the first that is not its
// own.

#include <link.h>

#include "tidemark/memory/context.h"
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

/// Where the code of this library lies; nothing where it is part of the program itself, whose own
/// lines could not be told from it.
struct CodeRange {
  uintptr_t begin = 0, end = 0;
  bool holds(const void* address) const {
    const auto word = reinterpret_cast<uintptr_t>(address);
    return word - begin < end - begin;
  }
};

int find_own_code(dl_phdr_info* object, size_t, void* out) {
  const auto here = reinterpret_cast<uintptr_t>(&find_own_code);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const CodeRange range{object->dlpi_addr + part.p_vaddr,
                          object->dlpi_addr + part.p_vaddr + part.p_memsz};
    if (part.p_type != PT_LOAD || !range.holds(reinterpret_cast<const void*>(here))) continue;
    if (object->dlpi_name[0] != '\0') *static_cast<CodeRange*>(out) = range;
    return 1;
  }
  return 0;
}

const CodeRange& own_code() {
  static const CodeRange range = [] {
    CodeRange found;
    dl_iterate_phdr(find_own_code, &found);
    return found;
  }();
  return range;
}

/// The first return address outside of the library. All its code keeps frame pointers, so that the
/// chain holds up to there.
[[gnu::noinline]] const void* first_outside(const CodeRange& own, const void* otherwise) {
  constexpr int kMost = 200;  // frames of ours above one another
  auto frame = static_cast<void* const*>(__builtin_frame_address(0));
  for (int i = 0; i < kMost; ++i) {
    if (!own.holds(frame[1])) return frame[1];
    auto next = static_cast<void* const*>(frame[0]);
    if (next <= frame) break;
    frame = next;
  }
  return otherwise;
}

}  // namespace

Site* site_of_address(const void* return_address) {
  static auto* source = new AddressSource;  // never destroyed: sites refer to it
  if (const CodeRange& own = own_code(); own.holds(return_address)) {
    if (thread_context.site != nullptr) return thread_context.site;  // an outer call has told it
    return_address = first_outside(own, return_address);
  }
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
