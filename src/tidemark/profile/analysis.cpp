#include "tidemark/profile/analysis.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_map>

#include "tidemark/memory/buffer.h"
#include "tidemark/profile/reader.h"
#include "tidemark/profile/replay.h"
#include "tidemark/profile/step_finder.h"

namespace tidemark::profile {

namespace {

std::string holder_name(uint8_t holder) {
  holder &= static_cast<uint8_t>(~kIdle);
  return holder < memory::kHolderKinds ? memory::name_of(static_cast<memory::Holder>(holder))
                                       : "unknown";
}

std::string place_name(const Reader& reader, uint32_t place) {
  const std::string& name = reader.name(NameTable::place, place);
  if (!name.empty()) return name;
  return place == 0 ? "(unknown place)" : "(place " + std::to_string(place) + ")";
}

/// Which events are about buffers of the device that is looked at: their place tells.
class OfDevice {
 public:
  OfDevice(const Reader& names, const std::string& device, Analysis& out) {
    names.each_name(NameTable::device, [&](uint64_t place, const std::string& text) {
      const size_t end = std::min(text.find(' '), text.size());
      const std::string name = text.substr(0, end);
      const auto at = std::lower_bound(out.devices.begin(), out.devices.end(), name);
      if (at == out.devices.end() || *at != name) out.devices.insert(at, name);
      is_other_[place] = name != device;
      if (name == device && end < text.size()) {
        std::from_chars(text.data() + end + 1, text.data() + text.size(), out.limit);
      }
    });
    is_cpu_other_ = !device.empty();
  }

  bool concerns(const Event& event) const {
    const bool is_of_buffer = event.kind >= EventKind::found && event.kind <= EventKind::change;
    if (!is_of_buffer) return true;
    const auto found = is_other_.find(event.place);
    return found == is_other_.end() ? !is_cpu_other_ : !found->second;
  }

 private:
  std::unordered_map<uint64_t, bool> is_other_;  // by place; of the CPU there are none
  bool is_cpu_other_ = false;
};

/// What the first pass finds out.
struct FirstPass {
  Replay replay;
  StepFinder steps;
  std::vector<OpUse> ops;
  std::map<std::tuple<uint64_t, uint16_t, uint32_t>, WorkUse> work;  // by device, op and place
  uint64_t end = 0;
};

FirstPass first_pass(Reader reader, const OfDevice& device, Analysis& out) {
  FirstPass pass;
  while (reader.next()) {
    for (const Event& event : reader.events()) {
      ++out.events;
      const auto kind = static_cast<size_t>(event.kind);
      if (kind < kEventKinds) ++out.counts[kind];
      if (event.kind == EventKind::lost) out.lost += event.value;
      const bool takes_time = event.kind == EventKind::op || event.kind == EventKind::work;
      const uint64_t end = event.time + (takes_time ? event.value : 0);
      if (end > pass.end && end < (uint64_t{1} << 62)) pass.end = end;
      if (!device.concerns(event)) continue;
      pass.replay.apply(event);
      pass.steps.see(event);
      if (event.kind == EventKind::op) {
        if (event.op >= pass.ops.size()) pass.ops.resize(event.op + size_t{1});
        ++pass.ops[event.op].count;
        pass.ops[event.op].nanoseconds += event.value;
      } else if (event.kind == EventKind::work) {
        WorkUse& use = pass.work[{event.id, event.op, event.place}];
        ++use.count;
        use.nanoseconds += event.value;
      }
    }
  }
  return pass;
}

/// Which series of the timeline each group belongs to: the largest names have their own.
class SeriesOfGroups {
 public:
  template <class NameOf>
  SeriesOfGroups(const std::vector<GroupCount>& groups, size_t most, const char* others,
                 NameOf name_of) {
    std::map<std::string, int64_t> highest;
    std::vector<const std::string*> names;
    for (const GroupCount& g : groups) {
      const auto at = highest.try_emplace(name_of(g.key), 0).first;
      at->second += g.highest;
      names.push_back(&at->first);
    }
    std::vector<std::pair<int64_t, const std::string*>> order;
    for (const auto& [name, bytes] : highest) order.emplace_back(bytes, &name);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    if (order.size() > most) order.resize(most);
    std::map<const std::string*, size_t> number;
    for (const auto& [bytes, name] : order) {
      number[name] = series.size();
      series.push_back(*name);
    }
    other_ = series.size();
    series.push_back(others);
    for (const std::string* name : names) {
      const auto found = number.find(name);
      of_group_.push_back(found != number.end() ? found->second : other_);
    }
  }
  size_t of(uint32_t group) const { return group < of_group_.size() ? of_group_[group] : other_; }

