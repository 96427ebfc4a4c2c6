#include "tidemark/io/tflite/lowering.h"

#include <tidemark/error.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <set>

#include "tidemark/io/input_file.h"
#include "tidemark/io/onnx/call.h"
#include "tidemark/io/tflite/kinds.h"

namespace tidemark::io::tflite {

namespace {

constexpr int kDeepest = 32;               // graphs that call graphs
constexpr int64_t kMostNodes = 1'000'000;  // with those of called graphs, each time they are called

/// What a model's views refer to, beside the file.
struct Texts {
  Contents contents;
  std::deque<std::string> made;
  std::vector<std::string> not_read;

  std::string_view keep(std::string text) { return made.emplace_back(std::move(text)); }
};

Attribute integer_attribute(std::string_view name, int64_t value) {
  Attribute out;
  out.name = name;
  out.integer = value;
  return out;
}

/// One graph of the file on its way to nodes.
class Lowering {
 public:
  using GraphOf = std::function<std::shared_ptr<const onnx::Graph>(int64_t)>;

  Lowering(Texts& texts, const std::string& path, int64_t index, GraphOf graph_of)
      : texts_(texts),
        path_(path),
        info_(texts.contents.graphs[static_cast<size_t>(index)]),
        index_(index),
        graph_of_(std::move(graph_of)),
        names_(info_.tensors.size()),
        real_names_(info_.tensors.size()) {}

  onnx::Graph lower(const SignatureInfo* signature, bool keeps_states) {
    out_.name = info_.name;
    keeps_states_ = keeps_states;
    find_states();
    note_not_read();
    for (size_t i = 0; i < info_.tensors.size(); ++i) name_tensor(i);
    lower_constants();
    for (size_t i = 0; i < info_.inputs.size(); ++i) lower_input(i, signature);
    if (keeps_states) lower_states();
    for (const Operator& op : info_.operators) lower_operator(op);
    for (size_t i = 0; i < info_.outputs.size(); ++i) lower_output(i, signature);
    out_.outputs.insert(out_.outputs.end(), states_after_.begin(), states_after_.end());
    return std::move(out_);
  }

 private:
  const TensorInfo& tensor(int64_t i) const { return info_.tensors[static_cast<size_t>(i)]; }

  /// Names of values are unique in the whole file: a graph sees none of the one that calls it.
  void name_tensor(size_t i) {
    const std::string name(info_.tensors[i].name);
    std::string wanted = index_ == 0 ? name : message(name, " in graph ", index_);
    if (wanted.empty() || used_.contains(wanted)) wanted = message(wanted, " (tensor ", i, ")");
    names_[i] = texts_.keep(std::move(wanted));
    used_.insert(names_[i]);
  }

  /// Tensors that outlive a call and that one operator alone sees, which changes them.
  void find_states() {
    std::set<int64_t> seen(info_.outputs.begin(), info_.outputs.end());
    seen.insert(info_.inputs.begin(), info_.inputs.end());
    const auto is_state = [&](const Operator& op, size_t at) {
      return op.kind && std::ranges::count(op.kind->states, static_cast<int64_t>(at)) > 0 &&
             tensor(op.inputs[at]).is_variable;
    };
    for (const Operator& op : info_.operators) {
      for (size_t at = 0; at < op.inputs.size(); ++at) {
        if (op.inputs[at] < 0) continue;
        if (!is_state(op, at) || !states_.insert(op.inputs[at]).second) seen.insert(op.inputs[at]);
      }
      seen.insert(op.outputs.begin(), op.outputs.end());
    }
    std::erase_if(states_, [&](int64_t i) { return seen.contains(i); });
  }

  void note_not_read() {
    for (size_t i = 0; i < info_.tensors.size(); ++i) {
      const TensorInfo& info = info_.tensors[i];
      if (states_.contains(static_cast<int64_t>(i)) && !info.is_resource) continue;
      if (!info.is_sparse && !info.is_variable && !info.is_resource) continue;
      const char* what = info.is_sparse ? "sparse tensor" : "tensor that outlives a call";
      texts_.not_read.push_back(message("the ", what, " '", info.name, "'"));
    }
  }

