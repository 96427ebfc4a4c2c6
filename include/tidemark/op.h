// Defining an op: one definition holds its schema, shape rule, aliasing, fusability, gradient, doc.
//
//   TIDEMARK_OP(square)
//       .doc("x * x, elementwise.")
//       .python("tf.square", "tf.math.square")
//       .input("x", kNumeric)
//       .output("y", like("x"))
//       .elementwise()
//       .gradient([](Grad& g) { g.dx(0) = g.dy() * g.x(0) * Tensor(2.f); }, keep_x(0));
//
// The C++ function, the Python names, the docs and the test lists come from the definition; so does
// what passes and front ends know of the op (<tidemark/op_facts.h>). The kernel is registered
// apart, per dtype and device (<tidemark/kernel.h>).
#pragma once

#include <tidemark/attr.h>
#include <tidemark/op_facts.h>
#include <tidemark/tensor.h>

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// A text that stands in the program itself and is there for as long as it runs: definitions refer
/// to it, and loading a library copies nothing.
struct Literal {
  consteval Literal(const char* literal) : text(literal) {}
  std::string_view text;
};

/// One parameter of an op, in the order callers write them.
struct Param {
  enum class Kind : uint8_t { input, input_list, attr };
  Kind kind = Kind::input;
  std::string name;
  // inputs; for an attribute of kind dtype: what it may be
  DTypeSet dtypes{};
  char type_var = 'T';  // inputs with the same letter are promoted to one dtype
  // attributes
  AttrKind attr_kind = AttrKind::boolean;
  bool optional = false;  // may be none
  bool required = true;   // has no default
  Attr fallback;          // the default
};

/// Dtype of an output.
struct OutputType {
  enum class Kind : uint8_t { fixed, like_input, from_attr, real_of_input, rule };
  Kind kind = Kind::rule;
  DType dtype = DType::invalid;
  std::string_view name{};  // of the input or attribute
};
inline OutputType like(Literal input) {
  return {OutputType::Kind::like_input, DType::invalid, input.text};
}
inline OutputType always(DType dtype) { return {OutputType::Kind::fixed, dtype, {}}; }
inline OutputType from_attr(Literal attr) {
  return {OutputType::Kind::from_attr, DType::invalid, attr.text};
}
/// The input's dtype, or the dtype of its real part when it is complex.
inline OutputType real_of(Literal input) {
  return {OutputType::Kind::real_of_input, DType::invalid, input.text};
}
/// Set by the shape rule.
inline OutputType by_rule() { return {}; }

struct OutputSpec {
  std::string_view name;
  OutputType type;
  int input_index = -1;  // resolved like/real_of
  int attr_index = -1;   // resolved from_attr
};

class OpDef;
class KernelTable;

/// A call on its way: which op, on what.
struct TIDEMARK_API OpCall {
  const OpDef& op;
  std::span<const Tensor> inputs;
  std::span<const Attr> attrs;  // one each attribute of the op, in its order
  uint64_t donated = 0;         // bit i: the caller gives up input i

  const Attr& attr(std::string_view name) const;
};

/// What a shape rule sees and says.
class TIDEMARK_API InferContext {
 public:
  explicit InferContext(const OpCall& call, int outputs);
  InferContext(const InferContext&) = delete;

  const OpCall& call() const { return call_; }
  std::string_view op_name() const;
  int num_inputs() const { return static_cast<int>(call_.inputs.size()); }
  const Tensor& input(int i) const { return call_.inputs[i]; }
  const Shape& shape(int i) const { return call_.inputs[i].shape(); }
  DType dtype(int i) const { return call_.inputs[i].dtype(); }
  /// The elements of an integer input (a shape, an axis, sizes). The input holds values.
  Ints ints(int i) const { return call_.inputs[i].to_ints(); }
  int64_t scalar_int(int i) const;
  const Attr& attr(std::string_view name) const { return call_.attr(name); }

  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  void set(int output, Shape shape) { outputs_[output].shape = std::move(shape); }
  void set(int output, Shape shape, DType dtype) {
    set(output, std::move(shape));
    outputs_[output].dtype = dtype;
  }
  /// The output is a view: the elements of `input` from `offset` on. No kernel runs, nothing is
  /// copied. For every output or for none.
  void alias(int output, int input, int64_t offset = 0) {
    outputs_[output].aliased_input = input;
    outputs_[output].offset = offset;
  }
  /// Bytes after the elements, for the characters of a string output (an upper bound).
  void set_string_bytes(int output, int64_t bytes) { outputs_[output].string_bytes = bytes; }

