// A plan in words, for a terminal.
#include <tidemark/bytes.h>
#include <tidemark/error.h>
#include <tidemark/plan.h>

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "tidemark/kernels/processor.h"

namespace tidemark {

namespace {

constexpr size_t kColumns = 80;
constexpr size_t kMostShown = 10;

/// Columns on the screen: bytes that go on a character take none.
size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

std::string cut(std::string text, size_t most) {
  if (columns(text) <= most) return text;
  return text.substr(0, most - 1) + "…";
}

std::string spaces(std::string_view text, size_t width) {
  return std::string(width - std::min(width, columns(text)), ' ');
}
std::string padded(const std::string& text, size_t width) { return text + spaces(text, width); }
std::string right(const std::string& text, size_t width) { return spaces(text, width) + text; }

std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
  return text;
}

/// The load over time in one line of bars, the highest of each piece.
std::string timeline(const std::vector<int64_t>& loads, int64_t most) {
  static constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t width = std::min<size_t>(loads.size(), kColumns - 4);
  std::string out;
  for (size_t i = 0; i < width; ++i) {
    const size_t begin = i * loads.size() / width, end = (i + 1) * loads.size() / width;
    int64_t load = 0;
    for (size_t k = begin; k < std::max(end, begin + 1); ++k) load = std::max(load, loads[k]);
    out += kBars[most > 0 ? static_cast<size_t>((load * 8 + most - 1) / most) : 0];
  }
  return out;
}

void row(std::string& out, const char* what, int64_t bytes, std::string_view note) {
  out += "  " + padded(what, 12) + right(format_bytes(bytes), 11) + "   ";
  out.append(note) += "\n";
}

/// Over as many lines as it takes, broken between words.
std::string wrapped(const std::string& text) {
  std::string out, line = " ";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (columns(line) + columns(word) + 1 > kColumns) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + word;
    at = end + 1;
  }
  return out + line + "\n";
}

/// Buffers or results of which the same is to be said.
struct Group {
  std::vector<std::string> what;
  int64_t bytes = 0;
  int count = 0;
  std::string times() const { return count > 1 ? message(count, " x ") : std::string(); }
};

class Groups {
 public:
  void add(std::vector<std::string> what, int64_t bytes) {
    auto same = std::find_if(all_.begin(), all_.end(), [&](auto& g) { return g.what == what; });
    if (same == all_.end()) same = all_.insert(same, Group{std::move(what)});
    same->bytes += bytes;
    ++same->count;
  }
  std::vector<Group> largest_first() const {
    std::vector<Group> sorted = all_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
    return sorted;
  }

 private:
  std::vector<Group> all_;
};

void add_peak(std::string& out, const PlanReport& plan, int at,
              const std::vector<PlannedBuffer>& buffers) {
  if (at < 0) return;
  const PlannedStepInfo& step = plan.steps[static_cast<size_t>(at)];
  out += cut(message("alive at the peak, step ", at + 1, " of ", plan.steps.size(), ", ", step.op,
                     step.line.empty() ? "" : " at ", step.line),
             kColumns - 1) +
         ":\n";
  Groups alive;
  for (const PlannedBuffer& b : buffers) {
    if (b.first > at || at > b.last) continue;
    const std::string op =
        b.written_over_by.empty() ? b.op : b.op + ", " + b.written_over_by.back();
    alive.add({op, b.line}, b.bytes);
  }
  const std::vector<Group> rows = alive.largest_first();
  int64_t rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i >= kMostShown) {
      rest += rows[i].bytes;
      continue;
    }
    const std::string who = padded(cut(rows[i].times() + rows[i].what[0], 26), 27);
    out += right(format_bytes(rows[i].bytes), 13) + "  " + who + cut(rows[i].what[1], 38) + "\n";
  }
  if (rows.size() > kMostShown) {
    out += right(format_bytes(rest), 13) + message("  ", rows.size() - kMostShown, " others\n");
  }
}

void add_timeline(std::string& out, const std::vector<int64_t>& loads, int64_t most) {
  out += message("over time, ", loads.size(), " steps:\n  ", timeline(loads, most), "\n");
}

void add_devices(std::string& out, const PlanReport& plan) {
  for (const PlannedDevice& device : plan.devices) {
    if (device.peak == 0) continue;
    out += message("on ", device.name, ": peak ", format_bytes(device.peak), ", lower bound ",
                   format_bytes(device.lower_bound), "\n");
    row(out, "arena", device.arena, "one block for all that does not outlive the call");
    row(out, "results", device.results, "buffers of their own");
    const auto highest = std::max_element(device.loads.begin(), device.loads.end());
    const bool is_empty = highest == device.loads.end();
    add_peak(out, plan, is_empty ? -1 : static_cast<int>(highest - device.loads.begin()),
             device.buffers);
    add_timeline(out, device.loads, device.lower_bound);
  }
  if (plan.copies.empty()) return;
  out += message(plan.copies.size(), " copies between devices:\n");
  Groups groups;
  for (const PlannedCopy& c : plan.copies) {
    groups.add({c.line.empty() ? c.op : c.op + " at " + c.line, c.from + " to " + c.to}, c.bytes);
  }
  const std::vector<Group> rows = groups.largest_first();
  for (size_t i = 0; i < std::min(rows.size(), kMostShown); ++i) {
    const std::string who = rows[i].times() + rows[i].what[0] + ": " + rows[i].what[1];
    out += right(format_bytes(rows[i].bytes), 13) + "  " + cut(who, kColumns - 15) + "\n";
  }
}

