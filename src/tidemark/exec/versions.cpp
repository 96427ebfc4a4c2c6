#include "tidemark/exec/versions.h"

#include <tidemark/bytes.h>
#include <tidemark/handler.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "tidemark/base/attached.h"
#include "tidemark/base/placement.h"
#include "tidemark/base/settings.h"
#include "tidemark/base/upcalls.h"
#include "tidemark/compile/fit_budget.h"
#include "tidemark/compile/pass.h"
#include "tidemark/exec/idle_code.h"
#include "tidemark/graph/recording.h"
#include "tidemark/kernels/making_for_runs.h"
#include "tidemark/tensor/variable_wait.h"

namespace tidemark::exec {

namespace {

/// Inputs that nobody looks at may be missing.
uint64_t hash_of(std::span<const Tensor> inputs, const DeviceSetting* setting) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const Tensor& t : inputs) {
    if (!t) continue;
    mix(static_cast<uint64_t>(t.rank()) + 77);
    for (int64_t d : t.shape()) mix(static_cast<uint64_t>(d));
  }
  if (setting) {
    mix(setting->usual.number() + 7u);
    for (const Device device : setting->inputs) mix(device.number());
  }
  return hash | 1;
}

}  // namespace

std::shared_ptr<graph::Graph> specialise(const Program& program, std::span<const Tensor> inputs,
                                         std::shared_ptr<graph::Graph>* unfused,
                                         compile::Repetitions* repetitions) {
  OptionalDevice usual;
  if (program.device_setting(inputs)) usual = placement();
  const PlacementScope on_cpu((Device()));  // passes compute what is known already
  std::shared_ptr<graph::Graph> graph = upcalls.specialise(program.graph(), inputs);
  return graph ? compile::run_passes(std::move(graph), unfused, repetitions, usual) : nullptr;
}

