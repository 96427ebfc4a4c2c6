#include <algorithm>
#include <unordered_map>

#include "tidemark/base/backend.h"
#include "tidemark/exec/executable.h"
#include "tidemark/exec/last_uses.h"
#include "tidemark/exec/long_work.h"
#include "tidemark/memory/poison.h"
#include "tidemark/tensor/kept_for_runs.h"

namespace tidemark::exec {

/// Turns a plan into steps whose operands are slots, one a value of the plan.
class Executable::Builder {
 public:
  Builder(Executable& executable, const plan::GraphPlan& plan) : out_(executable), plan_(plan) {}

  void build(const graph::Graph& graph) {
    // The slots of the inputs come first, in the order in which callers give them.
    slot_of_.assign(plan_.values.size(), kNoSlot);
    for (const int value : plan_.input_values) slot_of_[static_cast<size_t>(value)] = next_slot_++;
    out_.num_inputs_ = plan_.input_values.size();
    for (const plan::PlannedStep& step : plan_.steps) number(*step.node);
    out_.num_slots_ = next_slot_;
    for (const plan::PlannedStep& step : plan_.steps) {
      add_step(step);
      steps_so_far_.push_back(out_.steps_.size());
    }
    for (const Tensor& t : graph.outputs()) out_.outputs_.push_back(reference(t));
    find_leaving(graph);
    find_donors();
    for (size_t i = 0; i < plan_.values.size(); ++i) add_arena_value(i);
    std::sort(out_.in_arena_.begin(), out_.in_arena_.end(),
              [](const InArena& a, const InArena& b) { return a.slot < b.slot; });
    find_last_uses();
    find_stretches();
    if (memory::poison::is_on()) mark_lifetimes();
  }

 private:
  static constexpr uint32_t kNoSlot = ~0u;

  const plan::PlannedValue& value(int index) const {
    return plan_.values[static_cast<size_t>(index)];
  }
  int first_value(const graph::Node& node) const {
    return plan_.value_of(graph::output_of(const_cast<graph::Node&>(node), 0));
  }

  /// The number of the device's arena among those of a run; 0: the host's, or none.
  uint8_t arena_on(Device device) const {
    for (size_t i = 0; i < out_.device_needs_.size(); ++i) {
      if (out_.device_needs_[i]->device() == device) return static_cast<uint8_t>(i + 1);
    }
    return 0;
  }

  void number(const graph::Node& node) {
    if (node.outputs.empty()) return;
    const int first = first_value(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      slot_of_[static_cast<size_t>(first) + i] = next_slot_++;
    }
  }

  int32_t slot_ref(int value) const {
    return static_cast<int32_t>(slot_of_[static_cast<size_t>(value)]);
  }
  int32_t reference(const Tensor& t) {
    if (t.is_symbolic()) return slot_ref(plan_.value_of(t));
    const auto [found, is_new] = constants_.try_emplace(t.impl(), out_.constants_.size());
    if (is_new) out_.constants_.push_back(kept_for_runs(t));
    return ~static_cast<int32_t>(found->second);
  }

  void add_step(const plan::PlannedStep& planned) {
    const graph::Node& node = *planned.node;
    Step step;
    step.kind = planned.kind;
    step.op = node.op;
    step.name = graph::kind_of(node).data();
    step.attrs = node.attrs;
    step.kernel = planned.kernel.run;
    step.special = node.special;
    step.device = planned.device;
    if (node.special) step.updates = node.special->variable_updates();
    step.settles = meets_devices_ && (step.kind == Kind::special || step.kind == Kind::eager);
    if (planned.kind == Kind::special || step.settles) step.infos = node.outputs;
    step.wish = node.wish;
    step.site = node.site;
    if (step.site) memory::pin(*step.site);
    step.first_input = static_cast<uint32_t>(out_.operands_.size());
    step.num_inputs = static_cast<uint32_t>(node.inputs.size());
    out_.most_inputs_ = std::max(out_.most_inputs_, node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out_.operands_.push_back(reference(node.inputs[i]));
      if (i < 64 && node.inputs[i].device().is_cpu()) step.on_host |= uint64_t{1} << i;
    }
    step.num_outputs = static_cast<uint32_t>(node.outputs.size());
    if (step.num_outputs > 0) {
      step.first_output = slot_of_[static_cast<size_t>(first_value(node))];
    }
    if (planned.workspace > 0) step.workspace = planned.workspace_offset;
    step.arena = arena_on(planned.workspace_device());
    if (planned.kind == Kind::special) step.inner_bytes = planned.workspace;
    if (planned.kind == Kind::special && !node.special->keeps_inputs()) find_lent(node, step);
    weigh(node, step);
    add_made(planned, step);
    const bool shows_arena = step.kind == Kind::view && step.num_made == 0;
    if (!shows_arena) out_.steps_.push_back(std::move(step));
    if (shows_arena && node.site) memory::unpin(*node.site);
  }

