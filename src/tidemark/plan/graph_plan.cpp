#include "tidemark/plan/graph_plan.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "tidemark/base/backend.h"
#include "tidemark/base/placement.h"
#include "tidemark/base/settings.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/plan/donations.h"
#include "tidemark/plan/lowering.h"
#include "tidemark/plan/order/check_reads.h"
#include "tidemark/plan/order/lifetimes.h"
#include "tidemark/plan/order/load.h"
#include "tidemark/plan/order/order.h"
#include "tidemark/plan/pack/check.h"
#include "tidemark/plan/pack/offsets.h"
#include "tidemark/plan/search_clock.h"

namespace tidemark::plan {

namespace {

/// Below this many bytes nobody gains from a better plan than the first one.
constexpr int64_t kWorthSearching = 256 << 10;
constexpr int64_t kAlignment = static_cast<int64_t>(memory::kAlignment);

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double usual_seconds() {
  return static_cast<double>(settings::integer(settings::kPlanTime)) / 1000;
}

/// Places what an order of the ops leaves to be placed, device by device.
class Placing {
 public:
  Placing(const Lowering& lowered, const std::vector<int>& order, double seconds)
      : lowered_(lowered),
        order_(order),
        lifetimes_(find_lifetimes(lowered.problem, order, kAlignment)) {
    find_devices();
    find_arena_buffers();
    offsets_.assign(lifetimes_.ranges.size(), 0);
    for (size_t d = 0; d < devices_.size(); ++d) {
      pack_arena(d, seconds / static_cast<double>(devices_.size()));
    }
    check_reads();
  }

  /// The most that is alive at one time, by device.
  std::vector<int64_t> peaks() const {
    std::vector<int64_t> peaks;
    for (size_t d = 0; d < devices_.size(); ++d) peaks.push_back(highest(loads_on(d).all));
    return peaks;
  }

  void fill(GraphPlan& plan) const {
    plan.values = lowered_.values;
    for (size_t i = 0; i < plan.values.size(); ++i) fill(plan.values[i], static_cast<int>(i));
    for (const auto& takeover : lifetimes_.takeovers) {
      plan.values[takeover.output].takes_over = takeover.input;
    }
    for (const int op : order_) {
      PlannedStep step = lowered_.steps[op];
      if (step.workspace > 0) step.workspace_offset = offsets_[lifetimes_.workspace_of_op[op]];
      plan.steps.push_back(step);
    }
    plan.devices.resize(devices_.size());
    for (size_t d = 0; d < devices_.size(); ++d) fill(plan.devices[d], d);
  }

 private:
  int buffer_of(int value) const { return lifetimes_.of_value[value]; }

  /// The CPU first. Where nothing else is used, nobody asks which device a buffer is on.
  void find_devices() {
    devices_.push_back(Device());
    device_of_.assign(lifetimes_.ranges.size(), 0);
    for (size_t i = 0; i < lowered_.values.size(); ++i) {
      const PlannedValue& value = lowered_.values[i];
      put(buffer_of(static_cast<int>(i)), value.node->outputs[value.output].device);
    }
    for (size_t op = 0; op < lowered_.steps.size(); ++op) {
      const PlannedStep& step = lowered_.steps[op];
      put(lifetimes_.workspace_of_op[op], step.workspace_device());
      for (const auto& need : step.inner_on_devices) number_of(need.device);
    }
  }
  void put(int buffer, Device device) {
    if (buffer == kNone || device.is_cpu()) return;
    device_of_[static_cast<size_t>(buffer)] = number_of(device);
    lifetimes_.ranges[static_cast<size_t>(buffer)].alignment =
        std::max(kAlignment, static_cast<int64_t>(accelerator_of(device).alignment()));
  }
  size_t number_of(Device device) {
    const auto known = std::find(devices_.begin(), devices_.end(), device);
    const auto number = static_cast<size_t>(known - devices_.begin());
    if (known == devices_.end()) devices_.push_back(device);
    return number;
  }

  void find_arena_buffers() {
    is_fresh_.assign(lifetimes_.ranges.size(), 0);
    is_result_.assign(lifetimes_.ranges.size(), 0);
    for (size_t i = 0; i < lowered_.values.size(); ++i) {
      const int value = static_cast<int>(i), buffer = buffer_of(value);
      if (buffer == kNone) continue;
      const bool is_result = lowered_.values[i].is_result;
      if (is_result || !lowered_.is_placed(value)) is_fresh_[buffer] = 1;
      if (is_result) is_result_[buffer] = 1;
    }
  }

