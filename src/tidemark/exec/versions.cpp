#include "tidemark/exec/versions.h"

#include <tidemark/bytes.h>

#include <algorithm>

#include "tidemark/base/settings.h"
#include "tidemark/compile/fit_budget.h"
#include "tidemark/compile/pass.h"
#include "tidemark/exec/idle_code.h"
#include "tidemark/exec/placement.h"
#include "tidemark/kernels/making_for_runs.h"
#include "tidemark/tensor/variable_wait.h"

namespace tidemark::exec {

namespace {

constinit Specialiser specialiser = nullptr;
constinit std::atomic<PlanWatch> plan_watch{nullptr};

/// Inputs that nobody looks at may be missing.
uint64_t hash_of(std::span<const Tensor> inputs) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const Tensor& t : inputs) {
    if (!t) continue;
    mix(static_cast<uint64_t>(t.rank()) + 77);
    for (int64_t d : t.shape()) mix(static_cast<uint64_t>(d));
  }
  return hash | 1;
}

}  // namespace

void set_specialiser(Specialiser chosen) noexcept { specialiser = chosen; }

void set_plan_watch(PlanWatch see) noexcept { plan_watch.store(see, std::memory_order_release); }

std::shared_ptr<graph::Graph> specialise(const Program& program, std::span<const Tensor> inputs,
                                         std::shared_ptr<graph::Graph>* unfused,
                                         compile::Repetitions* repetitions) {
  if (!specialiser) return nullptr;
  const PlacementScope on_cpu((Device()));  // passes compute what is known already
  std::shared_ptr<graph::Graph> graph = specialiser(program, inputs);
  return graph ? compile::run_passes(std::move(graph), unfused, repetitions) : nullptr;
}

namespace {

[[noreturn]] void fail_budget(const PlannedGraph& least, int64_t budget) {
  const plan::GraphPlan& plan = least.plan;
  const auto at = std::max_element(
      plan.steps.begin(), plan.steps.end(),
      [](const plan::PlannedStep& a, const plan::PlannedStep& b) { return a.load < b.load; });
  const int step = static_cast<int>(at - plan.steps.begin());
  std::vector<const plan::PlannedValue*> alive;
  for (const plan::PlannedValue& v : plan.values) {
    const bool own = v.place != plan::Place::elsewhere && v.view_of == plan::kNone;
    if (own && v.takes_over == plan::kNone && v.first <= step && step <= v.last)
      alive.push_back(&v);
  }
  std::sort(alive.begin(), alive.end(),
            [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string what;
  for (size_t i = 0; i < std::min<size_t>(alive.size(), 3); ++i) {
    const graph::Node& node = *alive[i]->node;
    what += message(i ? ", " : "", format_bytes(alive[i]->bytes), " of ", graph::kind_of(node));
    if (node.site) what += message(" at ", memory::describe(*node.site));
  }
  fail<ResourceExhaustedError>("a memory budget of ", format_bytes(budget),
                               " was given; the lowest peak found is ", format_bytes(plan.peak),
                               ", where ", what,
                               " are alive. Give at least that, or smaller inputs");
}

}  // namespace

PlannedGraph plan_within(std::shared_ptr<graph::Graph> graph, int64_t budget,
                         const std::shared_ptr<graph::Graph>& unfused,
                         std::span<const uint32_t> donated) {
  const plan::GraphPlanOptions options{.donated = donated};
  PlannedGraph out;
  out.graph = graph;
  out.plan = plan::plan_graph(*graph, options);
  out.unbounded_peak = out.plan.peak;
  const bool is_wish = budget <= 0;  // no error where it cannot be had
  static const int64_t wished = settings::bytes(settings::kPlanBudget).value_or(0);
  if (is_wish) budget = wished;
  if (budget <= 0) return out;
  PlannedGraph least = out;
  // What is alive at once has to be a little less than what it takes when packed.
  for (const double part : {1.0, 0.97, 0.93, 0.88}) {
    if (least.plan.peak <= budget) return least;
    const auto target = static_cast<int64_t>(part * static_cast<double>(budget));
    compile::Fitted fitted = compile::fit_budget(graph, target, unfused);
    compile::verify(*fitted.graph);
    plan::GraphPlan plan = plan::plan_graph(*fitted.graph, options);
    const bool fits = fitted.fits;
    if (plan.peak < least.plan.peak) {
      least = {std::move(fitted.graph), std::move(plan), out.unbounded_peak,
               fitted.added_time,       fitted.repeated, std::move(fitted.splits)};
    }
    if (!fits) break;  // the lowest there is: aiming lower does not help
  }
  if (least.plan.peak > budget && !is_wish) fail_budget(least, budget);
  return least;
}

Versions::~Versions() {
  const Version* next = newest_.load(std::memory_order_acquire);
  while (next) delete std::exchange(next, next->older);
}

bool Versions::Version::fits(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].has_rank() && !(inputs[i].shape() == shapes[i])) return false;
  }
  return true;
}