  void lower_constants() {
    const std::set<int64_t> inputs(info_.inputs.begin(), info_.inputs.end());
    for (size_t i = 0; i < info_.tensors.size(); ++i) {
      const TensorInfo& info = info_.tensors[i];
      if (!info.is_constant || info.is_sparse || inputs.contains(static_cast<int64_t>(i))) continue;
      onnx::TensorMessage constant;
      constant.name = names_[i];
      constant.element = info.element;
      constant.dims = info.shape;
      if (info.element == Element::string) {
        constant.strings = texts_of(info);
      } else {
        constant.raw = info.data;
        constant.has_raw = true;
      }
      out_.initializers.push_back(std::move(constant));
    }
  }

  /// How many, where each begins and the last ends, then the characters.
  std::vector<std::string_view> texts_of(const TensorInfo& info) const {
    const auto number = [&](uint64_t at) {
      uint32_t value = 0;
      if (at + 4 > info.data.size()) fail_damaged(path_, "a tensor of texts is cut short");
      std::memcpy(&value, info.data.data() + at, 4);
      return uint64_t{value};
    };
    const uint64_t count = number(0);
    if (count > info.data.size() / 4) fail_damaged(path_, "a tensor of texts is cut short");
    std::vector<std::string_view> out;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t begin = number(4 + 4 * i), end = number(8 + 4 * i);
      if (begin > end || end > info.data.size()) fail_damaged(path_, "a text lies outside of it");
      out.push_back(info.data.substr(begin, end - begin));
    }
    return out;
  }

  static onnx::ValueInfo port_of(std::string_view name, const TensorInfo& info) {
    onnx::ValueInfo out;
    out.name = name;
    out.type.kind = info.is_resource ? onnx::Type::Kind::other : onnx::Type::Kind::tensor;
    out.type.element = info.element;
    out.type.has_shape = true;
    out.type.dims = info.signature;
    out.type.names.resize(info.signature.size());
    return out;
  }

  std::string_view signature_name(const std::vector<std::pair<std::string_view, int64_t>>& names,
                                  int64_t tensor, std::set<std::string_view>& given) const {
    for (const auto& [name, at] : names) {
      if (at == tensor && !name.empty() && given.insert(name).second) return name;
    }
    return {};
  }

  void add_node(std::string_view op, std::vector<std::string_view> inputs,
                std::vector<std::string_view> outputs, std::vector<Attribute> attributes = {}) {
    onnx::Node node;
    node.op = op;
    node.domain = kDomain;
    node.name = outputs.empty() ? std::string_view() : outputs[0];
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    node.attributes = std::move(attributes);
    out_.nodes.push_back(std::move(node));
  }

  void lower_input(size_t i, const SignatureInfo* signature) {
    const int64_t at = info_.inputs[i];
    const std::string_view value = names_[static_cast<size_t>(at)];
    const std::string_view name =
        signature ? signature_name(signature->inputs, at, given_inputs_) : std::string_view();
    if (name.empty() || name == value) {
      out_.inputs.push_back(port_of(value, tensor(at)));
      return;
    }
    // Under a name that no value of the graph has; the value's own is given to it by a node.
    const bool is_free = used_.insert(name).second;
    const std::string_view port = is_free ? name : texts_.keep(message(name, " (input)"));
    out_.inputs.push_back(port_of(port, tensor(at)));
    add_node("pass", {port}, {value});
  }

  void lower_output(size_t i, const SignatureInfo* signature) {
    const int64_t at = info_.outputs[i];
    std::string_view name =
        signature ? signature_name(signature->outputs, at, given_outputs_) : std::string_view();
    const std::string_view value = names_[static_cast<size_t>(at)];
    if (name.empty()) {
      name = value;
      for (const onnx::ValueInfo& other : out_.outputs) {
        if (other.name == name) name = texts_.keep(message(value, " (output ", i, ")"));
      }
    }
    if (name != value) {
      if (!used_.insert(name).second) name = texts_.keep(message(name, " (output)"));
      add_node("pass", {value}, {name});
    }
    out_.outputs.push_back(port_of(name, tensor(at)));
  }

