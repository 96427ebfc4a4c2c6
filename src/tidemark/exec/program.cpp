#include "tidemark/exec/program.h"

#include <algorithm>
#include <memory>

#include "tidemark/base/backend.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/base/placement.h"
#include "tidemark/exec/eager.h"
#include "tidemark/exec/failed_step.h"
#include "tidemark/exec/observed_op.h"
#include "tidemark/exec/step_site.h"
#include "tidemark/exec/versions.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/graph/donated.h"
#include "tidemark/graph/effects.h"
#include "tidemark/graph/graph.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/runs.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark::exec {

thread_local constinit FailedStep failed_step __attribute__((tls_model("initial-exec")));

namespace {

constexpr size_t kFewOperands = 8;

/// Nothing records or builds a graph: an input has to have a value.
void check_has_values(std::span<const Tensor> inputs) {
  for (const Tensor& t : inputs) {
    if (!t || !t.is_symbolic()) [[likely]]
      continue;
    if (graph::is_donated(t)) fail<FailedPreconditionError>(graph::describe_donated(t));
    fail<OutOfScopeError>("the tensor ", graph::describe(t),
                          " is out of scope: it belongs to a graph that was being built, and has "
                          "no value here. Return it from the function that made it");
  }
}

}  // namespace

namespace {

bool is_elsewhere(const Tensor& t) { return t && !t.device().is_cpu(); }

bool uses_elsewhere(const graph::Effects& effects, std::span<const graph::InnerGraph> inner) {
  const NoHandlers now;
  const auto lies_elsewhere = [](const Variable& v) { return is_elsewhere(v.operand()); };
  if (std::any_of(effects.reads.begin(), effects.reads.end(), lies_elsewhere)) return true;
  if (std::any_of(effects.writes.begin(), effects.writes.end(), lies_elsewhere)) return true;
  for (const graph::InnerGraph& part : inner) {
    for (const graph::Node* node : part.graph->nodes()) {
      if (!node->special) continue;
      if (uses_elsewhere(graph::effects_of(*node), node->special->inner_graphs())) return true;
    }
  }
  return false;
}

}  // namespace

bool Program::uses_variables_elsewhere() const {
  std::call_once(has_asked_variables_, [&] {
    const auto uses = [](const SpecialStep& step) {
      return uses_elsewhere(step.special->effects(), step.special->inner_graphs());
    };
    uses_variables_elsewhere_ = std::any_of(specials_.begin(), specials_.end(), uses);
  });
  return uses_variables_elsewhere_;
}

std::optional<DeviceSetting> Program::device_setting(std::span<const Tensor> inputs) const {
  if (open_device_count.load(std::memory_order_relaxed) == 1) [[likely]]
    return std::nullopt;
  DeviceSetting setting{.usual = placement(), .is_soft = soft_placement()};
  const bool meets = wishes_device_ || !setting.usual.is_cpu() || uses_variables_elsewhere() ||
                     std::any_of(inputs.begin(), inputs.end(), is_elsewhere) ||
                     std::any_of(constants_.begin(), constants_.end(), is_elsewhere);
  if (!meets) return std::nullopt;
  for (const Tensor& t : inputs) setting.inputs.push_back(t ? t.device() : Device());
  return setting;
}

const Executable* Program::find_planned(std::span<const Tensor> inputs) const {
  if (open_device_count.load(std::memory_order_relaxed) > 1) [[unlikely]] {
    if (const auto setting = device_setting(inputs)) {
      return versions_->find(*this, inputs, &*setting);
    }
  }
  return versions_->find(*this, inputs);
}

/// The values of one run. The memory of the handles is kept by the thread for the next one.
class Program::Frame {
 public:
  explicit Frame(size_t count) : count_(count), start_(stack().size()) {
    stack().depth += count;
    if (stack().depth <= kKept) {
      slots_ = stack().slots + start_;
    } else {
      own_.resize(count);
      slots_ = own_.data();
    }
  }
  ~Frame() {
    for (size_t i = 0; i < count_; ++i) slots_[i] = Tensor();
    stack().depth -= count_;
  }
  Frame(const Frame&) = delete;
  std::span<Tensor> slots() { return {slots_, count_}; }