  std::vector<std::string> series;

 private:
  std::vector<size_t> of_group_;
  size_t other_ = 0;
};

/// Memory over time: of each stretch its highest moment.
class TimelineMaker {
 public:
  TimelineMaker(const SeriesOfGroups& series, const SeriesOfGroups& labels, uint64_t end,
                size_t stretches)
      : series_(series),
        labels_(labels),
        stretch_(std::max<uint64_t>(1, end / std::max<size_t>(1, stretches) + 1)),
        first_label_(series.series.size() + memory::kHolderKinds),
        now_(first_label_ + labels.series.size() + 1) {}

  void changed(const Replay& replay, uint64_t time) {
    if (time / stretch_ > at_ || is_first_) close(time / stretch_);
    follow(replay, replay.left());
    if (replay.touched() != replay.left()) follow(replay, replay.touched());
    now_.back() = replay.idle();
    if (replay.live() + replay.idle() > highest_) {
      highest_ = replay.live() + replay.idle();
      best_ = now_;
      best_time_ = time;
    }
  }

  Timeline finish() {
    close(at_ + 1);
    for (const std::string& name : series_.series) out_.by_place.push_back({name, {}});
    for (int kind = 0; kind < memory::kHolderKinds; ++kind) {
      out_.by_holder.push_back({memory::name_of(static_cast<memory::Holder>(kind)), {}});
    }
    for (const std::string& name : labels_.series) out_.by_label.push_back({name, {}});
    const size_t places = series_.series.size();
    for (const std::vector<int64_t>& row : rows_) {
      for (size_t i = 0; i < places; ++i) out_.by_place[i].bytes.push_back(row[i]);
      for (size_t i = 0; i < memory::kHolderKinds; ++i) {
        out_.by_holder[i].bytes.push_back(row[places + i]);
      }
      for (size_t i = 0; i < labels_.series.size(); ++i) {
        out_.by_label[i].bytes.push_back(row[first_label_ + i]);
      }
      out_.idle.push_back(row.back());
    }
    return std::move(out_);
  }

 private:
  void follow(const Replay& replay, uint32_t touched) {
    if (touched >= replay.groups().size()) return;
    const GroupCount& group = replay.groups()[touched];
    if (touched >= known_.size()) known_.resize(touched + size_t{1});
    const int64_t by = group.live - known_[touched];
    known_[touched] = group.live;
    now_[series_.of(touched)] += by;
    const size_t holder = std::min<size_t>(group.key.holder, memory::kHolderKinds - 1);
    now_[series_.series.size() + holder] += by;
    now_[first_label_ + labels_.of(touched)] += by;
  }

  void close(uint64_t next) {
    if (!is_first_) {
      out_.times.push_back(best_time_);
      rows_.push_back(best_);
      if (next > at_ + 1) {  // nothing happened in between: it stays as it was
        out_.times.push_back((at_ + 1) * stretch_);
        rows_.push_back(now_);
      }
    }
    is_first_ = false;
    at_ = next;
    highest_ = -1;
    best_ = now_;
    best_time_ = next * stretch_;
  }

  const SeriesOfGroups& series_;
  const SeriesOfGroups& labels_;
  uint64_t stretch_;
  size_t first_label_;  // among the numbers of a moment
  uint64_t at_ = 0;
  bool is_first_ = true;
  std::vector<int64_t> known_;  // of each group
  std::vector<int64_t> now_, best_;
  uint64_t best_time_ = 0;
  int64_t highest_ = -1;
  std::vector<std::vector<int64_t>> rows_;
  Timeline out_;
};

/// What was live at the beginning of steps; of a group, what stayed from there to the next that is
/// looked at: while something is made anew, there are two of it. Of many steps, each so-many-th is
/// looked at.
class StepSampler {
 public:
  StepSampler(const StepFinder::Found& steps, size_t most)
      : key_(steps.key), stride_(std::max<uint64_t>(1, (steps.count + most - 1) / most)) {}