namespace {

/// A device of which a plan takes more than it may.
struct Overrun {
  Device device;
  int64_t peak = 0;
  int64_t allowed = 0;
  bool is_limit = false;  // of the device itself, not a budget that was given
};

/// Bytes on the device that are there whenever the graph runs: inputs, constants, variables.
int64_t held_on(const graph::Graph& graph, Device device) {
  int64_t bytes = 0;
  std::unordered_set<const memory::Buffer*> buffers;
  const auto count = [&](const Tensor& t) {
    const memory::Buffer* buffer = t.impl()->buffer;
    const bool is_new = !buffer || buffers.insert(buffer).second;
    if (t.device() == device && is_new) bytes += static_cast<int64_t>(t.nbytes());
  };
  std::for_each(graph.inputs().begin(), graph.inputs().end(), count);
  const NoHandlers now;
  for (const graph::Node* node : graph.nodes()) {
    for (const Tensor& t : node->inputs) {
      if (!t.is_symbolic()) count(t);
    }
    const graph::Effects effects = graph::effects_of(*node);
    for (const Variable& variable : effects.reads) count(variable.operand());
    for (const Variable& variable : effects.writes) count(variable.operand());
  }
  return bytes;
}

/// The budget bounds every device by itself, and so does the limit of each beside the CPU, whose
/// own counts what lives there when a run asks for its arena.
std::optional<Overrun> overrun_of(const graph::Graph& graph, const plan::GraphPlan& plan,
                                  int64_t budget) {
  for (const plan::DevicePlan& device : plan.devices) {
    if (!device.device.is_cpu()) {
      const int64_t left = memory::stats(device.device).limit - held_on(graph, device.device);
      if (device.peak > left && (budget <= 0 || left < budget)) {
        return Overrun{device.device, device.peak, left, true};
      }
    }
    if (budget > 0 && device.peak > budget) return Overrun{device.device, device.peak, budget};
  }
  return std::nullopt;
}

/// All that a run takes, on whatever device.
int64_t whole_peak(const plan::GraphPlan& plan) {
  int64_t bytes = 0;
  for (const plan::DevicePlan& device : plan.devices) bytes += device.peak;
  return bytes;
}

/// The largest values alive at the peak, for a message.
std::string alive_at_peak(const plan::GraphPlan& plan, Device device) {
  const int step = plan.on(device).fullest_step();
  std::vector<const plan::PlannedValue*> alive;
  for (const plan::PlannedValue& v : plan.values) {
    const bool own = v.place != plan::Place::elsewhere && v.view_of == plan::kNone;
    const bool is_there = v.node->outputs[v.output].device == device;
    if (own && is_there && v.takes_over == plan::kNone && v.first <= step && step <= v.last) {
      alive.push_back(&v);
    }
  }
  std::sort(alive.begin(), alive.end(),
            [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string what;
  for (size_t i = 0; i < std::min<size_t>(alive.size(), 3); ++i) {
    const graph::Node& node = *alive[i]->node;
    what += message(i ? ", " : "", format_bytes(alive[i]->bytes), " of ", graph::kind_of(node));
    if (node.site) what += message(" at ", memory::describe(*node.site));
  }
  return what;
}

std::string describe_overrun(const plan::GraphPlan& least, const Overrun& over) {
  const std::string what = alive_at_peak(least, over.device);
  const std::string where = over.device.is_cpu() ? "" : " on " + over.device.name();
  if (over.is_limit) {
    return message("the memory limit of ", over.device.name(), " leaves ",
                   format_bytes(std::max<int64_t>(0, over.allowed)),
                   " beside arguments, variables and constants; the lowest peak found is ",
                   format_bytes(over.peak), ", where ", what,
                   " are alive. Raise the limit with tf.memory.set_limit, or give smaller inputs");
  }
  return message("a memory budget of ", format_bytes(over.allowed),
                 " was given; the lowest peak found is ", format_bytes(over.peak), where,
                 ", where ", what, " are alive. Give at least that, or smaller inputs");
}

/// A budget is a promise: it is not given where nobody knows what the rounds of a loop will take.
void check_bounded(const graph::Graph& graph, int64_t budget) {
  for (const graph::Node* node : graph.nodes()) {
    const std::optional<int64_t> bytes = graph::growing_bytes(*node);
    if (!bytes) continue;
    fail<RoundsUnknownError>(
        "a memory budget of ", format_bytes(budget), " was given, but what the loop",
        node->site ? " at " + memory::describe(*node->site) : "",
        " keeps for its gradient grows with its rounds, ", format_bytes(*bytes),
        " each, and only a run can tell how many there are. Give maximum_iterations, or count to a "
        "number that is known when the function is traced");
  }
}

}  // namespace

PlannedGraph plan_within(std::shared_ptr<graph::Graph> graph, int64_t budget,
                         const std::shared_ptr<graph::Graph>& unfused,
                         std::span<const uint32_t> donated) {
  if (budget > 0) check_bounded(*graph, budget);
  const plan::GraphPlanOptions options{.donated = donated};
  PlannedGraph out;
  out.graph = graph;
  out.plan = plan::plan_graph(*graph, options);
  for (const plan::DevicePlan& device : out.plan.devices) {
    out.unbounded.push_back({device.device, device.peak});
  }
  const bool is_wish = budget <= 0;  // no error where it cannot be had
  static const int64_t wished = settings::bytes(settings::kPlanBudget).value_or(0);
  if (is_wish) budget = wished;
  if (!overrun_of(*graph, out.plan, budget)) return out;
  PlannedGraph least = out;
  // What is alive at once has to be a little less than what it takes when packed.
  for (const double part : {1.0, 0.97, 0.93, 0.88}) {
    const std::optional<Overrun> over = overrun_of(*graph, least.plan, budget);
    if (!over) return least;
    // Steps are repeated by what is alive everywhere: other devices keep what they take.
    const int64_t others = whole_peak(least.plan) - over->peak;
    const auto target = others + static_cast<int64_t>(part * static_cast<double>(over->allowed));
    compile::Fitted fitted = compile::fit_budget(graph, target, unfused);
    compile::verify(*fitted.graph);
    plan::GraphPlan plan = plan::plan_graph(*fitted.graph, options);
    const bool fits = fitted.fits;
    if (plan.on(over->device).peak < over->peak) {
      least = {std::move(fitted.graph), std::move(plan), out.unbounded,
               fitted.added_time,       fitted.repeated, std::move(fitted.splits)};
    }
    if (!fits) break;  // the lowest there is: aiming lower does not help
  }
  if (const auto over = overrun_of(*graph, least.plan, is_wish ? 0 : budget)) {
    std::string why = describe_overrun(least.plan, *over);
    if (!over->is_limit) fail<ResourceExhaustedError>(why);
    least.over_limit = std::move(why);
  }
  return least;
}

Versions::~Versions() {
  for (const Known* all : {&on_cpu_, &on_devices_}) {
    const Version* next = all->newest.load(std::memory_order_acquire);
    while (next) delete std::exchange(next, next->older);
  }
}

bool Versions::Version::fits(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].has_rank() && !(inputs[i].shape() == shapes[i])) return false;
  }
  return true;
}

