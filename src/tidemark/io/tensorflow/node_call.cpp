#include "tidemark/io/tensorflow/node_call.h"

#include <tidemark/call.h>
#include <charconv>

#include <unordered_map>

#include "tidemark/io/tensorflow/importer.h"

namespace tidemark::io::tensorflow {

Value Value::of(const Variable& variable) {
  Value out;
  out.kind = Kind::variable;
  out.variable = variable;
  return out;
}
Value Value::of(std::shared_ptr<HashTable> table) {
  Value out;
  out.kind = Kind::table;
  out.table = std::move(table);
  return out;
}
Value Value::list_of(Tensor array, const Shape& element) {
  Value out(std::move(array));
  out.kind = Kind::list;
  out.element = element;
  return out;
}

const Value& NodeCall::input(size_t i) const {
  if (i >= inputs.size()) fail("it needs input ", i, "; it has ", inputs.size());
  return inputs[i];
}

Tensor NodeCall::in(size_t i) const {
  const Value& value = input(i);
  switch (value.kind) {
    case Value::Kind::tensor:
      return value.tensor;
    case Value::Kind::variable:
      return value.variable.value();
    case Value::Kind::stored:
      return importer.read_stored(value);
    default:
      fail("input ", i, " is no tensor");
  }
}

std::vector<Tensor> NodeCall::tensors(size_t first) const {
  std::vector<Tensor> out;
  for (size_t i = first; i < inputs.size(); ++i) out.push_back(in(i));
  return out;
}

Ints NodeCall::known(size_t i) const {
  const Tensor value = in(i);
  if (!(kInts | kBool).contains(value.dtype())) fail("input ", i, " is to be made of integers");
  try {
    return value.to_ints();
  } catch (const FailedPreconditionError&) {
    fail_unsupported("input ", i, " has to be a constant here; the graph computes it");
  }
}

int64_t NodeCall::known_number(size_t i) const {
  const Ints all = known(i);
  if (all.size() != 1) fail("input ", i, " is to be one number; it has ", all.size());
  return all[0];
}

const Variable& NodeCall::variable(size_t i) const {
  if (input(i).kind != Value::Kind::variable) fail("input ", i, " is no variable");
  return input(i).variable;
}
const std::shared_ptr<HashTable>& NodeCall::table(size_t i) const {
  if (input(i).kind != Value::Kind::table) fail("input ", i, " is no table");
  return input(i).table;
}
const Value& NodeCall::list(size_t i) const {
  if (input(i).kind != Value::Kind::list) fail("input ", i, " is no list of tensors");
  return input(i);
}

AttrValue NodeCall::attr(std::string_view name) const {
  if (const std::string_view* own = node.find(name)) return read_attr_value(*own);
  if (const OpMessage* op = importer.op(node.op)) {
    const auto found = op->defaults.find(name);
    if (found != op->defaults.end()) return read_attr_value(found->second);
  }
  return {};
}

int64_t NodeCall::number(std::string_view name, int64_t unless_given) const {
  const AttrValue value = attr(name);
  return value.is_list || value.numbers.empty() ? unless_given : value.numbers[0];
}
bool NodeCall::flag(std::string_view name, bool unless_given) const {
  return number(name, unless_given) != 0;
}
double NodeCall::real(std::string_view name, double unless_given) const {
  const AttrValue value = attr(name);
  return value.is_list || value.reals.empty() ? unless_given : value.reals[0];
}
std::string NodeCall::text(std::string_view name, std::string_view unless_given) const {
  const AttrValue value = attr(name);
  const bool is_text = value.kind == AttrValue::Kind::text && !value.is_list;
  return std::string(is_text ? value.texts[0] : unless_given);
}
Ints NodeCall::numbers(std::string_view name) const { return attr(name).numbers; }

DType NodeCall::dtype(std::string_view name) const {
  const AttrValue value = attr(name);
  if (value.kind != AttrValue::Kind::type || value.numbers.empty()) {
    fail("attribute '", name, "' is to be a dtype");
  }
  return read_dtype(static_cast<uint64_t>(value.numbers[0]));
}
Shape NodeCall::shape(std::string_view name) const {
  const AttrValue value = attr(name);
  if (value.kind != AttrValue::Kind::shape || value.is_list) return Shape::unknown();
  return read_shape(value.texts[0]);
}
std::string_view NodeCall::function(std::string_view name) const {
  const AttrValue value = attr(name);
  if (value.kind != AttrValue::Kind::function || value.is_list) {
    fail("attribute '", name, "' is to be a function");
  }
  return value.texts[0];
}

NodeReader find_reader(std::string_view op) {
  static const auto& all = *new auto([] {
    std::unordered_map<std::string_view, NodeReader> made;
    for (const auto& readers :
         {array_readers(), control_readers(), image_readers(), list_readers(), math_readers(),
          resource_readers(), signal_readers(), text_readers()}) {
      for (const NamedReader& reader : readers) made.emplace(reader.op, reader.read);
    }
    return made;
  }());
  const auto found = all.find(op);
  return found == all.end() ? nullptr : found->second;
}

namespace {

Attr attr_for(const NodeCall& call, const Param& param, const AttrValue& given) {
  using Kind = AttrValue::Kind;
  const bool is_axis = param.name == "axis" && param.optional;
  switch (param.attr_kind) {
    case AttrKind::boolean:
      if (given.kind == Kind::boolean && !given.is_list) return given.numbers[0] != 0;
      break;
    case AttrKind::integer:
      if (given.kind != Kind::number || given.is_list) break;
      // Theirs is 0 where nothing was said.
      if (param.optional && param.name == "seed" && given.numbers[0] == 0) return {};
      return given.numbers[0];
    case AttrKind::real:
      if (given.kind == Kind::real && !given.is_list) return given.reals[0];
      break;
    case AttrKind::dtype:
      if (given.kind != Kind::type || given.is_list) break;
      return read_dtype(static_cast<uint64_t>(given.numbers[0]));
    case AttrKind::string:
      if (given.kind == Kind::text && !given.is_list) return std::string(given.texts[0]);
      break;
    case AttrKind::ints:
      if (given.is_list && given.numbers.empty() && is_axis) return {};
      if (given.is_list || given.kind == Kind::number) return given.numbers;
      if (given.kind != Kind::shape) break;
      if (const Shape shape = read_shape(given.texts[0]); shape.has_rank()) {
        return Ints(shape.begin(), shape.end());
      }
      return {};
  }
  call.fail("attribute '", param.name, "' of our op has another kind");
}

/// An attribute of ours that is an input of theirs.
Attr attr_from_input(const NodeCall& call, const Param& param, size_t i) {
  if (param.attr_kind == AttrKind::boolean) return call.known_number(i) != 0;
  if (param.attr_kind == AttrKind::integer) return call.known_number(i);
  if (param.attr_kind == AttrKind::ints) return call.known(i);
  const Tensor value = call.in(i);
  if (value.is_symbolic() || value.num_elements() != 1) {
    call.fail_unsupported("input ", i, " has to be a constant here");
  }
  if (param.attr_kind == AttrKind::string && value.dtype() == DType::string) {
    return std::string(value.string_at(0));
  }
  if (param.attr_kind == AttrKind::real && kFloats.contains(value.dtype())) {
    const Tensor wide = tidemark::call("cast", {value}, {{"dtype", DType::float64}});
    if (!wide.is_symbolic()) return wide.item<double>();
  }
  call.fail_unsupported("input ", i, " is read as an attribute of another kind");
}

}  // namespace

void read_by_rule(NodeCall& call) {
  const OpDef* op = OpRegistry::instance().find(Vocabulary::tensorflow, call.node.op);
  if (!op) call.fail_unsupported("there is no such op");
  const ForeignOp& rule = *op->foreign(Vocabulary::tensorflow);
  const auto param_of = [&](std::string_view name) -> const Param& {
    for (const Param& param : op->params()) {
      if (param.name == name) return param;
    }
    call.fail("the op has no parameter '", name, "'");
  };
  std::vector<Attr> attrs;
  for (int index : op->attrs()) attrs.push_back(op->params()[static_cast<size_t>(index)].fallback);
  const size_t fixed = rule.inputs.size() - (op->has_input_list() ? 1 : 0);
  if (call.inputs.size() < fixed || (!op->has_input_list() && call.inputs.size() != fixed)) {
    call.fail("it has ", call.inputs.size(), " inputs; ", rule.inputs.size(), " are expected");
  }
  std::map<std::string_view, std::vector<Tensor>> given;
  size_t at = 0;
  for (const std::string& name : rule.inputs) {
    const Param& param = param_of(name);
    if (param.kind == Param::Kind::attr) {
      attrs[static_cast<size_t>(op->attr_index(name))] = attr_from_input(call, param, at++);
      continue;
    }
    const size_t count = param.kind == Param::Kind::input_list ? call.inputs.size() - fixed : 1;
    for (size_t i = 0; i < count; ++i) given[name].push_back(call.in(at++));
  }
  for (const auto& [theirs, ours] : rule.attrs) {
    const AttrValue value = call.attr(theirs);
    if (value.kind == AttrValue::Kind::none && !value.is_list) continue;
    attrs[static_cast<size_t>(op->attr_index(ours))] = attr_for(call, param_of(ours), value);
  }
  for (int index : op->attrs()) {
    const Param& param = op->params()[static_cast<size_t>(index)];
    const Attr& value = attrs[static_cast<size_t>(op->attr_index(param.name))];
    if (value.is_none() && !param.optional) call.fail("attribute '", param.name, "' is missing");
  }
  std::vector<Tensor> inputs;
  for (int index : op->inputs()) {
    for (Tensor& t : given[op->params()[static_cast<size_t>(index)].name]) inputs.push_back(t);
  }
  call.give_all(call_all(*op, inputs, attrs));
}

namespace {

constexpr std::string_view kOurOp = "_tidemark_op", kOurAttr = "_tidemark_";

/// As `saved_model/_writing` writes it: real numbers as text, so that none of their digits is lost.
Attr own_attr(const NodeCall& call, const Param& param, const AttrValue& given) {
  if (param.attr_kind == AttrKind::ints && given.is_list) return given.numbers;
  if (param.attr_kind != AttrKind::real) return attr_for(call, param, given);
  double value = 0;
  const std::string_view text = given.texts.empty() ? std::string_view() : given.texts[0];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    call.fail("attribute '", param.name, "' of our op is no number");
  }
  return value;
}

}  // namespace

const OpDef* our_op_of(const NodeMessage& node) {
  const std::string_view* stored = node.find(kOurOp);
  if (!stored) return nullptr;
  const AttrValue name = read_attr_value(*stored);
  const OpDef* op = name.texts.size() == 1 ? OpRegistry::instance().find(name.texts[0]) : nullptr;
  return op && !op->is_stateful() ? op : nullptr;
}

void read_as_ours(NodeCall& call, const OpDef& op) {
  std::vector<Attr> attrs;
  for (int index : op.attrs()) {
    const Param& param = op.params()[static_cast<size_t>(index)];
    const std::string_view* stored = call.node.find(std::string(kOurAttr) + param.name);
    attrs.push_back(stored ? own_attr(call, param, read_attr_value(*stored)) : param.fallback);
  }
  call.give_all(call_all(op, call.tensors(), attrs));
}

}  // namespace tidemark::io::tensorflow
