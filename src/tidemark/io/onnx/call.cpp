#include "tidemark/io/onnx/call.h"

#include <tidemark/call.h>

#include <algorithm>
#include <unordered_map>

#include "tidemark/graph/node.h"
#include "tidemark/io/onnx/interpreter.h"
#include "tidemark/io/tflite/ops.h"

namespace tidemark::io::onnx {

std::string Call::title() const {
  return message(node.op, node.name.empty() ? "" : " '", node.name, node.name.empty() ? "" : "'");
}

const Value& Call::value(size_t i) const {
  if (!has(i)) fail("needs input ", i, "; ", inputs.size(), " inputs were given");
  return inputs[i];
}

const Tensor& Call::in(size_t i) const {
  const Value& given = value(i);
  if (!given.is_tensor()) fail("input ", i, " must be a tensor");
  return given.tensor;
}

std::vector<Tensor> Call::tensors(size_t from) const {
  std::vector<Tensor> out;
  for (size_t i = from; i < inputs.size(); ++i) out.push_back(in(i));
  return out;
}

Ints Call::ints(size_t i) const {
  const Tensor& given = in(i);
  if (!(kInts | kBool).contains(given.dtype())) fail("input ", i, " must hold integers");
  return given.to_ints();
}

void Call::check_listed(double count) const {
  constexpr double kMost = 1 << 26;
  if (!(count >= 0 && count <= kMost)) fail("has sizes that are negative or too large to be read");
}

int64_t Call::known_integer(size_t i) const {
  const Ints given = ints(i);
  if (given.size() != 1) fail("input ", i, " must hold one number; it holds ", given.size());
  return given[0];
}

double Call::known_real(size_t i) const {
  const Tensor& given = in(i);
  if (given.is_symbolic()) {
    throw ValueUnknownError(message("[", title(), "] needs the value of input ", i));
  }
  const NoHandlers now;
  return tidemark::call("cast", {given}, {{"dtype", DType::float64}}).item<double>();
}

const Attribute* Call::attr(std::string_view name) const {
  const Attribute* found = node.find(name);
  if (!found || found->refers_to.empty()) return found;
  if (!frame.attributes) return nullptr;
  const auto given = frame.attributes->find(found->refers_to);
  return given == frame.attributes->end() ? nullptr : given->second;
}

int64_t Call::integer(std::string_view name, int64_t unless_given) const {
  const Attribute* found = attr(name);
  return found ? found->integer : unless_given;
}
int64_t Call::integer(std::string_view name) const {
  const Attribute* found = attr(name);
  if (!found) fail("needs the attribute ", name);
  return found->integer;
}
double Call::real(std::string_view name, double unless_given) const {
  const Attribute* found = attr(name);
  return found ? static_cast<double>(found->real) : unless_given;
}
std::string Call::text(std::string_view name, std::string_view unless_given) const {
  const Attribute* found = attr(name);
  return std::string(found ? found->text : unless_given);
}
std::optional<Ints> Call::integers(std::string_view name) const {
  const Attribute* found = attr(name);
  if (!found) return std::nullopt;
  return found->integers;
}
Ints Call::integers(std::string_view name, Ints unless_given) const {
  return integers(name).value_or(std::move(unless_given));
}
const Graph& Call::graph(std::string_view name) const {
  const Attribute* found = attr(name);
  if (!found || !found->graph) fail("needs the graph ", name);
  return *found->graph;
}
Element Call::element(std::string_view name, Element unless_given) const {
  const int64_t number = integer(name, static_cast<int64_t>(unless_given));
  if (number <= 0 || number >= kElements) fail("the element type ", number, " is none of ONNX's");
  return static_cast<Element>(number);
}

namespace {

using Table = std::unordered_map<std::string, const Entry*>;

std::string key_of(std::string_view domain, std::string_view op) {
  return message(domain, ":", op);
}

const Table& table() {
  static const Table& all = *new auto([] {
    Table out;
    const std::span<const Entry> families[] = {
        math_entries(),
        reduce_entries(),
        array_entries(),
        index_entries(),
        cast_entries(),
        window_entries(),
        pool_entries(),
        norm_entries(),
        control_entries(),
        sequence_entries(),
        quantised_entries(),
        signal_entries(),
        text_entries(),
        learned_entries(),
        image_entries(),
        resize_entries(),
        loss_entries(),
        random_entries(),
        training_entries(),
        recurrent_entries(),
        attention_entries(),
        // Operators of TFLite, in a domain of their own.
        tflite::math_entries(),
        tflite::array_entries(),
        tflite::window_entries(),
        tflite::control_entries(),
        tflite::recurrent_entries(),
        tflite::integer_product_entries(),
        tflite::integer_element_entries(),
        tflite::integer_table_entries(),
        tflite::rounded_input_entries(),
    };
    for (const auto& family : families) {
      for (const Entry& entry : family) out.emplace(key_of(entry.domain, entry.op), &entry);
    }
    return out;
  }());
  return all;
}

Attr attr_of(const Call& call, AttrKind kind, const Attribute& given) {
  switch (kind) {
    case AttrKind::boolean:
      return Attr(given.integer != 0);
    case AttrKind::integer:
      return Attr(given.integer);
    case AttrKind::real:
      return Attr(static_cast<double>(given.real));
    case AttrKind::string:
      return Attr(std::string(given.text));
    case AttrKind::ints:
      return Attr(given.integers);
    case AttrKind::dtype:
      if (given.integer > 0 && given.integer < kElements) {
        return Attr(storage_of(static_cast<Element>(given.integer)));
      }
      call.fail("the element type ", given.integer, " is none of ONNX's");
  }
  call.fail("an attribute of an unknown kind");
}

/// An attribute of ours that is an input there.
Attr attr_from_input(const Call& call, AttrKind kind, size_t input) {
  Ints values = call.ints(input);
  if (kind == AttrKind::ints) return Attr(std::move(values));
  if (values.size() != 1) call.fail("input ", input, " must be one number");
  return kind == AttrKind::boolean ? Attr(values[0] != 0) : Attr(values[0]);
}

}  // namespace

const Entry* find_entry(std::string_view domain, std::string_view op) {
  const auto found = table().find(key_of(domain, op));
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::pair<std::string_view, std::string_view>> readable_ops() {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  for (const auto& [key, entry] : table()) {
    if (entry->domain != tflite::kDomain) out.emplace_back(entry->domain, entry->op);
  }
  for (const OpDef* op : OpRegistry::instance().all()) {
    const ForeignOp* foreign = op->foreign(Vocabulary::onnx);
    if (foreign && !find_entry("", foreign->name)) out.emplace_back("", foreign->name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Values build_one_to_one(const OpDef& op, const Call& call) {
  const ForeignOp& foreign = *op.foreign(Vocabulary::onnx);
  std::vector<Attr> attrs;
  for (const int index : op.attrs()) {
    const Param& param = op.params()[static_cast<size_t>(index)];
    Attr value = param.fallback;
    for (const auto& [theirs, ours] : foreign.attrs) {
      const Attribute* given = ours == param.name ? call.attr(theirs) : nullptr;
      if (given) value = attr_of(call, param.attr_kind, *given);
    }
    for (size_t i = 0; i < foreign.inputs.size(); ++i) {
      if (foreign.inputs[i] == param.name && call.has(i)) {
        value = attr_from_input(call, param.attr_kind, i);
      }
    }
    attrs.push_back(std::move(value));
  }
  std::vector<Tensor> inputs;
  for (const int index : op.inputs()) {
    const Param& param = op.params()[static_cast<size_t>(index)];
    const auto found = std::find(foreign.inputs.begin(), foreign.inputs.end(), param.name);
    if (found == foreign.inputs.end()) call.fail("our ", param.name, " is no input of it");
    const auto place = static_cast<size_t>(found - foreign.inputs.begin());
    if (param.kind == Param::Kind::input_list) {
      for (size_t i = place; i < call.num_inputs(); ++i) inputs.push_back(call.in(i));
    } else {
      inputs.push_back(call.in(place));
    }
  }
  Values out;
  for (Tensor& t : call_all(op, inputs, attrs)) out.emplace_back(std::move(t));
  return out;
}

}  // namespace tidemark::io::onnx