void add_repeats(std::string& out, const PlanReport& plan) {
  if (plan.repeats.empty()) return;
  out += message(plan.repeats.size(), " cheap values computed twice, not kept, about ",
                 percent(plan.repeat_time), " more time:\n");
  Groups groups;
  for (const PlannedRepeat& r : plan.repeats) {
    groups.add({r.line.empty() ? r.op : r.op + " at " + r.line, r.why}, r.bytes);
  }
  const std::vector<Group> rows = groups.largest_first();
  int64_t rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i >= kMostShown) {
      rest += rows[i].bytes;
      continue;
    }
    const std::string who = rows[i].times() + rows[i].what[0] + ": " + rows[i].what[1];
    out += right(format_bytes(rows[i].bytes), 13) + "  " + cut(who, kColumns - 15) + "\n";
  }
  if (rows.size() > kMostShown) {
    out += right(format_bytes(rest), 13) + message("  ", rows.size() - kMostShown, " others\n");
  }
}

void add_reuses(std::string& out, const PlanReport& plan) {
  constexpr int kMostReasons = 4;
  for (const bool done : {true, false}) {
    int count = 0;
    Groups groups;
    for (const PlannedReuse& r : plan.reuses) {
      if (r.done != done) continue;
      groups.add({r.op, r.why}, r.bytes);
      ++count;
    }
    if (count == 0) continue;
    out +=
        message(count, done ? " results written in place" : " not, though their op could", ":\n");
    const std::vector<Group> rows = groups.largest_first();
    for (size_t i = 0; i < std::min<size_t>(rows.size(), kMostReasons); ++i) {
      const std::string who = rows[i].times() + rows[i].what[0] + ": " + rows[i].what[1];
      out += right(format_bytes(rows[i].bytes), 13) + "  " + cut(who, kColumns - 15) + "\n";
    }
  }
  if (plan.refusals.empty()) return;
  out += message(plan.refusals.size(), " values that the plan could not place:\n");
  for (size_t i = 0; i < std::min<size_t>(plan.refusals.size(), kMostReasons); ++i) {
    out += "  - " + cut(plan.refusals[i], kColumns - 4) + "\n";
  }
}

void add_donations(std::string& out, const PlanReport& plan) {
  constexpr size_t kMostDonations = 6;
  if (plan.donations.empty()) return;
  out += message(plan.donations.size(), " donated arguments:\n");
  for (size_t i = 0; i < std::min(plan.donations.size(), kMostDonations); ++i) {
    const PlannedDonation& d = plan.donations[i];
    out += right(format_bytes(d.bytes), 13) +
           cut(message(d.done ? "  used again: " : "  not used again: ", d.why), kColumns - 13) +
           "\n";
  }
}

void add_python_steps(std::string& out, const PlanReport& plan) {
  if (plan.python_steps.empty()) return;
  out += message(plan.python_steps.size(), " steps in Python, which a call waits for:\n");
  for (size_t i = 0; i < std::min(plan.python_steps.size(), kMostShown); ++i) {
    const PlannedPythonStep& step = plan.python_steps[i];
    out +=
        "  - " +
        cut(step.line.empty() ? step.function : step.function + " at " + step.line, kColumns - 4) +
        "\n";
  }
  if (plan.python_steps.size() > kMostShown) {
    out += message("    ", plan.python_steps.size() - kMostShown, " others\n");
  }
}

}  // namespace

double PlanReport::gap() const {
  if (lower_bound == 0) return 0;
  return static_cast<double>(peak) / static_cast<double>(lower_bound) - 1;
}

int PlanReport::peak_step() const {
  int best = -1;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (best < 0 || steps[i].load > steps[static_cast<size_t>(best)].load) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

std::string PlanReport::to_string() const {
  std::string out = message("plan of ", name, ": peak ", format_bytes(peak));
  if (devices.empty()) {
    out += message(", lower bound ", format_bytes(lower_bound), " (+", percent(gap()), ")\n");
  } else {
    out += " on " + device;
    for (const PlannedDevice& d : devices)
      out += message(", ", format_bytes(d.peak), " on ", d.name);
    out += "\n";
  }
  if (!over_limit.empty()) out += wrapped("no run can have it: " + over_limit);
  row(out, "arena", arena, "one block for all that does not outlive the call");
  row(out, "results", results, "buffers of their own");
  row(out, "constants", constants, "kept with the function");
  row(out, "variables", variables, "in memory of their own, not counted");
  row(out, "arguments", inputs, "the caller's, not counted");
  row(out, "workspace", workspaces,
      message("the largest of any ", processor_level(), " kernel, in the arena"));
  if (inner > 0) row(out, "inside", inner, "the most of any branch or loop, while it runs");
  row(out, "as traced", as_traced, "the peak in the order of the program");
  if (budget > 0) {
    row(out, "budget", budget, "what a call may take");
    row(out, "without it", unbounded_peak, "the peak with nothing done twice or in pieces");
    if (repeated > 0) out += message("  ", repeated, " steps are done twice\n");
    for (const std::string& split : splits) out += wrapped(split);
    out += message("  about ", percent(added_time), " more time\n");
  }
  add_peak(out, *this, peak_step(), buffers);
  std::vector<int64_t> loads;
  for (const PlannedStepInfo& step : steps) loads.push_back(step.load);
  add_timeline(out, loads, lower_bound);
  add_devices(out, *this);
  add_donations(out, *this);
  add_repeats(out, *this);
  add_reuses(out, *this);
  add_python_steps(out, *this);
  return out;
}

std::ostream& operator<<(std::ostream& out, const PlanReport& plan) {
  return out << plan.to_string();
}

}  // namespace tidemark
