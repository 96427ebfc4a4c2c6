#include <tidemark/op.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <tidemark/call.h>

#include "tidemark/ops/missing_gradient.h"

namespace tidemark {

const Attr& OpCall::attr(std::string_view name) const {
  const int index = op.attr_index(name);
  if (index < 0) fail<InternalError>("[", op.name(), "] has no attribute '", name, "'");
  return attrs[static_cast<size_t>(index)];
}

InferContext::InferContext(const OpCall& call, int outputs)
    : call_(call), outputs_(static_cast<size_t>(outputs)) {
  for (int i = 0; i < outputs; ++i) {
    outputs_[static_cast<size_t>(i)].dtype = call.op.declared_output_dtype(i, call);
  }
}

std::string_view InferContext::op_name() const { return call_.op.name(); }

int64_t InferContext::scalar_int(int i) const {
  const Tensor& t = input(i);
  if (t.num_elements() != 1) {
    fail("'", call_.op.input_param(i).name, "' must be one integer; given shape ", t.shape());
  }
  return t.to_ints()[0];
}

std::string_view Grad::op_name() const { return call_.op.name(); }

Tensor Grad::unbroadcast(const Tensor& t, int i) const {
  const Shape& target = shape(i);
  if (t.shape() == target) return t;
  Ints axes;
  const int extra = t.rank() - target.rank();
  for (int d = 0; d < t.rank(); ++d) {
    if (d < extra || (target[d - extra] == 1 && t.dim(d) != 1)) axes.push_back(d);
  }
  Tensor sum = tidemark::call("sum", {t}, {{"axis", axes}, {"keepdims", extra == 0}});
  if (sum.shape() == target) return sum;
  const Tensor sizes = Tensor::of(target.dims(), {target.rank()});
  return tidemark::call("reshape", {sum, sizes});
}

// --- building ---------------------------------------------------------------------------------

OpDef&& OpDef::doc(Literal text, Literal more) && {
  doc_[0] = text.text;
  doc_[1] = more.text;
  return std::move(*this);
}

OpDef&& OpDef::input(Literal name, DTypeSet dtypes, char type_var) && {
  Param p;
  p.name = name.text;
  p.dtypes = dtypes;
  p.type_var = type_var;
  if (!inputs_.empty()) {
    one_type_var_ &= params_[static_cast<size_t>(inputs_[0])].type_var == type_var;
  }
  common_dtypes_.bits &= dtypes.bits;
  inputs_.push_back(static_cast<int>(params_.size()));
  params_.push_back(std::move(p));
  return std::move(*this);
}

OpDef&& OpDef::input_list(Literal name, DTypeSet dtypes, char type_var) && {
  OpDef&& self = std::move(*this).input(name, dtypes, type_var);
  self.params_.back().kind = Param::Kind::input_list;
  self.has_input_list_ = true;
  return std::move(self);
}

OpDef&& OpDef::attr(Literal name, AttrKind kind, Attr fallback) && {
  Param p;
  p.kind = Param::Kind::attr;
  p.name = name.text;
  p.attr_kind = kind;
  p.required = false;
  p.fallback = std::move(fallback);
  p.dtypes = kPlain;
  has_dtype_attrs_ |= kind == AttrKind::dtype;
  attrs_.push_back(static_cast<int>(params_.size()));
  params_.push_back(std::move(p));
  return std::move(*this);
}

OpDef&& OpDef::among(DTypeSet dtypes) && {
  if (params_.empty()) {
    detail::registration_failed(
        message("op '", name_, "': .among() is about the parameter before it"));
    return std::move(*this);
  }
  params_.back().dtypes = dtypes;
  return std::move(*this);
}

OpDef&& OpDef::attr(Literal name, AttrKind kind) && {
  OpDef&& self = std::move(*this).attr(name, kind, Attr());
  self.params_.back().required = true;
  return std::move(self);
}

OpDef&& OpDef::optional_attr(Literal name, AttrKind kind) && {
  OpDef&& self = std::move(*this).attr(name, kind, Attr());
  self.params_.back().optional = true;
  return std::move(self);
}

OpDef&& OpDef::output(Literal name, OutputType type) && {
  outputs_.push_back({name.text, type});
  return std::move(*this);
}

OpDef&& OpDef::output_list(Literal name, OutputType type, Literal count_attr) && {
  OpDef&& self = std::move(*this).output(name, type);
  self.output_count_attr_ = self.attr_index(count_attr.text);
  if (self.output_count_attr_ < 0) {
    detail::registration_failed(
        message("op '", self.name_, "' has no attribute '", count_attr.text, "'"));
  }
  return std::move(self);
}

OpDef&& OpDef::shape(ShapeRule rule) && {
  shape_rule_ = rule;
  return std::move(*this);
}

OpDef&& OpDef::elementwise() && {
  elementwise_ = true;
  in_place_ = ~0u;
  shape_rule_ = [](InferContext& c) {
    Shape out = c.shape(0);
    for (int i = 1; i < c.num_inputs(); ++i) out = broadcast_shapes(out, c.shape(i));
    c.set(0, std::move(out));
  };
  return std::move(*this);
}

OpDef&& OpDef::in_place(int input) && {
  in_place_ |= 1u << input;
  return std::move(*this);
}

OpDef&& OpDef::stateful() && {
  stateful_ = true;
  return std::move(*this);
}

OpDef&& OpDef::heavy() && {
  heavy_ = true;
  return std::move(*this);
}

OpDef&& OpDef::cheap() && {
  cheap_ = true;
  return std::move(*this);
}

OpDef&& OpDef::may_fail(DTypeSet dtypes) && {
  fails_on_ = dtypes;
  return std::move(*this);
}

OpDef&& OpDef::each_element() && {
  each_element_ = true;
  return std::move(*this);
}

OpDef&& OpDef::reduction(ReductionKind kind) && {
  reduction_ = kind;
  return std::move(*this);
}

OpDef&& OpDef::along_axis(int unless_given) && {
  along_axis_ = true;
  axis_unless_given_ = unless_given;
  return std::move(*this);
}

OpDef&& OpDef::passes() && {
  passes_ = true;
  return std::move(*this);
}

OpDef&& OpDef::reshapes() && {
  reshapes_ = true;
  return std::move(*this);
}

OpDef&& OpDef::repeats(int input) && {
  repeated_input_ = input;
  return std::move(*this);
}

OpDef&& OpDef::neutral(double number, bool on_either_side) && {
  neutral_ = NeutralOperand{number, on_either_side};
  return std::move(*this);
}

OpDef&& OpDef::draws(Distribution distribution) && {
  distribution_ = distribution;
  return std::move(*this);
}

OpDef&& OpDef::rows(RowTreatment treatment) && {
  rows_ = treatment;
  return std::move(*this);
}

OpDef&& OpDef::tensorflow(std::string_view name, std::string_view inputs, std::string_view attrs,
                          std::string_view label) && {
  return std::move(*this).known_as(Vocabulary::tensorflow, name, inputs, attrs, label);
}

OpDef&& OpDef::onnx(std::string_view name, std::string_view inputs, std::string_view attrs) && {
  return std::move(*this).known_as(Vocabulary::onnx, name, inputs, attrs, {});
}

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

OpDef&& OpDef::known_as(Vocabulary vocabulary, std::string_view name, std::string_view inputs,
                        std::string_view attrs, std::string_view label) && {
  ForeignOp op;
  op.label = label.empty() ? name : label;
  op.name = name;
  op.inputs = words_of(inputs);
  for (const std::string& word : words_of(attrs)) {
    const size_t equals = word.find('=');
    op.attrs.emplace_back(word.substr(0, equals),
                          equals == std::string::npos ? word : word.substr(equals + 1));
  }
  foreign_[static_cast<size_t>(vocabulary)] = std::make_unique<ForeignOp>(std::move(op));
  return std::move(*this);
}

OpDef&& OpDef::gradient(GradientRule rule, Keep keep) && {
  gradient_ = rule;
  keep_ = keep;
  return std::move(*this);
}

OpDef&& OpDef::no_gradient() && {
  gradient_ = nullptr;
  return std::move(*this);
}

OpDef&& OpDef::missing_gradient() && {
  gradient_missing_ = true;
  gradient_ = [](Grad& g) {
    fail<MissingGradientError>("gradient registry has no entry for: ", g.op_name(),
                               ". Differentiate once only here, or write the computation with ",
                               "smaller ops");
  };
  return std::move(*this);
}

// --- reading ----------------------------------------------------------------------------------

int OpDef::num_outputs(std::span<const Attr> attrs) const {
  if (output_count_attr_ < 0) return static_cast<int>(outputs_.size());
  const int64_t count = attrs[static_cast<size_t>(output_count_attr_)].as_int();
  if (count < 0 || count > (1 << 20)) {
    fail("[", name_, "] can give between 0 and 1048576 outputs; asked for ", count);
  }
  return static_cast<int>(count);
}

const Param& OpDef::input_param(int i) const {
  // A list takes all tensors that the other inputs do not.
  const int last = static_cast<int>(inputs_.size()) - 1;
  return params_[static_cast<size_t>(inputs_[static_cast<size_t>(std::min(i, last))])];
}

int OpDef::attr_index(std::string_view name) const {
  for (size_t i = 0; i < attrs_.size(); ++i) {
    if (params_[static_cast<size_t>(attrs_[i])].name == name) return static_cast<int>(i);
  }
  return -1;
}

DType OpDef::work_out_output_dtype(int output, const OpCall& call) const {
  const OutputSpec& spec =
      outputs_[static_cast<size_t>(std::min<int>(output, static_cast<int>(outputs_.size()) - 1))];
  switch (spec.type.kind) {
    case OutputType::Kind::fixed:
      return spec.type.dtype;
    case OutputType::Kind::like_input:
      return call.inputs[static_cast<size_t>(spec.input_index)].dtype();
    case OutputType::Kind::from_attr:
      return call.attrs[static_cast<size_t>(spec.attr_index)].as_dtype();
    case OutputType::Kind::real_of_input: {
      const DType d = call.inputs[static_cast<size_t>(spec.input_index)].dtype();
      if (d == DType::complex64) return DType::float32;
      return d == DType::complex128 ? DType::float64 : d;
    }
    case OutputType::Kind::rule:
      return DType::invalid;
  }
  return DType::invalid;
}

bool OpDef::has_param(std::string_view name) const {
  return std::any_of(params_.begin(), params_.end(),
                     [&](const Param& p) { return p.name == name; });
}

/// Fills in what was left out, once all parameters are known, and refuses names of none.
void OpDef::check_foreign(ForeignOp& op) const {
  if (op.inputs.empty()) {
    for (const int input : inputs_) {
      op.inputs.push_back(params_[static_cast<size_t>(input)].name);
    }
  }
  for (const std::string& name : op.inputs) {
    if (!has_param(name)) fail("op '", name_, "', as ", op.name, ", has no parameter '", name, "'");
  }
  for (const auto& [theirs, ours] : op.attrs) {
    if (attr_index(ours) < 0) {
      fail("op '", name_, "', as ", op.name, ", has no attribute '", ours, "'");
    }
  }
}

void OpDef::check_complete() {
  if (outputs_.empty()) fail("op '", name_, "' has no output");
  if (!shape_rule_) fail("op '", name_, "' has no shape rule: use .shape() or .elementwise()");
  if (has_input_list_ &&
      params_[static_cast<size_t>(inputs_.back())].kind != Param::Kind::input_list) {
    fail("op '", name_, "': the list must be the last input");
  }
  for (OutputSpec& out : outputs_) {
    if (out.type.kind == OutputType::Kind::from_attr) {
      out.attr_index = attr_index(out.type.name);
      if (out.attr_index < 0) fail("op '", name_, "' has no attribute '", out.type.name, "'");
    } else if (!out.type.name.empty()) {
      for (size_t i = 0; i < inputs_.size(); ++i) {
        if (params_[static_cast<size_t>(inputs_[i])].name == out.type.name) {
          out.input_index = static_cast<int>(i);
        }
      }
      if (out.input_index < 0) fail("op '", name_, "' has no input '", out.type.name, "'");
    }
  }
  if ((along_axis_ || reduction_ != ReductionKind::none) && attr_index("axis") < 0) {
    fail("op '", name_, "' has no attribute 'axis', along which it is said to work");
  }
  for (auto& op : foreign_) {
    if (op) check_foreign(*op);
  }
  outputs_like_first_input_ = std::all_of(outputs_.begin(), outputs_.end(), [](const auto& out) {
    return out.type.kind == OutputType::Kind::like_input && out.input_index == 0;
  });
  // It grows no more.
  params_.shrink_to_fit();
  inputs_.shrink_to_fit();
  attrs_.shrink_to_fit();
  outputs_.shrink_to_fit();
}

// --- registration of libraries that are opened later ---

namespace {

struct FailedRegistrations {
  std::mutex mutex;
  bool are_collected = false;
  std::string errors;
};

FailedRegistrations& failed_registrations() {
  static auto& made = *new FailedRegistrations;
  return made;
}

}  // namespace

namespace detail {

std::string collect_registration_errors(bool on) {
  FailedRegistrations& failed = failed_registrations();
  std::lock_guard lock(failed.mutex);
  failed.are_collected = on;
  return std::exchange(failed.errors, {});
}

void registration_failed(const std::string& message) {
  FailedRegistrations& failed = failed_registrations();
  std::lock_guard lock(failed.mutex);
  if (!failed.are_collected) throw InvalidArgumentError(message);
  failed.errors += (failed.errors.empty() ? "" : "; ") + message;
}

}  // namespace detail

// --- registry ---------------------------------------------------------------------------------

struct OpRegistry::State {
  mutable std::shared_mutex mutex;
  std::deque<OpDef> ops;  // addresses stay
  std::unordered_map<std::string_view, OpDef*> by_name;
  std::array<std::unordered_map<std::string_view, OpDef*>, kVocabularies> by_foreign_name;
};

OpRegistry::OpRegistry() : state_(std::make_unique<State>()) {}

OpRegistry& OpRegistry::instance() {
  static OpRegistry* registry = new OpRegistry;  // definitions live as long as the process
  return *registry;
}

OpDef& OpRegistry::add(OpDef&& op) {
  op.check_complete();
  std::unique_lock lock(state_->mutex);
  if (state_->by_name.contains(op.name())) {
    fail<AlreadyExistsError>("an op named '", op.name(), "' is already defined");
  }
  for (size_t v = 0; v < kVocabularies; ++v) {
    if (!op.foreign_[v]) continue;
    const auto other = state_->by_foreign_name[v].find(op.foreign_[v]->name);
    if (other == state_->by_foreign_name[v].end()) continue;
    fail<AlreadyExistsError>("op '", op.name(), "' cannot be ", op.foreign_[v]->name, ": op '",
                             other->second->name(), "' is");
  }
  OpDef& kept = state_->ops.emplace_back(std::move(op));
  state_->by_name.emplace(kept.name(), &kept);
  for (size_t v = 0; v < kVocabularies; ++v) {
    if (kept.foreign_[v]) state_->by_foreign_name[v].emplace(kept.foreign_[v]->name, &kept);
  }
  return kept;
}

const OpDef* OpRegistry::find(std::string_view name) const {
  std::shared_lock lock(state_->mutex);
  const auto it = state_->by_name.find(name);
  return it == state_->by_name.end() ? nullptr : it->second;
}

const OpDef* OpRegistry::find(Vocabulary vocabulary, std::string_view name) const {
  std::shared_lock lock(state_->mutex);
  const auto& by_name = state_->by_foreign_name[static_cast<size_t>(vocabulary)];
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

const OpDef& OpRegistry::get(std::string_view name) const {
  const OpDef* op = find(name);
  if (!op) fail<NotFoundError>("there is no op named '", name, "'");
  return *op;
}

OpDef& OpRegistry::get_mutable(std::string_view name) { return const_cast<OpDef&>(get(name)); }

std::vector<const OpDef*> OpRegistry::all() const {
  std::shared_lock lock(state_->mutex);
  std::vector<const OpDef*> out;
  for (const OpDef& op : state_->ops) out.push_back(&op);
  return out;
}

namespace graph {
const std::string& op_name(const OpDef& op) { return op.name(); }
bool op_is_stateful(const OpDef& op) { return op.is_stateful(); }
}  // namespace graph

}  // namespace tidemark