 private:
  static constexpr size_t kKept = 1024;
  struct Stack {
    Tensor slots[kKept];
    size_t depth = 0;
    size_t size() const { return depth; }
  };
  static Stack& stack() {
    // On the heap: a library loaded late has little room for thread-local bytes of its own.
    thread_local const std::unique_ptr<Stack> mine = std::make_unique<Stack>();
    return *mine;
  }

  size_t count_, start_;
  Tensor* slots_;
  std::vector<Tensor> own_;
};

/// The recorders of one run, on this thread's stack of handlers while it runs.
class Program::Recorders {
 public:
  explicit Recorders(const std::vector<Recording>& all) : all_(all), started_(all.size()) {
    // The one that asks last is lowest: it sees what the others do.
    for (size_t i = all.size(); i-- > 0;) {
      started_[i] = all[i].special->start();
      push_handler(started_[i]->handler());
    }
  }
  ~Recorders() {
    for (const auto& recorder : started_) {
      if (recorder) remove_handler(recorder->handler());
    }
  }
  Recorders(const Recorders&) = delete;

  void watch_first(const Program& program, std::span<Tensor> slots) {
    for (size_t i = 0; i < all_.size(); ++i) {
      for (int32_t ref : all_[i].watch_first) started_[i]->watch(program.operand(ref, slots));
    }
  }
  void before(uint32_t step) {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (started_[i]) started_[i]->set_recording(all_[i].matters[step]);
    }
  }
  void after(uint32_t step, std::span<Tensor> slots) {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (!started_[i]) continue;
      for (const auto& [at, slot] : all_[i].watch) {
        if (at == step) started_[i]->watch(slots[slot]);
      }
    }
  }
  void finish(int recording, std::span<Tensor> inputs, std::span<Tensor> outputs) {
    const std::unique_ptr<graph::Recorder> recorder =
        std::move(started_[static_cast<size_t>(recording)]);
    remove_handler(recorder->handler());
    recorder->finish(inputs, outputs);
  }

 private:
  const std::vector<Recording>& all_;
  std::vector<std::unique_ptr<graph::Recorder>> started_;
};

void Program::run_special(const Step& step, std::span<Tensor> slots, Recorders* recorders) const {
  const SpecialStep& what = specials_[step.special - 1];
  Tensor few[2 * kFewOperands];
  std::vector<Tensor> many(step.num_inputs > std::size(few) ? step.num_inputs : 0);
  const std::span<Tensor> inputs(many.empty() ? few : many.data(), step.num_inputs);
  for (uint32_t i = 0; i < step.num_inputs; ++i) {
    const int32_t ref = operands_[step.first_input + i];
    if (i < 64 && ((step.dying >> i) & 1u)) {
      inputs[i] = std::move(slots[static_cast<size_t>(ref)]);
    } else {
      inputs[i] = operand(ref, slots);
    }
  }
  const std::span<Tensor> outputs = slots.subspan(step.first_output, step.num_outputs);
  if (what.recording >= 0) {
    recorders->finish(what.recording, inputs, outputs);
  } else {
    graph::call_special(what.special, what.infos, inputs, outputs);
  }
}