const Versions::Version* Versions::known(std::span<const Tensor> inputs) const {
  const Version* next = newest_.load(std::memory_order_acquire);
  while (next && !next->fits(inputs)) next = next->older;
  return next;
}

bool Versions::was_seen(std::span<const Tensor> inputs) {
  const uint64_t hash = hash_of(inputs);
  const WaitingLock lock(mutex_);
  for (uint64_t seen : seen_) {
    if (seen == hash) return true;
  }
  seen_[next_seen_] = hash;
  next_seen_ = (next_seen_ + 1) % kRemembered;
  return false;
}

const Executable* Versions::find(const Program& program, std::span<const Tensor> inputs) {
  if (const Version* version = known(inputs)) return version->executable.get();
  if (budget_ == 0 && count_.load(std::memory_order_relaxed) >= kMost) return nullptr;
  if (when_ == Compile::when_repeated && !was_seen(inputs)) return nullptr;
  return compile(program, inputs);
}

const Executable* Versions::compile(const Program& program, std::span<const Tensor> inputs) {
  const WaitingLock lock(mutex_);
  if (const Version* version = known(inputs)) return version->executable.get();
  auto made = std::make_unique<Version>();
  for (const Tensor& t : inputs) made->shapes.push_back(t ? t.shape() : Shape::unknown());
  for (const uint32_t unused : program.unused_inputs()) made->shapes[unused] = Shape::unknown();
  try {
    const MakingForRuns for_runs;
    std::shared_ptr<graph::Graph> unfused;
    if (const auto graph = specialise(program, inputs, &unfused)) {
      const PlannedGraph planned = plan_within(graph, budget_, unfused, program.donated());
      unfused.reset();
      made->executable = std::make_unique<Executable>(*planned.graph, planned.plan, budget_ > 0);
      if (const PlanWatch see = plan_watch.load(std::memory_order_acquire)) see(planned);
      for (const plan::PlannedStep& step : planned.plan.steps) {
        if (step.node->special) step.node->special->prepare(step.node->inputs);
      }
    }
  } catch (const InternalError&) {
    throw;  // a fault of ours must not hide
  } catch (const ResourceExhaustedError&) {
    if (budget_ > 0) throw;
  } catch (const Error&) {
    made->executable.reset();  // the run itself says what is wrong
  }
  if (budget_ > 0 && !made->executable) {
    fail<FailedPreconditionError>(
        "a memory budget of ", format_bytes(budget_),
        " was given, but sizes in this function depend on what only a run can tell, or its "
        "gradients go through loops: it cannot be planned");
  }
  made->older = newest_.load(std::memory_order_relaxed);
  const Executable* executable = made->executable.get();
  newest_.store(made.release(), std::memory_order_release);
  count_.fetch_add(1, std::memory_order_relaxed);
  if (executable) release_idle_code();
  return executable;
}

void Versions::each_constant(const std::function<void(const Tensor&)>& visit) const {
  for (const Version* v = newest_.load(std::memory_order_acquire); v; v = v->older) {
    if (!v->executable) continue;
    for (const Tensor& t : v->executable->constants()) visit(t);
  }
}

size_t Versions::bytes() const {
  size_t bytes = 0;
  for (const Version* v = newest_.load(std::memory_order_acquire); v; v = v->older) {
    bytes += sizeof(Version) + v->shapes.size() * sizeof(Shape);
    if (v->executable) bytes += v->executable->bytes();
  }
  return bytes;
}

}  // namespace tidemark::exec