  void pack_arena(size_t device, double seconds) {
    std::vector<LiveRange> packed;
    std::vector<size_t> in_arena;
    for (size_t b = 0; b < is_fresh_.size(); ++b) {
      if (is_fresh_[b] || device_of_[b] != device) continue;
      in_arena.push_back(b);
      packed.push_back(lifetimes_.ranges[b]);
    }
    const Packing packing = pack(packed, {.seconds = seconds});
    if (auto fault = find_fault(packed, packing.offsets, packing.peak)) {
      fail<InternalError>("a plan is wrong: ", *fault);
    }
    arena_bytes_.push_back(packing.peak);
    for (size_t i = 0; i < in_arena.size(); ++i) offsets_[in_arena[i]] = packing.offsets[i];
  }

  int64_t offset_within(int value) const {
    int64_t within = 0;
    for (int v = value; lowered_.values[v].view_of != kNone; v = lowered_.values[v].view_of) {
      within += lowered_.values[v].view_offset;
    }
    return within;
  }

  /// For the checker all arenas lie one behind the other, then buffers of their own, each apart.
  void check_reads() const {
    std::vector<int64_t> start;
    int64_t end = 0;
    for (const int64_t bytes : arena_bytes_) {
      start.push_back(end);
      end = round_up(end + bytes, kAlignment);
    }
    std::vector<int64_t> at(offsets_.size());
    for (size_t b = 0; b < at.size(); ++b) {
      at[b] = is_fresh_[b] ? end : start[device_of_[b]] + offsets_[b];
      if (is_fresh_[b]) end += round_up(lifetimes_.ranges[b].size, kAlignment);
    }
    Placement placement;
    for (size_t i = 0; i < lowered_.values.size(); ++i) {
      const int value = static_cast<int>(i), buffer = buffer_of(value);
      placement.value_offsets.push_back(
          buffer == kNone ? 0 : at[static_cast<size_t>(buffer)] + offset_within(value));
    }
    for (const int buffer : lifetimes_.workspace_of_op) {
      placement.workspace_offsets.push_back(buffer == kNone ? 0 : at[static_cast<size_t>(buffer)]);
    }
    if (auto fault = find_stale_read(lowered_.problem, order_, placement)) {
      fail<InternalError>("a plan is wrong: ", *fault);
    }
  }

  void fill(PlannedValue& value, int index) const {
    const int buffer = buffer_of(index);
    const bool is_ours = !lowered_.problem.values[lowered_.root_of(index)].external;
    if (buffer != kNone) {
      value.first = static_cast<int>(lifetimes_.ranges[buffer].lower);
      value.last = static_cast<int>(lifetimes_.ranges[buffer].upper) - 1;
    }
    if (!is_ours) return;
    const bool in_arena =
        buffer == kNone ? lowered_.is_placed(index) && !value.is_result : !is_fresh_[buffer];
    value.place = in_arena ? Place::arena : Place::fresh;
    const bool has_bytes = in_arena && buffer != kNone;
    value.offset = has_bytes ? offsets_[buffer] + offset_within(index) : 0;
  }

  /// What is alive on the device while each step runs, and what of it lies outside the arena.
  struct Loads {
    std::vector<int64_t> all, outside;
    int64_t results = 0;
  };
  Loads loads_on(size_t device) const {
    const size_t count = order_.size();
    Loads loads{std::vector<int64_t>(count + 1), std::vector<int64_t>(count + 1)};
    for (size_t b = 0; b < is_fresh_.size(); ++b) {
      if (device_of_[b] != device) continue;
      const LiveRange& buffer = lifetimes_.ranges[b];
      const auto first = static_cast<size_t>(buffer.lower);
      const auto end = static_cast<size_t>(buffer.upper);
      loads.all[first] += buffer.size;
      loads.all[end] -= buffer.size;
      if (is_fresh_[b]) loads.outside[first] += buffer.size;
      if (is_fresh_[b]) loads.outside[end] -= buffer.size;
      if (is_result_[b]) loads.results += buffer.size;
    }
    std::partial_sum(loads.all.begin(), loads.all.end(), loads.all.begin());
    std::partial_sum(loads.outside.begin(), loads.outside.end(), loads.outside.begin());
    for (size_t i = 0; i < count; ++i) {
      const int64_t inner =
          lowered_.steps[static_cast<size_t>(order_[i])].inner_on(devices_[device]);
      loads.all[i] += inner;
      loads.outside[i] += inner;
    }
    loads.all.resize(count);
    loads.outside.resize(count);
    return loads;
  }

  static int64_t highest(const std::vector<int64_t>& loads) {
    return loads.empty() ? 0 : std::max<int64_t>(0, *std::max_element(loads.begin(), loads.end()));
  }

  void fill(DevicePlan& out, size_t device) const {
    Loads loads = loads_on(device);
    out.device = devices_[device];
    out.arena_bytes = arena_bytes_[device];
    out.result_bytes = loads.results;
    out.lower_bound = highest(loads.all);
    out.outside = highest(loads.outside);
    out.loads = std::move(loads.all);
    out.outsides = std::move(loads.outside);
  }