  void see(const Event& event, Replay& replay) {
    if (event.kind == EventKind::op) ++num_ops_;
    if (!key_.matches(event)) return;
    at_last_ = num_ops_;
    if (count_ % stride_ == 0) {
      out_.samples.push_back(count_);
      out_.times.push_back(event.time);
      out_.live.push_back(replay.live());
      out_.idle.push_back(replay.idle());
      of_group_.resize(std::max(of_group_.size(), replay.groups().size()));
      for (size_t i = 0; i < replay.groups().size(); ++i) {
        const int64_t live = replay.groups()[i].live;
        if (live == 0 && of_group_[i].empty()) continue;
        of_group_[i].resize(out_.samples.size() - 1);
        of_group_[i].push_back(live);
      }
      at_sample_.assign(of_group_.size(), 0);
      for (size_t i = 0; i < of_group_.size(); ++i) at_sample_[i] = replay.groups()[i].live;
    }
    replay.step = ++count_;
  }

  /// After an event that changed what is live.
  void changed(const Replay& replay) {
    for (const uint32_t group : {replay.touched(), replay.left()}) {
      if (group >= of_group_.size() || of_group_[group].size() != out_.samples.size()) continue;
      int64_t& least = of_group_[group].back();
      least = std::min(least, replay.groups()[group].live);
    }
  }

  Steps finish(const Reader& reader) {
    out_.count = count_;
    num_samples_ = out_.samples.size();
    out_.until = num_ops_ ? static_cast<double>(at_last_) / static_cast<double>(num_ops_) : 1;
    if (key_.kind == EventKind::lost) return std::move(out_);
    out_.place = place_name(reader, key_.place);
    const bool is_op = key_.kind == EventKind::op;
    const std::string& what = reader.name(is_op ? NameTable::op : NameTable::text, key_.what);
    switch (key_.kind) {
      case EventKind::step:
        out_.how = "marked by the program";
        out_.place.clear();
        break;
      case EventKind::session:
        out_.how = "runs of a session";
        break;
      case EventKind::gradient:
        out_.how = "gradients taken";
        break;
      default:
        out_.how = "calls of " + what;
    }
    return std::move(out_);
  }
  /// After finish().
  std::vector<int64_t> of_group(size_t group) {
    if (group >= of_group_.size()) return {};
    if (of_group_[group].empty()) return {};
    of_group_[group].resize(num_samples_);
    of_group_[group].back() = at_sample_[group];  // what goes after the last step ends with it
    return std::move(of_group_[group]);
  }

