#include "tidemark/profile/placement_log.h"

#include <tidemark/op.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <mutex>
#include <string>

#include "tidemark/base/attached.h"
#include "tidemark/exec/versions.h"

namespace tidemark::profile {

namespace {

std::mutex mutex;
int wanted_by = 0;  // scopes, and one for all threads
bool for_all = false;
thread_local int scopes_here = 0;

std::string full_name(Device device) {
  std::string name = device.name();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "/job:localhost/replica:0/task:0/device:" + name;
}

class Log final : public Observer {
 public:
  void op_placed(const OpDef& op, Device device) noexcept override {
    if (!is_wanted()) return;
    std::fprintf(stderr, "Executing op %s in device %s\n", op.name().c_str(),
                 full_name(device).c_str());
  }

  void planned(const exec::PlannedGraph& planned) noexcept override {
    if (!is_wanted()) return;
    for (const plan::PlannedStep& step : planned.plan.steps) {
      const std::string kind(graph::kind_of(*step.node));
      const std::string& name = step.node->label.empty() ? kind : step.node->label;
      std::fprintf(stderr, "%s: (%s): %s\n", name.c_str(), kind.c_str(),
                   full_name(step.device).c_str());
    }
  }

 private:
  static bool is_wanted() noexcept {
    if (scopes_here > 0) return true;
    const std::lock_guard lock(mutex);
    return for_all;
  }
};
constinit Log the_log;

/// With the lock held.
void count(int more) {
  if (wanted_by == 0) attach(the_log);
  wanted_by += more;
  if (wanted_by == 0) detach(the_log);
}

}  // namespace

void log_placement(bool on) {
  const std::lock_guard lock(mutex);
  if (on == for_all) return;
  count(on ? 1 : -1);
  for_all = on;
}

void log_placement_here(bool begin) {
  const int more = begin ? 1 : -1;
  const std::lock_guard lock(mutex);
  count(more);
  scopes_here += more;
}

}  // namespace tidemark::profile
