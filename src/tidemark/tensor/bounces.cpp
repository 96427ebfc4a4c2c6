#include "tidemark/tensor/bounces.h"

#include <map>
#include <mutex>
#include <utility>

#include "tidemark/memory/context.h"
#include "tidemark/memory/site.h"

namespace tidemark {

namespace {

constexpr size_t kMostLines = 256;

struct Noted {
  int64_t copies = 0, bytes = 0;
};
struct Table {
  std::mutex mutex;
  std::map<std::pair<std::string, const memory::Site*>, Noted, std::less<>> lines;  // sites pinned
};
Table& table() {
  static auto* only = new Table;  // threads may note while the process ends
  return *only;
}

}  // namespace

void note_bounce(std::string_view op, size_t bytes) {
  const memory::Site* site = memory::thread_context.site;
  Table& all = table();
  const std::lock_guard hold(all.mutex);
  auto found = all.lines.find(std::pair(std::string(op), site));
  if (found == all.lines.end()) {
    if (all.lines.size() >= kMostLines) return;
    if (site) memory::pin(*site);
    found = all.lines.emplace(std::pair(std::string(op), site), Noted{}).first;
  }
  ++found->second.copies;
  found->second.bytes += static_cast<int64_t>(bytes);
}

std::vector<Bounce> bounces() {
  std::vector<std::pair<const memory::Site*, Bounce>> found;
  {
    const std::lock_guard hold(table().mutex);
    for (const auto& [key, noted] : table().lines) {
      found.push_back({key.second, {key.first, "", noted.copies, noted.bytes}});
    }
  }
  std::vector<Bounce> told;
  for (auto& [site, bounce] : found) {
    if (site) bounce.place = memory::describe(*site);
    told.push_back(std::move(bounce));
  }
  return told;
}

}  // namespace tidemark