  /// Throws InvalidArgumentError "[op] …".
  template <class... Pieces>
  [[noreturn, gnu::cold]] void fail(const Pieces&... pieces) const {
    tidemark::fail<InvalidArgumentError>("[", op_name(), "] ", pieces...);
  }

  struct Output {
    Shape shape;
    DType dtype = DType::invalid;
    int aliased_input = -1;
    int64_t offset = 0;
    int64_t string_bytes = 0;
  };
  const Output& output(int i) const { return outputs_[i]; }

 private:
  const OpCall& call_;
  std::vector<Output> outputs_;
};
using ShapeRule = void (*)(InferContext&);

/// What a gradient definition sees and says. Inputs and outputs not named by keep_x/keep_y are
/// gone by then; their shapes and dtypes are not.
class TIDEMARK_API Grad {
 public:
  /// `wanted`: bit i for input i; bits beyond the 64th are taken as set.
  Grad(const OpCall& call, std::span<const Tensor> outputs, std::span<Tensor> dy,
       std::span<Tensor> dx, uint64_t wanted = ~uint64_t{0})
      : call_(call), outputs_(outputs), dy_(dy), dx_(dx), wanted_(wanted) {}

  const Tensor& x(int i = 0) const { return call_.inputs[i]; }
  const Tensor& y(int i = 0) const { return outputs_[i]; }
  const Tensor& dy(int i = 0) const { return dy_[i]; }  // empty: nothing flows from output i
  /// dy(i), given up: an op it goes into may write its result there. dy(i) is empty from then on.
  Tensor take_dy(int i = 0) { return std::move(dy_[i]); }
  int num_inputs() const { return static_cast<int>(call_.inputs.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& shape(int i) const { return call_.inputs[i].shape(); }
  const Attr& attr(std::string_view name) const { return call_.attr(name); }
  std::string_view op_name() const;
  /// Set it to the gradient of input i; left empty: no gradient flows there.
  Tensor& dx(int i) { return dx_[i]; }
  /// False: nobody asks for the gradient of input i; costly definitions leave it out.
  bool wants(int i) const { return i >= 64 || ((wanted_ >> i) & 1u); }
  /// Sums `t` down to input i's shape, undoing broadcasting.
  Tensor unbroadcast(const Tensor& t, int i) const;

 private:
  const OpCall& call_;
  std::span<const Tensor> outputs_;
  std::span<Tensor> dy_, dx_;
  uint64_t wanted_;
};
using GradientRule = void (*)(Grad&);

/// What the gradient needs to be kept: bit i for input i, output i.
struct Keep {
  uint32_t x = 0;
  uint32_t y = 0;
};
template <class... I>
constexpr Keep keep_x(I... i) {
  return {((1u << i) | ... | 0u), 0};
}
template <class... I>
constexpr Keep keep_y(I... i) {
  return {0, ((1u << i) | ... | 0u)};
}
constexpr Keep operator|(Keep a, Keep b) { return {a.x | b.x, a.y | b.y}; }

/// The one place where the facts about an op are kept. Built by TIDEMARK_OP, immutable afterwards.
class TIDEMARK_API OpDef {
 public:
  explicit OpDef(std::string name) : name_(std::move(name)) {}
  OpDef(OpDef&&) = default;

  // --- building, in the order of the definition -------------------------------------------
  /// `more`: what holds for the whole family.
  OpDef&& doc(Literal text, Literal more = "") &&;
  /// Full Python names; the first is the canonical one: "tf.square".
  template <std::same_as<const char*>... Names>
  OpDef&& python(Names... names) && {
    python_names_.assign({std::string_view(names)...});
    return std::move(*this);
  }
  OpDef&& input(Literal name, DTypeSet dtypes, char type_var = 'T') &&;
  /// A list of tensors, at least one, of one dtype. The only one of its op.
  OpDef&& input_list(Literal name, DTypeSet dtypes, char type_var = 'T') &&;
  /// With a default. Kinds follow the C++ type of the default.
  OpDef&& attr(Literal name, AttrKind kind, Attr fallback) &&;
  /// Narrows the dtypes that the attribute just declared (of kind dtype) may name; kPlain unless
  /// said.
  OpDef&& among(DTypeSet dtypes) &&;
  /// Without a default: the caller has to give it.
  OpDef&& attr(Literal name, AttrKind kind) &&;
  /// May be none, and is unless given.
  OpDef&& optional_attr(Literal name, AttrKind kind) &&;
  OpDef&& output(Literal name, OutputType type) &&;
  /// As many outputs as the integer attribute says.
  OpDef&& output_list(Literal name, OutputType type, Literal count_attr) &&;
  OpDef&& shape(ShapeRule rule) &&;
  /// Inputs broadcast together; the kernel computes each element by itself: fusable, and may
  /// write into an input that dies.
  OpDef&& elementwise() &&;
  /// The kernel may write its output into this input when that dies and has the same size.
  OpDef&& in_place(int input) &&;
  /// Not a pure function of its inputs: never folded, shared or reordered.
  OpDef&& stateful() &&;
  /// Costs much more than reading its inputs once.
  OpDef&& heavy() &&;
  /// Costs little more than passing over its inputs and outputs: a value of it may be made again
  /// rather than kept. Elementwise ops are, unless they are heavy.
  OpDef&& cheap() &&;
  /// The kernel refuses some elements of these dtypes, though the shape rule was content.
  OpDef&& may_fail(DTypeSet dtypes = kAny) &&;
  /// As elementwise() in what is computed, but no more is said: each element of the output comes
  /// from those at its place in the inputs, which broadcast together.
  OpDef&& each_element() &&;
  /// Reduces the dimensions that the attribute `axis` names, or all where it is none.
  OpDef&& reduction(ReductionKind kind) &&;
  /// Works along the dimension that the attribute `axis` names, on each line by itself.
  OpDef&& along_axis(int unless_given = 0) &&;
  /// The output is the first input, element for element.
  OpDef&& passes() &&;
  /// The output holds the elements of the first input in their order, in another shape.
  OpDef&& reshapes() &&;
  /// The output is that input, broadcast.
  OpDef&& repeats(int input) &&;
  /// The result is the other operand, bit for bit, where one is this number.
  OpDef&& neutral(double number, bool on_either_side) &&;
  OpDef&& draws(Distribution distribution) &&;
  /// How it runs on a part of the rows; elementwise ops need not say.
  OpDef&& rows(RowTreatment treatment) &&;
  /// The op of TensorFlow that does the same. `inputs`: parameters of ours in the order of its
  /// inputs, our inputs unless given; `attrs`: "theirs=ours", or one name for both; `label`: what
  /// nodes are called unless named, its name unless given.
  OpDef&& tensorflow(std::string_view name, std::string_view inputs = {},
                     std::string_view attrs = {}, std::string_view label = {}) &&;
  OpDef&& onnx(std::string_view name, std::string_view inputs = {}, std::string_view attrs = {}) &&;
  /// The rule's first size of these outputs is an upper bound: the kernel tells the real one.
  template <class... Outputs>
  OpDef&& rows_from_values(Outputs... outputs) && {
    rows_from_values_ = ((1u << outputs) | ... | 0u);
    return std::move(*this);
  }
  /// The shape rule, or the kernel before it computes, reads the elements of these inputs: they
  /// live on the host.
  template <class... Inputs>
  OpDef&& on_host(Inputs... inputs) && {
    on_host_ |= ((1u << inputs) | ... | 0u);
    return std::move(*this);
  }
  /// The kernel looks at the shapes of its inputs and at no element.
  OpDef&& tells_shape() && {
    tells_shape_ = true;
    return std::move(*this);
  }
  OpDef&& gradient(GradientRule rule, Keep keep = {}) &&;
  /// Nothing to differentiate (comparisons, integer results).
  OpDef&& no_gradient() &&;
  /// There is a derivative, but no definition of it: asking for it raises UnimplementedError.
  OpDef&& missing_gradient() &&;

  // --- reading ------------------------------------------------------------------------------
  const std::string& name() const { return name_; }
  std::string doc() const { return std::string(doc_[0]).append(doc_[1]); }
  const std::vector<std::string_view>& python_names() const { return python_names_; }
  const std::vector<Param>& params() const { return params_; }
  /// Indices into params().
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& attrs() const { return attrs_; }
  const std::vector<OutputSpec>& outputs() const { return outputs_; }
  bool has_input_list() const { return has_input_list_; }
  bool has_output_list() const { return output_count_attr_ >= 0; }
  int num_outputs(std::span<const Attr> attrs) const;
  /// Parameter of the i-th tensor of a call (several tensors share the list's).
  const Param& input_param(int i) const;
  int attr_index(std::string_view name) const;  // -1: none
  ShapeRule shape_rule() const { return shape_rule_; }
  GradientRule gradient_rule() const { return gradient_; }
  Keep gradient_keeps() const { return keep_; }
  bool is_elementwise() const { return elementwise_; }
  bool is_stateful() const { return stateful_; }
  bool is_heavy() const { return heavy_; }
  bool is_cheap() const { return (elementwise_ || cheap_) && !heavy_ && !stateful_; }
  /// Whether some elements of this dtype make the kernel fail.
  bool may_fail(DType dtype) const { return fails_on_.contains(dtype); }
  bool works_on_elements() const { return elementwise_ || each_element_; }
  ReductionKind reduction_kind() const { return reduction_; }
  bool is_along_axis() const { return along_axis_; }
  /// The axis of an op along one where the attribute is none.
  int axis_unless_given() const { return axis_unless_given_; }
  bool passes_first_input() const { return passes_; }
  bool is_reshaping() const { return reshapes_; }
  /// The input that the output is a broadcast of; -1: none.
  int repeated_input() const { return repeated_input_; }
  const std::optional<NeutralOperand>& neutral_operand() const { return neutral_; }
  Distribution distribution() const { return distribution_; }
  /// Null: nothing was said.
  RowTreatment row_treatment() const { return rows_; }
  /// Null: it has no counterpart that does just the same.
  const ForeignOp* foreign(Vocabulary vocabulary) const {
    return foreign_[static_cast<size_t>(vocabulary)].get();
  }
  bool has_rows_from_values(int output) const { return (rows_from_values_ >> output) & 1u; }
  bool is_about_shape() const { return tells_shape_; }
  bool reads_on_host(size_t input) const { return input < 32 && ((on_host_ >> input) & 1u); }
  bool is_differentiable() const { return gradient_ != nullptr; }
  /// True iff differentiating it raises UnimplementedError.
  bool is_gradient_missing() const { return gradient_missing_; }
  bool may_write_into(int input) const { return (in_place_ >> input) & 1u; }
  /// True iff all inputs share one type variable.
  bool has_one_type_var() const { return one_type_var_; }
  bool has_dtype_attrs() const { return has_dtype_attrs_; }
  /// True iff `count` inputs, all of this dtype, need no promotion and no further check.
  bool takes(size_t count, DType dtype) const {
    return one_type_var_ && common_dtypes_.contains(dtype) &&
           (count == inputs_.size() || (has_input_list_ && count > inputs_.size()));
  }
  /// Dtype of an output by its declaration; invalid: the shape rule says.
  DType declared_output_dtype(int output, const OpCall& call) const {
    // Almost every op's output is like its first input, and this is on the way of every call.
    if (outputs_like_first_input_) return call.inputs[0].dtype();
    return work_out_output_dtype(output, call);
  }

  /// Kernels of this op, kept by kernels/; null until one is registered.
  KernelTable* kernels = nullptr;

 private:
  friend class OpRegistry;
  void check_complete();
  void check_foreign(ForeignOp& op) const;
  OpDef&& known_as(Vocabulary vocabulary, std::string_view name, std::string_view inputs,
                   std::string_view attrs, std::string_view label) &&;
  bool has_param(std::string_view name) const;
  DType work_out_output_dtype(int output, const OpCall& call) const;

  std::string name_;
  std::string_view doc_[2];
  std::vector<std::string_view> python_names_;
  std::vector<Param> params_;
  std::vector<int> inputs_, attrs_;
  std::vector<OutputSpec> outputs_;
  int output_count_attr_ = -1;
  ShapeRule shape_rule_ = nullptr;
  GradientRule gradient_ = nullptr;
  Keep keep_;
  uint32_t in_place_ = 0;
  uint32_t rows_from_values_ = 0;
  uint32_t on_host_ = 0;
  bool tells_shape_ = false;
  bool has_input_list_ = false, elementwise_ = false, stateful_ = false, heavy_ = false;
  bool one_type_var_ = true, has_dtype_attrs_ = false, outputs_like_first_input_ = false;
  bool gradient_missing_ = false;
  DTypeSet common_dtypes_{~0u};  // allowed for every input
  // What else is known of the op.
  bool cheap_ = false, each_element_ = false, along_axis_ = false, passes_ = false;
  bool reshapes_ = false;
  ReductionKind reduction_ = ReductionKind::none;
  Distribution distribution_ = Distribution::none;
  int axis_unless_given_ = 0, repeated_input_ = -1;
  DTypeSet fails_on_{};
  RowTreatment rows_ = nullptr;
  std::optional<NeutralOperand> neutral_;
  std::array<std::unique_ptr<ForeignOp>, kVocabularies> foreign_;
};

/// All ops of the process, by name.
class TIDEMARK_API OpRegistry {
 public:
  static OpRegistry& instance();
  /// Throws AlreadyExistsError for a name taken, InvalidArgumentError for a broken definition.
  OpDef& add(OpDef&& op);
  const OpDef* find(std::string_view name) const;
  /// The op that does just what the op of that name in another vocabulary does; null: none.
  const OpDef* find(Vocabulary vocabulary, std::string_view name) const;
  /// Throws NotFoundError.
  const OpDef& get(std::string_view name) const;
  OpDef& get_mutable(std::string_view name);
  /// In order of registration.
  std::vector<const OpDef*> all() const;

 private:
  struct State;
  OpRegistry();
  std::unique_ptr<State> state_;
};

namespace detail {
/// While collecting (a library is being opened), registrars keep their errors instead of throwing
/// out of a static initialiser. Switching off returns what was collected.
TIDEMARK_API std::string collect_registration_errors(bool on);
/// Keeps the message while collecting, else throws InvalidArgumentError.
TIDEMARK_API void registration_failed(const std::string& message);

template <class Register>
void register_or_report(const Register& action) {
  try {
    action();
  } catch (const Error& e) {
    registration_failed(e.what());
  }
}

struct OpRegistrar {
  // Implicit, so that a definition reads as one expression.
  OpRegistrar(OpDef&& op) {
    register_or_report([&] { OpRegistry::instance().add(std::move(op)); });
  }
};
}  // namespace detail

#define TIDEMARK_OP(name)                                                            \
  [[maybe_unused]] static const ::tidemark::detail::OpRegistrar tidemark_op_##name = \
      ::tidemark::OpDef(#name)

}  // namespace tidemark