  const Lowering& lowered_;
  const std::vector<int>& order_;
  Lifetimes lifetimes_;
  std::vector<Device> devices_;    // the CPU first
  std::vector<size_t> device_of_;  // by buffer: number of its device among them
  std::vector<char> is_fresh_, is_result_;
  std::vector<int64_t> offsets_;      // by buffer: in the arena of its device
  std::vector<int64_t> arena_bytes_;  // by device
};

/// What the order of the program takes of each device.
void fill_traced_peaks(const Lowering& lowered, int64_t all, std::vector<DevicePlan>& devices) {
  if (devices.size() == 1) {
    devices[0].traced_peak = all;
    return;
  }
  std::vector<int> as_traced(lowered.steps.size());
  std::iota(as_traced.begin(), as_traced.end(), 0);
  const std::vector<int64_t> peaks = Placing(lowered, as_traced, 0).peaks();
  for (size_t d = 0; d < devices.size(); ++d) devices[d].traced_peak = peaks[d];
}

}  // namespace

int64_t PlannedStep::inner_on(Device where) const {
  if (where.is_cpu()) return inner;
  int64_t bytes = 0;
  for (const auto& need : inner_on_devices) bytes += need.device == where ? need.bytes : 0;
  return bytes;
}

int DevicePlan::fullest_step() const {
  const auto highest = std::max_element(loads.begin(), loads.end());
  return loads.empty() ? kNone : static_cast<int>(highest - loads.begin());
}

DevicePlan GraphPlan::on(Device device) const {
  const auto known = std::find_if(devices.begin(), devices.end(),
                                  [&](const DevicePlan& part) { return part.device == device; });
  if (known != devices.end()) return *known;
  DevicePlan nothing;
  nothing.device = device;
  return nothing;
}

const DevicePlan& GraphPlan::fullest() const {
  return *std::max_element(
      devices.begin(), devices.end(),
      [](const DevicePlan& a, const DevicePlan& b) { return a.peak < b.peak; });
}

int GraphPlan::root_of(int value) const {
  while (values[static_cast<size_t>(value)].view_of != kNone) {
    value = values[static_cast<size_t>(value)].view_of;
  }
  return value;
}

Device GraphPlan::device_of(int value) const {
  const PlannedValue& v = values[static_cast<size_t>(value)];
  return v.node->outputs[v.output].device;
}

int GraphPlan::value_of(const Tensor& t) const {
  if (!t.is_symbolic()) return kNone;
  const graph::Node* node = &graph::node_of(t);
  const auto found =
      std::lower_bound(first_values.begin(), first_values.end(), std::pair(node, kNone));
  return found->second + static_cast<int>(graph::symbolic(t).index);
}

GraphPlan plan_graph(const graph::Graph& graph, const GraphPlanOptions& options) {
  const double start = now();
  Lowering lowered(graph);
  for (size_t op = 0; op < lowered.steps.size(); ++op) {
    PlannedStep& step = lowered.steps[op];
    if (step.kind != PlannedStep::Kind::special) continue;
    const PlacementScope scope(step.node->wish.value_or(tidemark::placement()));
    const graph::InnerNeed need = step.node->special->inner_need(step.node->inputs);
    step.inner = need.outside;
    step.inner_on_devices = need.on_devices;
    step.workspace = lowered.problem.ops[op].workspace = need.arena;
  }
  GraphPlan plan;
  int64_t bytes = 0;
  for (const Value& value : lowered.problem.values) bytes += value.external ? 0 : value.bytes;
  const double most = bytes < kWorthSearching ? 0 : options.seconds.value_or(usual_seconds());
  const Deadline begun = SearchClock::now();
  const OrderResult order = find_order(lowered.problem, {.seconds = most / 2});
  const std::chrono::duration<double> searched = SearchClock::now() - begun;
  const double left = std::max(0.0, most - searched.count());
  Placing(lowered, order.order, left).fill(plan);
  fill_traced_peaks(lowered, order.given_peak, plan.devices);
  plan.first_values.assign(lowered.first_value.begin(), lowered.first_value.end());
  std::sort(plan.first_values.begin(), plan.first_values.end());
  for (const Tensor& t : graph.inputs()) plan.input_values.push_back(lowered.value_of(t));
  for (const Tensor& t : graph.outputs()) plan.output_values.push_back(lowered.value_of(t));
  find_donations(plan, options.donated);
  for (DevicePlan& device : plan.devices) device.peak = device.arena_bytes + device.outside;
  plan.seconds = now() - start;
  return plan;
}

}  // namespace tidemark::plan
