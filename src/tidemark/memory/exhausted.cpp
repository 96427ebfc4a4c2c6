// The words of ResourceExhaustedError.

#include "tidemark/memory/context.h"
#include "tidemark/memory/core.h"
#include "tidemark/memory/device_memory.h"
#include "tidemark/memory/snapshot.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <new>
#include <vector>

namespace tidemark::memory {
namespace {

constexpr size_t kHoldersNamed = 5;

/// The numbers at the moment of the refusal.
struct Situation {
  int64_t wanted;
  int64_t used;
  int64_t retained;
  int64_t limit;
  std::string budget;  // empty: the process, or the device
  std::string device;  // empty: the CPU
  std::vector<Group> top;
};

Situation take_situation(const Refusal& refusal) {
  Situation s{};
  s.wanted = refusal.wanted;
  if (refusal.budget != nullptr) {
    s.used = refusal.budget->used();
    s.limit = refusal.budget->limit();
    s.budget = refusal.budget->name();
  } else if (DeviceMemory* device = memory_in_use(refusal.request->device)) {
    s.used = device->ledger().live() + device->ledger().planned();
    s.limit = device->limit();
    s.device = device->device().name();
  } else {
    s.used = core.ledger.live() + core.ledger.planned();
    s.retained = core.retained();
    s.limit = core.limit;
  }
  s.top = collect_groups(refusal.request->device);
  if (s.top.size() > kHoldersNamed) s.top.resize(kHoldersNamed);
  return s;
}

std::string heading(const Refusal& refusal, const Situation& s) {
  std::string out = "OOM when allocating ";
  const Request& request = *refusal.request;
  if (request.shape != nullptr && request.dtype != DType::invalid) {
    out += message("tensor with shape ", request.shape->to_brackets(), " and type ",
                   name_of(request.dtype));
  } else {
    out += message("a buffer of ", format_bytes(static_cast<int64_t>(request.bytes)));
  }
  if (thread_context.op != nullptr) out += message(" in op ", std::string_view(thread_context.op));
  switch (refusal.reason) {
    case Refusal::injected:
      out += " (failure injected for a test)";
      break;
    case Refusal::refused_by_system:
      out += s.device.empty() ? ": the operating system refused the memory"
                              : message(": ", s.device, " refused pages within its limit");
      break;
    case Refusal::no_gap:
      out += message(": no free part of the memory of ", s.device, " is large enough");
      break;
    default:
      out += refusal.budget != nullptr ? message(": over the limit of \"", s.budget, "\"")
             : s.device.empty()        ? ": over the memory limit"
                                       : message(": over the memory limit of ", s.device);
  }
  out += message(".\n  wanted ", format_bytes(s.wanted), ", used ", format_bytes(s.used));
  if (s.retained > 0) out += message(" (and ", format_bytes(s.retained), " retained)");
  const std::string whose = s.device.empty() ? "process" : s.device;
  return out + message(", limit ", format_bytes(s.limit),
                       s.budget.empty() ? message(" (", whose, ")") : std::string());
}

std::string list_holders(const std::vector<Group>& groups) {
  if (groups.empty()) return "\n  No tensor is alive.";
  std::string out = "\n  Largest holders:";
  for (const Group& g : groups) {
    out += message("\n    ", format_bytes(g.bytes), " in ", g.count,
                   g.count == 1 ? " buffer" : " buffers", ": ",
                   std::string_view(g.op != nullptr ? g.op : "(no op)"), ", ",
                   g.count == 1 ? "" : "largest ", describe_contents(g.dtype, g.shape, g.cut),
                   ", held as ", std::string_view(name_of(g.holder)), ", ", describe(*g.site));
  }
  return out;
}

std::string advice(const Refusal& refusal, const Situation& s) {
  if (refusal.reason == Refusal::injected) return "\n  Unset TIDEMARK_FAIL_ALLOCATION.";
  if (s.wanted > s.limit) {
    return "\n  The request alone exceeds the limit: work in smaller pieces, or raise the limit.";
  }
  if (refusal.reason == Refusal::refused_by_system && !s.device.empty()) {
    return "\n  Somebody else may hold the device's memory: end that process, or set a limit that "
           "leaves it its part.";
  }
  if (refusal.budget != nullptr) {
    return "\n  Release tensors made in this scope, or give the scope a larger limit.";
  }
  return message(
      "\n  Release tensors you no longer need (see the lines above), use smaller batches, or raise "
      "the limit with memory.set_limit",
      s.device.empty() ? " or TIDEMARK_MEMORY_LIMIT." : message("(…, device=\"", s.device, "\")."));
}

}  // namespace

void refuse(CoreLock& hold, const Refusal& refusal) {
  Situation situation;
  try {
    situation = take_situation(refusal);
  } catch (const std::bad_alloc&) {
    situation.top.clear();  // not even memory to say who has it
  }
  hold.unlock();
  throw ResourceExhaustedError(heading(refusal, situation) + list_holders(situation.top) +
                               advice(refusal, situation));
}

}  // namespace tidemark::memory
