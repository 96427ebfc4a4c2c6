#include "tidemark/kernels/cuda/recent_work.h"

#include <tidemark/error.h>

#include <algorithm>
#include <vector>

namespace tidemark::cuda {

std::string words_for(const RecentWork::All& work, uint64_t behind) {
  constexpr size_t kMost = 8;
  std::vector<const RecentWork::One*> found;
  for (const RecentWork::One& one : work) {
    if (one.number > behind) found.push_back(&one);
  }
  std::sort(found.begin(), found.end(),
            [](const auto* a, const auto* b) { return a->number > b->number; });
  std::vector<std::string> told;
  for (const RecentWork::One* one : found) {
    if (told.size() == kMost) break;
    std::string words = one->name;
    if (one->place) words += " at " + memory::describe(*one->place);
    if (std::find(told.begin(), told.end(), words) == told.end()) told.push_back(words);
  }
  std::string text;
  for (const std::string& words : told) text += (text.empty() ? "" : ", ") + words;
  return text.empty() ? "" : ". One of these failed, the last first: " + text;
}

}  // namespace tidemark::cuda