 private:
  StepKey key_;
  uint64_t stride_;
  uint64_t count_ = 0, num_ops_ = 0, at_last_ = 0;
  size_t num_samples_ = 0;
  std::vector<std::vector<int64_t>> of_group_;
  std::vector<int64_t> at_sample_;  // of each group, at the last
  Steps out_;
};

/// How often lines ran. A function of the library's may run the same op several times for one call,
/// so that of the ops of a line the one that ran least often tells; not one of a few rounds only.
std::map<std::string, uint64_t> times_of_lines(
    const std::vector<std::pair<uint32_t, uint64_t>>& times, const Reader& names) {
  constexpr uint64_t kMostOfOneCall = 8;
  std::map<std::string, std::vector<uint64_t>> by_line;
  for (const auto& [place, count] : times) by_line[place_name(names, place)].push_back(count);
  std::map<std::string, uint64_t> out;
  for (auto& [line, counts] : by_line) {
    const uint64_t most = *std::max_element(counts.begin(), counts.end());
    std::erase_if(counts, [&](uint64_t count) { return count * kMostOfOneCall < most; });
    out[line] = *std::min_element(counts.begin(), counts.end());
  }
  return out;
}

bool is_mark(EventKind kind) {
  return kind == EventKind::trace || kind == EventKind::plan || kind == EventKind::session ||
         kind == EventKind::step;
}

std::vector<LiveUse> alive_at_end(const Reader& reader, const Replay& replay, size_t most) {
  std::vector<const Replay::Alive*> order;
  for (const auto& [id, buffer] : replay.alive()) order.push_back(&buffer);
  const size_t kept = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::vector<LiveUse> out;
  for (size_t i = 0; i < kept; ++i) {
    const GroupKey& key = replay.groups()[order[i]->group].key;
    out.push_back({place_name(reader, key.place), reader.name(NameTable::op, key.op),
                   holder_name(key.holder), static_cast<int64_t>(order[i]->bytes), order[i]->since,
                   order[i]->step});
  }
  return out;
}

std::vector<PlanMap> plans_of(const Reader& reader) {
  static constexpr const char* kKinds[] = {"arena", "workspace", "result", "own"};
  std::vector<PlanMap> out;
  for (const Reader::Plan& plan : reader.plans()) {
    PlanMap map{reader.name(NameTable::text, plan.head.name),
                place_name(reader, plan.head.place),
                plan.head.time,
                plan.head.arena,
                plan.head.results,
                plan.head.peak,
                plan.head.lower_bound,
                {}};
    for (const PlanBuffer& b : plan.buffers) {
      map.values.push_back({reader.name(NameTable::text, b.name), place_name(reader, b.place),
                            kKinds[std::min<uint32_t>(b.kind, 3)], b.bytes, b.offset, b.first,
                            b.last});
    }
    out.push_back(std::move(map));
  }
  return out;
}

}  // namespace

Analysis analyse(const std::string& path, const AnalysisOptions& options) {
  Analysis out;
  Reader names(path);
  names.skip_events();
  out.started = names.header().started;
  out.pid = names.header().pid;
  out.limit = names.header().limit;
  const OfDevice device(names, options.device, out);
  FirstPass first = first_pass(Reader(path), device, out);
  out.from_ring = (names.header().flags & kFromRing) != 0;
  out.is_whole = names.is_whole();
  out.lost = std::max(out.lost, names.lost());
  out.duration = first.end;
  out.peak = first.replay.peak();
  out.peak_time = first.replay.peak_time();

  const SeriesOfGroups series(first.replay.groups(), options.series, "(other places)",
                              [&](const GroupKey& key) { return place_name(names, key.place); });
  const SeriesOfGroups labels(
      first.replay.groups(), options.labels.empty() ? 0 : options.series, "(others)",
      [&](const GroupKey& key) {
        const std::string holder = holder_name(key.holder);
        const auto found = options.labels.find(
            {place_name(names, key.place), names.name(NameTable::op, key.op), holder});
        if (found != options.labels.end()) return found->second;
        return holder == "value" ? std::string("values of short life") : holder;
      });
  TimelineMaker timeline(series, labels, first.end, options.stretches);
  const auto found = first.steps.find([&](uint32_t place) -> StepFinder::Line {
    const std::string name = place_name(names, place);
    return {name, options.occasional.contains(name)};
  });
  StepSampler sampler(found, options.samples);
  const auto times = first.steps.times();
  first.replay = Replay();  // its live buffers take as much memory as the second's
  Replay replay;
  Reader reader(path);
  while (reader.next()) {
    for (const Event& event : reader.events()) {
      if (!device.concerns(event)) continue;
      sampler.see(event, replay);
      if (replay.apply(event)) {
        sampler.changed(replay);
        timeline.changed(replay, std::min(event.time, first.end));
      }
      if (is_mark(event.kind) && out.marks.size() < options.most_marks) {
        out.marks.push_back({event.kind, event.time, names.name(NameTable::text, event.id),
                             place_name(names, event.place), event.value});
      }
    }
  }
  out.live_at_end = replay.live();
  out.idle_at_end = replay.idle();
  out.timeline = timeline.finish();
  out.steps = sampler.finish(names);
  out.steps.lines = times_of_lines(times, names);
  for (size_t i = 0; i < replay.groups().size(); ++i) {
    const GroupCount& g = replay.groups()[i];
    out.groups.push_back({place_name(names, g.key.place), names.name(NameTable::op, g.key.op),
                          holder_name(g.key.holder), g.live, g.count, g.highest, replay.at_peak(g),
                          replay.count_at_peak(g), g.total_count, g.total_bytes,
                          sampler.of_group(i)});
  }
  std::stable_sort(out.groups.begin(), out.groups.end(), [](const GroupUse& a, const GroupUse& b) {
    return std::max(a.bytes_at_peak, a.live_bytes) > std::max(b.bytes_at_peak, b.live_bytes);
  });
  out.plans = plans_of(names);
  out.alive = alive_at_end(names, replay, options.most_alive);
  for (size_t op = 0; op < first.ops.size(); ++op) {
    if (first.ops[op].count == 0) continue;
    first.ops[op].op = names.name(NameTable::op, op);
    out.ops.push_back(first.ops[op]);
  }
  for (auto& [key, use] : first.work) {
    const auto& [device, op, place] = key;
    use.device = names.name(NameTable::text, device);
    use.op = names.name(NameTable::op, op);
    use.place = place_name(names, place);
    out.work.push_back(std::move(use));
  }
  const auto takes_longer = [](const auto& a, const auto& b) {
    return a.nanoseconds > b.nanoseconds;
  };
  std::stable_sort(out.ops.begin(), out.ops.end(), takes_longer);
  std::stable_sort(out.work.begin(), out.work.end(), takes_longer);
  return out;
}

}  // namespace tidemark::profile
