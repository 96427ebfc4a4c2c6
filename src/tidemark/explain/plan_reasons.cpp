#include "tidemark/explain/plan_reasons.h"

#include <algorithm>

#include "tidemark/ops/in_place.h"

namespace tidemark::explain {

namespace {

class Reasons {
 public:
  explicit Reasons(const plan::GraphPlan& plan) : plan_(plan) {}

  /// Nothing where the step has no input it might write over.
  void add(size_t index, std::vector<PlannedReuse>& out) const {
    const plan::PlannedStep& step = plan_.steps[index];
    if (!step.fills_outputs()) return;
    for (uint32_t o = 0; o < step.node->outputs.size(); ++o) {
      const plan::PlannedValue& made = value(plan_.value_of(graph::output_of(*node_of(step), o)));
      if (made.bytes == 0) continue;
      PlannedReuse reuse;
      reuse.step = static_cast<int>(index);
      reuse.bytes = made.bytes;
      reuse.op = graph::kind_of(*step.node);
      const int index_of_made = static_cast<int>(&made - plan_.values.data());
      const auto given = std::find_if(
          plan_.donations.begin(), plan_.donations.end(), [&](const plan::Donation& d) {
            return d.value == index_of_made && d.fate == plan::Donation::Fate::in_place;
          });
      if (given != plan_.donations.end()) {
        reuse.done = true;
        reuse.why = "the last use of a donated argument";
      } else if (made.takes_over != plan::kNone) {
        reuse.done = true;
        reuse.why = message("the last use of ", describe_step(*value(made.takes_over).node));
      } else {
        reuse.why = refusal(step, o, static_cast<int>(index));
      }
      if (!reuse.why.empty()) out.push_back(std::move(reuse));
    }
  }

 private:
  /// Finding the value of a tensor takes a node that could be changed; nothing changes it.
  static graph::Node* node_of(const plan::PlannedStep& step) {
    return const_cast<graph::Node*>(step.node);
  }
  const plan::PlannedValue& value(int index) const {
    return plan_.values[static_cast<size_t>(index)];
  }

  std::string refusal(const plan::PlannedStep& step, uint32_t output, int index) const {
    const graph::Node& node = *step.node;
    const graph::OutputInfo& made = node.outputs[output];
    std::string why;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor& t = node.inputs[i];
      const bool may = node.special ? node.special->may_write_into(output, i)
                                    : may_write_into(*node.op, node.inputs, node.attrs, i);
      if (!may || t.dtype() != made.dtype || t.shape() != made.shape) continue;
      if (!why.empty()) why += "; ";
      why += reason_to_keep(node, t, index);
    }
    return why;
  }

  std::string reason_to_keep(const graph::Node& node, const Tensor& t, int index) const {
    const int given = plan_.value_of(t);
    if (given == plan::kNone) return "a constant stays as it is";
    const int at = plan_.root_of(given);
    const plan::PlannedValue& root = value(at);
    const std::string who = describe_step(*root.node);
    if (graph::is_placeholder(*root.node)) return "an argument is the caller's";
    if (const Variable* shown = graph::shown_variable(*root.node)) {
      return message("the variable '", shown->name(), "' keeps its value");
    }
    if (root.place == plan::Place::elsewhere) return message(who, " lies in memory of another");
    if (root.is_result) return message(who, " is a result");
    const auto times = std::count_if(node.inputs.begin(), node.inputs.end(), [&](const Tensor& x) {
      return plan_.value_of(x) == plan_.value_of(t);
    });
    if (times > 1) return message(who, " is read twice here");
    if (root.place == plan::Place::fresh) return message(who, " may be kept by another step");
    const graph::Node* later = next_reader(at, index);
    if (later) return message(who, " is needed by ", describe_step(*later));
    return message(who, " dies here, but elsewhere it packs better");
  }

  /// The first step after `index` that reads the value or a view of it.
  const graph::Node* next_reader(int root, int index) const {
    for (size_t i = static_cast<size_t>(index) + 1; i < plan_.steps.size(); ++i) {
      for (const Tensor& t : plan_.steps[i].node->inputs) {
        const int at = plan_.value_of(t);
        if (at != plan::kNone && plan_.root_of(at) == root) return plan_.steps[i].node;
      }
    }
    return nullptr;
  }

  const plan::GraphPlan& plan_;
};

}  // namespace

std::string describe_step(const graph::Node& node) {
  std::string out(graph::kind_of(node));
  if (node.site) out += " at " + memory::describe(*node.site);
  return out;
}

std::vector<PlannedReuse> explain_reuses(const plan::GraphPlan& plan) {
  std::vector<PlannedReuse> out;
  const Reasons reasons(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) reasons.add(i, out);
  std::stable_sort(out.begin(), out.end(),
                   [](const PlannedReuse& a, const PlannedReuse& b) { return a.bytes > b.bytes; });
  return out;
}

std::vector<PlannedDonation> explain_donations(const plan::GraphPlan& plan) {
  using Fate = plan::Donation::Fate;
  std::vector<PlannedDonation> out;
  for (const plan::Donation& d : plan.donations) {
    const auto value = static_cast<size_t>(plan.input_values[d.input]);
    PlannedDonation said{
        static_cast<int>(d.input), plan.values[value].bytes, d.value != plan::kNone, {}};
    const graph::Node* last =
        d.last_read == plan::kNone ? nullptr : plan.steps[static_cast<size_t>(d.last_read)].node;
    const std::string reader = last ? describe_step(*last) : "nobody";
    if (said.done) {
      const graph::Node& writer = *plan.values[static_cast<size_t>(d.value)].node;
      said.why = message("the result of ", describe_step(writer), " is written into it");
    } else if (d.fate == Fate::returned) {
      said.why = "it is a result itself, or a part of it is";
    } else if (d.fate == Fate::kept) {
      said.why = "a step it goes to may keep it";
    } else if (d.fate == Fate::read_last) {
      said.why = message("results of its size are written while ", reader, " still reads it");
    } else {
      said.why = "no result has its size";
    }
    out.push_back(std::move(said));
  }
  return out;
}

}  // namespace tidemark::explain