void Program::run_step(const Step& step, std::span<Tensor> slots, Recorders* recorders,
                       bool straight) const {
  std::optional<PlacementScope> scope;
  if (step.wish) [[unlikely]]
    scope.emplace(step.wish.value_or({}));
  const StepSite site(step.site);
  if (!step.op) return run_special(step, slots, recorders);
  // Borrowed handles: the slots keep the values.
  detail::TensorImpl* few[kFewOperands];
  std::vector<detail::TensorImpl*> many;
  detail::TensorImpl** impls = few;
  if (step.num_inputs > kFewOperands) {
    many.resize(step.num_inputs);
    impls = many.data();
  }
  const int32_t* refs = operands_.data() + step.first_input;
  for (uint32_t i = 0; i < step.num_inputs; ++i) impls[i] = operand(refs[i], slots).impl();
  const std::span<const Tensor> inputs(reinterpret_cast<const Tensor*>(impls), step.num_inputs);
  const std::span<Tensor> outputs = slots.subspan(step.first_output, step.num_outputs);
  if (straight) {
    run_eager({*step.op, inputs, step.attrs, step.dying}, outputs);
  } else {
    dispatch({*step.op, inputs, step.attrs, step.dying}, outputs);
  }
}

void Program::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  if (inputs.size() != num_inputs_) {
    fail<InternalError>("a program of ", num_inputs_, " inputs was given ", inputs.size());
  }
  const memory::ScopedRun scope("a graph");
  if (top_handler() == nullptr) check_has_values(inputs);
  if (versions_ && top_handler() == nullptr) {
    if (const Executable* planned = find_planned(inputs)) {
      if (is_observed()) [[unlikely]] {
        for (const Step& step : steps_) {
          if (step.op) tell_called(*step.op);
        }
      }
      return planned->run(inputs, outputs);
    }
  }
  Frame frame(num_slots_);
  const std::span<Tensor> slots = frame.slots();
  for (size_t i = 0; i < inputs.size(); ++i) slots[i] = std::move(inputs[i]);
  std::optional<Recorders> recorders;
  if (!recordings_.empty()) {
    recorders.emplace(recordings_);
    recorders->watch_first(*this, slots);
  }
  for (uint32_t slot : unused_inputs_) slots[slot] = Tensor();
  const bool straight = top_handler() == nullptr;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (recorders) recorders->before(static_cast<uint32_t>(i));
    try {
      check_interrupt();
      run_step(step, slots, recorders ? &*recorders : nullptr, straight);
    } catch (...) {
      const graph::Special* special = step.op ? nullptr : specials_[step.special - 1].special.get();
      if (!failed_step.is_set) failed_step = {true, step.op, special, step.site};
      throw;
    }
    if (recorders) recorders->after(static_cast<uint32_t>(i), slots);
    for (uint32_t k = 0; k < step.num_dead; ++k) slots[dead_[step.first_dead + k]] = Tensor();
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const int32_t ref = outputs_[i];
    const auto later = outputs_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    // Moved where no later output is the same value: counting references costs as much as a step.
    if (ref >= 0 && outputs_.size() <= kFewOperands &&
        std::find(later, outputs_.end(), ref) == outputs_.end()) {
      outputs[i] = std::move(slots[static_cast<size_t>(ref)]);
    } else {
      outputs[i] = operand(ref, slots);
    }
  }
}

Program::Program() = default;

const Executable* Program::compiled_for(std::span<const Tensor> inputs) const {
  if (!versions_) return nullptr;
  const std::optional<DeviceSetting> setting = device_setting(inputs);
  return versions_->compile(*this, inputs, setting ? &*setting : nullptr);
}

Program::~Program() {
  for (const Step& step : steps_) {
    if (step.site) memory::unpin(*step.site);
  }
}

void Program::each_constant(const std::function<void(const Tensor&)>& visit) const {
  for (const Tensor& t : constants_) visit(t);
  if (versions_) versions_->each_constant(visit);
}

size_t Program::bytes() const {
  size_t bytes =
      sizeof(Program) + steps_.size() * sizeof(Step) + operands_.size() * 4 + dead_.size() * 4;
  for (const Step& step : steps_) bytes += step.attrs.size() * sizeof(Attr);
  if (versions_) bytes += versions_->bytes();
  return bytes;
}

}  // namespace tidemark::exec