  void find_lent(const graph::Node& node, Step& step) const {
    for (size_t i = 0; i < std::min<size_t>(node.inputs.size(), 64); ++i) {
      const int v = plan_.value_of(node.inputs[i]);
      if (v != plan::kNone && value(v).place == plan::Place::fresh) {
        step.write_protected |= uint64_t{1} << i;
      }
    }
  }

  void weigh(const graph::Node& node, Step& step) const {
    int64_t bytes = 0, elements = 0;
    for (const Tensor& t : node.inputs) bytes += static_cast<int64_t>(t.nbytes());
    for (const graph::OutputInfo& out : node.outputs) {
      if (!out.shape.is_fully_known()) return;
      elements += out.shape.num_elements();
      bytes += out.shape.num_elements() * static_cast<int64_t>(size_of(out.dtype));
    }
    const bool is_heavy = node.op ? node.op->is_heavy() : bool(node.special->heavy_work());
    step.is_long = bytes > (is_heavy ? kLongHeavyBytes : kLongWorkBytes) || waits(node);
    step.does_nothing = elements == 0 && node.op && node.op->is_elementwise();
  }

  /// Computes on the host what comes from a device: the copy waits for it. Or waits for others of
  /// its group.
  static bool waits(const graph::Node& node) {
    const auto is_elsewhere = [](const Tensor& t) { return !t.device().is_cpu(); };
    if (graph::effects_of(node).token != 0) return true;
    return node.special && std::any_of(node.inputs.begin(), node.inputs.end(), is_elsewhere);
  }

  /// Outputs whose handles every run makes anew.
  void add_made(const plan::PlannedStep& planned, Step& step) {
    step.first_made = static_cast<uint32_t>(out_.made_.size());
    const graph::Node& node = *planned.node;
    if (planned.kind == Kind::eager || planned.kind == Kind::special) return;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int index = first_value(node) + static_cast<int>(i);
      const plan::PlannedValue& v = value(index);
      if (v.place == plan::Place::arena) continue;
      Made made;
      made.slot = slot_of_[static_cast<size_t>(index)];
      made.dtype = node.outputs[i].dtype;
      made.shape = node.outputs[i].shape;
      made.device = node.outputs[i].device;
      if (made.shape.num_elements() == 0) {
        // No elements: no bytes to share, and an arena may have none.
      } else if (planned.kind == Kind::view) {
        made.base = base_of_view(node, v);
        made.offset = v.view_offset;
      } else if (v.takes_over != plan::kNone) {
        made.base = slot_ref(v.takes_over);
      }
      out_.made_.push_back(std::move(made));
    }
    step.num_made = static_cast<uint32_t>(out_.made_.size()) - step.first_made;
  }

  /// Whose memory each output of the run takes along. It is counted to the step that writes the
  /// output, which may be a later one than that which takes the memory.
  void find_leaving(const graph::Graph& graph) {
    std::unordered_map<int32_t, Made*> by_slot;
    for (Made& made : out_.made_) by_slot.emplace(static_cast<int32_t>(made.slot), &made);
    for (size_t i = 0; i < out_.outputs_.size(); ++i) {
      auto made = by_slot.find(out_.outputs_[i]);
      while (made != by_slot.end() && made->second->base != kNoBase) {
        made = by_slot.find(made->second->base);
      }
      if (made == by_slot.end()) continue;
      const graph::Node& writer = writer_of(graph.outputs()[i]);
      made->second->output = static_cast<int32_t>(i);
      made->second->site = writer.site;
      made->second->op = graph::kind_of(writer).data();
    }
  }

  /// Their slots keep them until then, or until the end of the run.
  void find_donors() {
    for (const plan::Donation& donation : plan_.donations) {
      if (donation.fate != plan::Donation::Fate::reused) continue;
      const uint32_t slot = slot_of_[static_cast<size_t>(donation.value)];
      const auto made = std::find_if(out_.made_.begin(), out_.made_.end(),
                                     [&](const Made& m) { return m.slot == slot; });
      if (made == out_.made_.end()) continue;
      made->donor = static_cast<int32_t>(donation.input);
      donors_.push_back(donation.input);
    }
  }

  const graph::Node& writer_of(const Tensor& output) const {
    return *value(plan_.root_of(plan_.value_of(output))).node;
  }

