// Reading recordings: one pass, a few hundred kilobytes, whatever the file holds.
//
//   Reader reader("run.tidemark");
//   while (reader.next()) for (const Event& event : reader.events()) ...
//   reader.name(NameTable::place, event.place)          // known when the events are through
//
// A file that was cut short is read up to the cut.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tidemark/profile/format.h"

namespace tidemark::profile {

class TIDEMARK_API Reader {
 public:
  /// Throws InvalidArgumentError for what is no recording, or one of a later version.
  explicit Reader(const std::string& path);

  const Header& header() const { return header_; }
  /// The next events; false at the end.
  bool next();
  /// Reads on to the end, of events nothing: names, plans and how it ended are then known.
  void skip_events();
  std::span<const Event> events() const { return {chunk_.data(), count_}; }

  /// "" where there is none.
  const std::string& name(NameTable table, uint64_t number) const;
  size_t num_names(NameTable table) const { return names_[static_cast<int>(table)].size(); }
  template <class Visit>
  void each_name(NameTable table, Visit visit) const {
    for (const auto& [number, text] : names_[static_cast<int>(table)]) visit(number, text);
  }
  struct Plan {
    PlanHead head{};
    std::vector<PlanBuffer> buffers;
  };
  /// The maps of plans, in the order they were made; all are known at the end.
  const std::vector<Plan>& plans() const { return plans_; }
  /// The recording ended as it should; known at the end.
  bool is_whole() const { return is_whole_; }
  uint64_t lost() const { return lost_; }

 private:
  bool next_block();
  void read_name(uint32_t bytes);
  void read_plan(uint32_t bytes);
  size_t read(void* out, size_t bytes);
  void skip(uint64_t bytes);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  Header header_{};
  std::vector<Event> chunk_;
  size_t count_ = 0;
  uint64_t left_in_block_ = 0;  // bytes of events
  bool is_whole_ = false;
  uint64_t lost_ = 0;
  std::unordered_map<uint64_t, std::string> names_[kNameTables];
  std::vector<Plan> plans_;
  uint64_t plan_bytes_ = 0;
};

}  // namespace tidemark::profile