const Versions::Version* Versions::Known::find(std::span<const Tensor> inputs) const {
  const Version* next = newest.load(std::memory_order_acquire);
  while (next && !next->fits(inputs)) next = next->older;
  return next;
}

const Versions::Version* Versions::find_known(std::span<const Tensor> inputs,
                                              const DeviceSetting* setting) const {
  if (!setting) return on_cpu_.find(inputs);
  const Version* next = on_devices_.newest.load(std::memory_order_acquire);
  while (next && !(*next->setting == *setting && next->fits(inputs))) next = next->older;
  return next;
}

bool Versions::was_seen(std::span<const Tensor> inputs, const DeviceSetting* setting) {
  const uint64_t hash = hash_of(inputs, setting);
  const WaitingLock lock(mutex_);
  for (uint64_t seen : seen_) {
    if (seen == hash) return true;
  }
  seen_[next_seen_] = hash;
  next_seen_ = (next_seen_ + 1) % kRemembered;
  return false;
}

const Executable* Versions::find(const Program& program, std::span<const Tensor> inputs,
                                 const DeviceSetting* setting) {
  if (const Version* version = find_known(inputs, setting)) return version->executable.get();
  const bool has_to = budget_ != 0 || when_ == Compile::always;
  if (!has_to && known(setting).count.load(std::memory_order_relaxed) >= kMost) return nullptr;
  if (when_ == Compile::when_repeated && !was_seen(inputs, setting)) return nullptr;
  return compile(program, inputs, setting);
}

const Executable* Versions::compile(const Program& program, std::span<const Tensor> inputs,
                                    const DeviceSetting* setting) {
  const WaitingLock lock(mutex_);
  if (const Version* version = find_known(inputs, setting)) return version->executable.get();
  auto made = std::make_unique<Version>();
  if (setting) made->setting = std::make_unique<const DeviceSetting>(*setting);
  for (const Tensor& t : inputs) made->shapes.push_back(t ? t.shape() : Shape::unknown());
  for (const uint32_t unused : program.unused_inputs()) made->shapes[unused] = Shape::unknown();
  release_idle_code();  // of tracing
  try {
    const MakingForRuns for_runs;
    std::shared_ptr<graph::Graph> unfused;
    if (const auto graph = specialise(program, inputs, &unfused)) {
      const PlannedGraph planned = plan_within(graph, budget_, unfused, program.donated());
      unfused.reset();
      if (!planned.over_limit.empty()) fail<ResourceExhaustedError>(planned.over_limit);
      made->executable = std::make_unique<Executable>(*planned.graph, planned.plan, budget_ > 0);
      if (is_observed()) [[unlikely]]
        for_each_observer([&](Observer& observer) { observer.planned(planned); });
      for (const plan::PlannedStep& step : planned.plan.steps) {
        if (step.node->special) step.node->special->prepare(step.node->inputs);
      }
    }
  } catch (const InternalError&) {
    throw;  // a fault of ours must not hide
  } catch (const RoundsUnknownError&) {
    throw;
  } catch (const ResourceExhaustedError&) {
    if (budget_ > 0 || setting) throw;
  } catch (const Error&) {
    made->executable.reset();  // the run itself says what is wrong
  }
  if (budget_ > 0 && !made->executable) {
    fail<FailedPreconditionError>(
        "a memory budget of ", format_bytes(budget_),
        " was given, but sizes in this function depend on what only a run can tell, or its "
        "gradients go through branches or such loops: it cannot be planned");
  }
  Known& all = known(setting);
  made->older = all.newest.load(std::memory_order_relaxed);
  const Executable* executable = made->executable.get();
  all.newest.store(made.release(), std::memory_order_release);
  all.count.fetch_add(1, std::memory_order_relaxed);
  if (executable) release_idle_code();
  return executable;
}

template <class Visit>
void Versions::each(Visit visit) const {
  for (const Known* all : {&on_cpu_, &on_devices_}) {
    const Version* next = all->newest.load(std::memory_order_acquire);
    for (; next; next = next->older) visit(*next);
  }
}

void Versions::each_constant(const std::function<void(const Tensor&)>& visit) const {
  each([&](const Version& version) {
    if (!version.executable) return;
    for (const Tensor& t : version.executable->constants()) visit(t);
  });
}

size_t Versions::bytes() const {
  size_t bytes = 0;
  each([&](const Version& version) {
    bytes += sizeof(Version) + version.shapes.size() * sizeof(Shape);
    if (version.executable) bytes += version.executable->bytes();
  });
  return bytes;
}

}  // namespace tidemark::exec