  /// Reals, whatever the file holds them as.
  void lower_states() {
    for (const int64_t i : states_) {
      TensorInfo real = tensor(i);
      real.element = Element::float32;
      const std::string_view name = names_[static_cast<size_t>(i)];
      out_.inputs.push_back(port_of(name, real));
      states_after_.push_back(port_of(texts_.keep(message(name, " after the call")), real));
    }
  }

  /// The name of an operator's input; empty: it is left out.
  std::string_view input_name(int64_t i) const {
    if (i < 0 || (states_.contains(i) && !keeps_states_)) return {};
    return names_[static_cast<size_t>(i)];
  }

  /// What becomes of the operator's states stands behind its outputs.
  void add_states_after(const Operator& op, std::vector<std::string_view>& outputs) const {
    if (!keeps_states_ || !op.kind) return;
    for (const int64_t at : op.kind->states) {
      const auto place = static_cast<size_t>(at);
      const auto found = place < op.inputs.size() ? states_.find(op.inputs[place]) : states_.end();
      const auto number = static_cast<size_t>(std::distance(states_.begin(), found));
      outputs.push_back(found == states_.end() ? std::string_view() : states_after_[number].name);
    }
  }

  /// Whether all that stands for reals is integers that one of the operators on integers takes.
  bool is_on_integers(const Operator& op) const {
    if (!op.kind || op.inputs.empty() || op.outputs.size() != 1) return false;
    if (!onnx::find_entry(kDomain, message(op.name, kOnIntegers))) return false;
    const auto is_whole = [](Element element) {
      return element == Element::int32 || element == Element::int64 || element == Element::boolean;
    };
    const auto is_narrow = [](Element element) {
      return element == Element::int8 || element == Element::uint8 || element == Element::int16;
    };
    const auto fits = [&](const TensorInfo& info, size_t at) {
      if (!info.is_quantised()) return is_whole(info.element);
      const bool is_bias = at > 1 && is_whole(info.element);
      const bool is_weight = at == 1 && info.element == Element::int4;
      return is_bias || ((is_narrow(info.element) || is_weight) &&
                         (at == 1 || info.quantisation.scales.size() == 1));
    };
    bool is_any = false;
    for (size_t at = 0; at < op.inputs.size(); ++at) {
      if (op.inputs[at] < 0) continue;
      const TensorInfo& info = tensor(op.inputs[at]);
      if (!fits(info, at)) return false;
      is_any |= info.is_quantised() && is_narrow(info.element);
    }
    return is_any && fits(tensor(op.outputs[0]), 0);
  }

  /// Whether reals meet weights that are integers.
  bool rounds_inputs(const Operator& op) const {
    if (!op.kind || op.inputs.empty() || op.outputs.size() != 1) return false;
    const auto given =
        std::find_if(op.inputs.begin() + 1, op.inputs.end(), [](int64_t i) { return i >= 0; });
    if (given == op.inputs.end()) return false;
    const TensorInfo& weights = tensor(*given);
    const bool is_narrow = weights.element == Element::int8 || weights.element == Element::int4;
    return is_narrow && weights.is_quantised() && weights.is_constant &&
           tensor(op.outputs[0]).element == Element::float32 &&
           onnx::find_entry(kDomain, message(op.name, kWithRoundedInputs));
  }

  /// How the integers of each tensor stand for reals.
  void add_numbers(const Operator& op, std::vector<Attribute>& out) {
    const auto add = [&](std::string_view side, const Ints& list) {
      for (size_t at = 0; at < list.size(); ++at) {
        if (list[at] < 0 || !tensor(list[at]).is_quantised()) continue;
        const TensorInfo& info = tensor(list[at]);
        Attribute made = integer_attribute(texts_.keep(message(side, " ", at)),
                                           static_cast<int64_t>(info.element));
        made.reals = info.quantisation.scales;
        made.integers = info.quantisation.zeros;
        out.push_back(std::move(made));
      }
    };
    add("input", op.inputs);
    add("output", op.outputs);
  }