  int32_t base_of_view(const graph::Node& node, const plan::PlannedValue& v) {
    if (v.view_of != plan::kNone) return slot_ref(v.view_of);
    return reference(node.inputs[static_cast<size_t>(v.viewed_input)]);
  }

  void add_arena_value(size_t index) {
    const plan::PlannedValue& v = plan_.values[index];
    if (v.place != plan::Place::arena || slot_of_[index] == kNoSlot) return;
    const graph::OutputInfo& info = v.node->outputs[v.output];
    out_.in_arena_.push_back(
        {slot_of_[index], arena_on(info.device), info.device, v.offset, info.dtype, info.shape});
    is_in_arena_.resize(next_slot_);
    is_in_arena_[slot_of_[index]] = true;
  }

  /// When bytes of the arena get a meaning and when they lose it, as the plan says.
  void mark_lifetimes() {
    out_.lifetimes_.resize(out_.steps_.size());
    for (const plan::PlannedValue& v : plan_.values) {
      const bool is_owner = v.view_of == plan::kNone && v.takes_over == plan::kNone;
      if (v.place != plan::Place::arena || !is_owner || v.bytes == 0) continue;
      if (!v.node->outputs[v.output].device.is_cpu()) continue;  // the host cannot look
      mark({v.offset, v.bytes, v.node->outputs[v.output].dtype}, v.first, v.last);
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const plan::PlannedStep& step = plan_.steps[i];
      if (step.workspace == 0 || !step.workspace_device().is_cpu()) continue;
      mark({step.workspace_offset, step.workspace, DType::uint8}, static_cast<int>(i),
           static_cast<int>(i));
    }
  }

  void mark(const Bytes& bytes, int first, int last) {
    // Views of the arena are no steps of their own.
    const size_t from = steps_so_far_[static_cast<size_t>(first)];
    const size_t to = steps_so_far_[static_cast<size_t>(last)];
    if (from > 0) out_.lifetimes_[from - 1].born.push_back(bytes);
    if (to > 0) out_.lifetimes_[to - 1].dead.push_back(bytes);
  }

  void find_last_uses() {
    std::vector<bool> stays = std::move(is_in_arena_);
    stays.resize(next_slot_);
    for (const uint32_t slot : donors_) stays[slot] = true;
    LastUses found =
        exec::find_last_uses<Step>(out_.steps_, out_.operands_, out_.outputs_, std::move(stays));
    out_.dead_ = std::move(found.dead);
    for (const uint32_t slot : found.unused) {
      if (slot < out_.num_inputs_) out_.unused_inputs_.push_back(slot);
    }
    for (const Step& step : out_.steps_) find_writable(step);
  }

  /// Neighbouring kernels of one device, and between them what the host does without it.
  void find_stretches() {
    constexpr size_t kLeast = 3;  // kernels: fewer are enqueued as fast one by one
    for (size_t v = 0; v < slot_of_.size(); ++v) {
      if (slot_of_[v] != kNoSlot) value_of_[slot_of_[v]] = static_cast<int>(v);
    }
    Stretch now;
    uint32_t end = 0;  // behind the last kernel
    const auto close = [&] {
      now.count = end - now.first;
      if (now.kernels.size() >= kLeast) out_.stretches_.push_back(std::move(now));
      now = Stretch();
    };
    for (uint32_t i = 0; i < out_.steps_.size(); ++i) {
      const Step& step = out_.steps_[i];
      const bool is_kernel = depends_on_addresses(step);
      if (is_kernel && !now.kernels.empty() && step.device != now.device) close();
      if (is_kernel) {
        if (now.kernels.empty()) now.first = i;
        now.device = step.device;
        add_kernel(now, i);
        end = i + 1;
      } else if (!needs_no_device(step)) {
        close();
      }
    }
    close();
    for (Step& step : out_.steps_) {
      if (step.kind != Kind::queued || !step.updates) continue;
      step.recordings = static_cast<int32_t>(out_.update_recordings_.size());
      out_.update_recordings_.push_back(std::make_unique<Recordings>());
    }
  }

  /// A kernel that does the same where addresses are the same, or draws from where it is told to.
  bool depends_on_addresses(const Step& step) const {
    if (step.kind != Kind::queued || step.updates || step.does_nothing) return false;
    return !reads_anew_on_host(step) || (step.op && step.op->distribution() != Distribution::none);
  }
  bool reads_anew_on_host(const Step& step) const {
    for (uint32_t i = 0; i < step.num_inputs; ++i) {
      const bool is_on_host = i >= 64 || ((step.on_host >> i) & 1u);
      if (is_on_host && out_.operands_[step.first_input + i] >= 0) return true;
    }
    return false;
  }

