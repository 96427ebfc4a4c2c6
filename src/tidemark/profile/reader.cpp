#include "tidemark/profile/reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <tidemark/error.h>

namespace tidemark::profile {

namespace {

constexpr size_t kMostEvents = 8192;      // at once
constexpr uint32_t kLongestName = 65536;  // what is longer is cut
constexpr size_t kMostNames = 1 << 20;    // of a table; a file of rubbish has no more either
constexpr uint64_t kMostPlanBytes = 16 << 20;

/// Read at once: no more than the file has room for, at least one.
size_t most_events(FILE* file) {
  struct stat about = {};
  if (::fstat(::fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) return kMostEvents;
  const auto fitting = static_cast<size_t>(about.st_size) / sizeof(Event) + 1;
  return std::min(fitting, kMostEvents);
}

}  // namespace

Reader::Reader(const std::string& path) : file_(std::fopen(path.c_str(), "rb")) {
  if (!file_) fail<InvalidArgumentError>("cannot read ", path, ": ", std::strerror(errno));
  const size_t have = read(&header_, sizeof header_);
  if (have < sizeof header_ || std::memcmp(header_.magic, kMagic, sizeof kMagic) != 0) {
    fail<InvalidArgumentError>(path, " is no recording of Tidemark");
  }
  if (header_.version > kVersion || header_.header_bytes < sizeof header_) {
    fail<InvalidArgumentError>(path, " is a recording of version ", header_.version,
                               "; this Tidemark reads up to version ", kVersion);
  }
  skip(header_.header_bytes - sizeof header_);
  chunk_.resize(most_events(file_.get()));
}

size_t Reader::read(void* out, size_t bytes) { return std::fread(out, 1, bytes, file_.get()); }

void Reader::skip(uint64_t bytes) {
  char rest[4096];
  while (bytes > 0) {
    const size_t done = read(rest, std::min<uint64_t>(bytes, sizeof rest));
    if (done == 0) return;
    bytes -= done;
  }
}

bool Reader::next() {
  count_ = 0;
  while (count_ == 0) {
    if (left_in_block_ < sizeof(Event)) {
      skip(left_in_block_);
      left_in_block_ = 0;
      if (!next_block()) return false;
      continue;
    }
    const size_t wanted = std::min<uint64_t>(left_in_block_ / sizeof(Event), chunk_.size());
    const size_t have = read(chunk_.data(), wanted * sizeof(Event));
    count_ = have / sizeof(Event);
    left_in_block_ -= wanted * sizeof(Event);
    if (count_ < wanted) {  // the cut
      left_in_block_ = 0;
      return count_ > 0;
    }
  }
  return true;
}

void Reader::skip_events() {
  do {
    const auto bytes = static_cast<long>(left_in_block_);
    if (std::fseek(file_.get(), bytes, SEEK_CUR) != 0) skip(left_in_block_);
    left_in_block_ = 0;
  } while (next_block());
}

bool Reader::next_block() {
  BlockHead head{};
  if (read(&head, sizeof head) < sizeof head) return false;
  switch (static_cast<BlockKind>(head.kind)) {
    case BlockKind::events:
      left_in_block_ = head.bytes;
      return true;
    case BlockKind::name:
      read_name(head.bytes);
      return true;
    case BlockKind::plan:
      read_plan(head.bytes);
      return true;
    case BlockKind::end: {
      EndBlock end{};
      const size_t bytes = std::min<size_t>(head.bytes, sizeof end);
      if (read(&end, bytes) == sizeof end) {
        is_whole_ = true;
        lost_ = end.lost;
      }
      skip(head.bytes - bytes);
      return true;
    }
  }
  skip(head.bytes);
  return true;
}

void Reader::read_name(uint32_t bytes) {
  NameHead head{};
  if (bytes < sizeof head || read(&head, sizeof head) < sizeof head) return skip(bytes);
  const uint32_t length = bytes - static_cast<uint32_t>(sizeof head);
  std::string text(std::min(length, kLongestName), '\0');
  text.resize(read(text.data(), text.size()));
  skip(length - std::min(length, kLongestName));
  if (head.table >= kNameTables || names_[head.table].size() >= kMostNames) return;
  names_[head.table][head.number] = std::move(text);
}

void Reader::read_plan(uint32_t bytes) {
  Plan plan;
  if (bytes < sizeof plan.head || plan_bytes_ + bytes > kMostPlanBytes) return skip(bytes);
  if (read(&plan.head, sizeof plan.head) < sizeof plan.head) return;
  const size_t wanted = (bytes - sizeof plan.head) / sizeof(PlanBuffer);
  plan.buffers.resize(wanted);
  plan.buffers.resize(read(plan.buffers.data(), wanted * sizeof(PlanBuffer)) / sizeof(PlanBuffer));
  skip((bytes - sizeof plan.head) % sizeof(PlanBuffer));
  plan_bytes_ += bytes;
  plans_.push_back(std::move(plan));
}

const std::string& Reader::name(NameTable table, uint64_t number) const {
  static const std::string& none = *new std::string;
  const auto& names = names_[static_cast<int>(table)];
  const auto found = names.find(number);
  return found != names.end() ? found->second : none;
}

}  // namespace tidemark::profile