  /// With the integers themselves for inputs and for the output.
  void lower_as_it_is(const Operator& op, std::string_view kind) {
    std::vector<std::string_view> inputs, outputs{names_[static_cast<size_t>(op.outputs[0])]};
    for (const int64_t i : op.inputs) inputs.push_back(input_name(i));
    std::vector<Attribute> attributes = attributes_of(op, true);
    add_numbers(op, attributes);
    add_states_after(op, outputs);
    add_node(texts_.keep(message(op.name, kind)), std::move(inputs), std::move(outputs),
             std::move(attributes));
  }

  std::vector<Attribute> quantisation_of(const TensorInfo& info) const {
    Attribute scales, zeros;
    scales.name = "scales";
    scales.reals = info.quantisation.scales;
    zeros.name = "zeros";
    zeros.integers = info.quantisation.zeros;
    return {std::move(scales), std::move(zeros), integer_attribute("axis", info.quantisation.axis),
            integer_attribute("element", static_cast<int64_t>(info.element))};
  }

  /// What the integers of the tensor stand for.
  std::string_view reals_of(int64_t i) {
    std::string_view& name = real_names_[static_cast<size_t>(i)];
    if (name.empty()) {
      const std::string_view value = names_[static_cast<size_t>(i)];
      name = texts_.keep(message(value, " as reals"));
      add_node("dequantise", {value}, {name}, quantisation_of(tensor(i)));
    }
    return name;
  }

  /// Whether all that stands for reals does so in the same way.
  bool stands_alike(const Operator& op) const {
    const TensorInfo* first = nullptr;
    for (const Ints* list : {&op.inputs, &op.outputs}) {
      for (const int64_t i : *list) {
        if (i < 0 || !tensor(i).is_quantised()) continue;
        if (!first) first = &tensor(i);
        const Quantisation &one = first->quantisation, &other = tensor(i).quantisation;
        if (tensor(i).element != first->element || one.scales != other.scales ||
            one.zeros != other.zeros || one.scales.size() != 1) {
          return false;
        }
      }
    }
    return true;
  }

  Attribute called_graph(const Attribute& option) const {
    Attribute out;
    out.name = option.name;
    out.graph = graph_of_(option.integer);
    return out;
  }

  void lower_operator(const Operator& op) {
    if (is_on_integers(op)) return lower_as_it_is(op, kOnIntegers);
    if (rounds_inputs(op)) return lower_as_it_is(op, kWithRoundedInputs);
    std::vector<std::string_view> inputs, outputs;
    const bool is_real = op.kind && (op.kind->treats == Treats::meaning ||
                                     (op.kind->treats == Treats::places && !stands_alike(op)));
    for (const int64_t i : op.inputs) {
      const bool becomes_real =
          is_real && i >= 0 && tensor(i).is_quantised() && !states_.contains(i);
      inputs.push_back(becomes_real ? reals_of(i) : input_name(i));
    }
    std::vector<std::pair<std::string_view, int64_t>> made_real;
    for (const int64_t i : op.outputs) {
      if (is_real && tensor(i).is_quantised()) {
        outputs.push_back(texts_.keep(message(names_[static_cast<size_t>(i)], " before rounding")));
        made_real.emplace_back(outputs.back(), i);
      } else {
        outputs.push_back(names_[static_cast<size_t>(i)]);
      }
    }
    add_states_after(op, outputs);
    add_node(op.name, std::move(inputs), std::move(outputs), attributes_of(op, made_real.empty()));
    for (const auto& [name, i] : made_real) {
      add_node("quantise", {name}, {names_[static_cast<size_t>(i)]}, quantisation_of(tensor(i)));
    }
  }