  /// It may be done before what the device was asked to do ahead of it.
  static bool needs_no_device(const Step& step) {
    if (step.kind == Kind::view) return true;
    if (step.kind == Kind::queued) return step.does_nothing;
    if (step.kind == Kind::special) return step.special->shown_variable() != nullptr;
    return step.kind == Kind::kernel && !step.is_long && reads_only_host(step);
  }
  static bool reads_only_host(const Step& step) {
    return step.num_inputs == 0 ||
           (step.num_inputs < 64 && step.on_host == (uint64_t{1} << step.num_inputs) - 1);
  }

  void add_kernel(Stretch& stretch, uint32_t number) {
    const Step& step = out_.steps_[number];
    const auto kernel = static_cast<uint32_t>(stretch.kernels.size());
    QueuedKernel queued;
    queued.device = step.device;
    queued.op = step.op;
    queued.kernel.run = step.kernel;
    queued.attrs = step.attrs;
    queued.step = step.special;
    queued.changes = reads_anew_on_host(step);
    queued.place = kept_place(step.site);
    if (queued.changes) stretch.changing.push_back(kernel);
    for (uint32_t i = 0; i < step.num_inputs; ++i) {
      const int32_t ref = out_.operands_[step.first_input + i];
      queued.inputs.push_back(ref >= 0 ? unplaced(static_cast<uint32_t>(ref))
                                       : QueuedKernel::Operand());
      stretch.places.push_back({kernel, false, i, ref, ref >= 0 && !lies_in_arena(ref)});
    }
    for (uint32_t i = 0; i < step.num_outputs; ++i) {
      const auto ref = static_cast<int32_t>(step.first_output + i);
      queued.outputs.push_back(unplaced(step.first_output + i));
      stretch.places.push_back({kernel, true, i, ref, !lies_in_arena(ref)});
    }
    stretch.steps.push_back(number);
    stretch.kernels.push_back(std::move(queued));
  }

  bool lies_in_arena(int32_t slot) const {
    const auto at =
        std::lower_bound(out_.in_arena_.begin(), out_.in_arena_.end(), static_cast<uint32_t>(slot),
                         [](const InArena& value, uint32_t wanted) { return value.slot < wanted; });
    return at != out_.in_arena_.end() && at->slot == static_cast<uint32_t>(slot);
  }

  /// What is known of a slot without its address.
  QueuedKernel::Operand unplaced(uint32_t slot) const {
    const plan::PlannedValue& v = value(value_of_.at(slot));
    const graph::OutputInfo& info = v.node->outputs[v.output];
    return {info.dtype, info.shape, nullptr, Tensor()};
  }

  /// What the plan gives to one output is not there for another.
  void find_writable(const Step& step) {
    const std::span<Made> all = std::span(out_.made_).subspan(step.first_made, step.num_made);
    for (size_t i = 0; i < std::min<size_t>(step.num_inputs, 64); ++i) {
      const int32_t input = out_.operands_[step.first_input + i];
      const bool is_taken =
          std::any_of(all.begin(), all.end(), [&](const Made& made) { return made.base == input; });
      if (!(step.dying >> i & 1) || is_taken) continue;
      for (Made& made : all) {
        const bool may = step.op ? i < 32 && step.op->may_write_into(static_cast<int>(i))
                                 : step.special->may_write_into(made.slot - step.first_output, i);
        if (may) made.writable |= uint64_t{1} << i;
      }
    }
  }

  Executable& out_;
  const plan::GraphPlan& plan_;
  const bool meets_devices_ = open_device_count.load(std::memory_order_relaxed) > 1;
  std::vector<uint32_t> slot_of_;
  std::unordered_map<uint32_t, int> value_of_;  // by slot
  std::vector<bool> is_in_arena_;
  std::vector<uint32_t> donors_;
  std::vector<size_t> steps_so_far_;  // made, by step of the plan
  std::unordered_map<const detail::TensorImpl*, size_t> constants_;
  uint32_t next_slot_ = 0;
};

Executable::Executable(const graph::Graph& graph, const plan::GraphPlan& plan, bool is_bounded)
    : need_(plan.host().arena_bytes), is_bounded_(is_bounded) {
  for (const plan::DevicePlan& device : std::span(plan.devices).subspan(1)) {
    device_needs_.push_back(std::make_unique<ArenaNeed>(device.arena_bytes, device.device));
  }
  Builder(*this, plan).build(graph);
}

}  // namespace tidemark::exec