  std::vector<Attribute> attributes_of(const Operator& op, bool keeps_element) const {
    std::vector<Attribute> out;
    for (size_t i = 0; i < op.attributes.size(); ++i) {
      const bool is_graph = op.kind->options[i].form == OptionForm::graph;
      out.push_back(is_graph ? called_graph(op.attributes[i]) : op.attributes[i]);
    }
    if (!op.outputs.empty()) {
      const TensorInfo& first = tensor(op.outputs[0]);
      const Element element = keeps_element ? first.element : Element::float32;
      out.push_back(integer_attribute("element", static_cast<int64_t>(element)));
      Attribute shape;
      shape.name = "out_shape";
      shape.integers = first.signature;
      out.push_back(std::move(shape));
    }
    return out;
  }

  Texts& texts_;
  const std::string& path_;
  const GraphInfo& info_;
  int64_t index_;
  GraphOf graph_of_;
  std::vector<std::string_view> names_, real_names_;
  std::set<std::string_view> used_;
  std::set<std::string_view> given_inputs_, given_outputs_;
  bool keeps_states_ = false;
  std::set<int64_t> states_;
  std::vector<onnx::ValueInfo> states_after_;
  onnx::Graph out_;
};

/// All graphs that the first one calls, each lowered once.
class Graphs {
 public:
  Graphs(Texts& texts, const std::string& path) : texts_(texts), path_(path) {}

  onnx::Graph lower(int64_t index, const SignatureInfo* signature, bool keeps_states = false) {
    if (++depth_ > kDeepest) fail_damaged(path_, "its graphs call each other too deeply");
    if (!open_.insert(index).second) fail_damaged(path_, "its graphs call each other in a circle");
    Lowering one(texts_, path_, index, [this](int64_t inner) { return shared(inner); });
    const int64_t before = nodes_;
    onnx::Graph out = one.lower(signature, keeps_states);
    nodes_ += static_cast<int64_t>(out.nodes.size());
    if (nodes_ > kMostNodes) {
      fail_damaged(
          path_, message("with the graphs that it calls it has more than ", kMostNodes, " nodes"));
    }
    sizes_[index] = nodes_ - before;
    open_.erase(index);
    --depth_;
    return out;
  }

 private:
  std::shared_ptr<const onnx::Graph> shared(int64_t index) {
    const auto found = made_.find(index);
    if (found == made_.end()) {
      auto made = std::make_shared<const onnx::Graph>(lower(index, nullptr));
      return made_.emplace(index, std::move(made)).first->second;
    }
    nodes_ += sizes_[index];
    return found->second;
  }

  Texts& texts_;
  const std::string& path_;
  std::map<int64_t, std::shared_ptr<const onnx::Graph>> made_;
  std::map<int64_t, int64_t> sizes_;
  std::set<int64_t> open_;
  int64_t nodes_ = 0;
  int depth_ = 0;
};

const SignatureInfo* find_signature(const Contents& contents, std::string_view key,
                                    const std::string& path) {
  for (const SignatureInfo& one : contents.signatures) {
    if (key.empty() ? one.graph == 0 : one.key == key) return &one;
  }
  if (key.empty()) return nullptr;
  std::string known;
  for (const SignatureInfo& one : contents.signatures) {
    known += message(known.empty() ? "" : ", ", one.key);
  }
  fail(path, " has no signature '", key, "'; it has: ", known.empty() ? "none" : known);
}

}  // namespace

onnx::Model read_model(std::string_view bytes, const std::string& path, std::string_view signature,
                       bool keeps_states) {
  auto texts = std::make_shared<Texts>();
  texts->contents = read_contents(bytes, path);
  const SignatureInfo* wanted = find_signature(texts->contents, signature, path);
  onnx::Model out;
  out.format = "TFLite";
  out.home = kDomain;
  out.producer = "TFLite";
  out.doc = texts->contents.description;
  out.opsets = {{kDomain, 1}};
  out.graph = Graphs(*texts, path).lower(wanted ? wanted->graph : 0, wanted, keeps_states);
  out.not_read = texts->not_read;
  out.owner = std::move(texts);
  return out;
}

}  // namespace tidemark::io::tflite
