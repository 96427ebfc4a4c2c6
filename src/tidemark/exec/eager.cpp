#include "tidemark/exec/eager.h"

#include <algorithm>

#include "tidemark/base/backend.h"
#include "tidemark/exec/device_call.h"
#include "tidemark/exec/long_work.h"
#include "tidemark/exec/observed_op.h"
#include "tidemark/graph/donated.h"
#include "tidemark/graph/node.h"
#include "tidemark/kernels/host_kernel.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/grow.h"
#include "tidemark/memory/workspace.h"
#include "tidemark/ops/arrays.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::exec {

namespace {

[[noreturn, gnu::cold]] void fail_no_kernel(const OpCall& call, DType key) {
  const DTypeSet dtypes = host_kernel_dtypes(call.op);
  std::string known;
  for (int i = 0; i < kDTypeSlots; ++i) {
    if (!dtypes.contains(static_cast<DType>(i))) continue;
    known += message(known.empty() ? "" : ", ", name_of(static_cast<DType>(i)));
  }
  fail<UnimplementedError>("[", call.op.name(), "] has no kernel for ", name_of(key),
                           " on the CPU; it has for ", known.empty() ? "none" : known);
}

[[noreturn, gnu::cold]] void fail_no_dtype(const OpCall& call, int output) {
  fail<InternalError>(
      "[", call.op.name(), "] output ", output,
      " has no dtype: its definition leaves that to the shape rule, which is silent");
}

[[noreturn, gnu::cold]] void fail_symbolic(const OpCall& call, const Tensor& t) {
  if (graph::is_donated(t)) {
    fail<FailedPreconditionError>("[", call.op.name(), "] ", graph::describe_donated(t));
  }
  fail<OutOfScopeError>(
      "[", call.op.name(), "] the tensor ", graph::describe(t),
      " is out of scope: it belongs to a graph that was being built, and has no value here. Return "
      "it from the function that made it");
}

const Kernel& kernel_for(const OpCall& call, DType key) {
  const Kernel* kernel = find_host_kernel(call.op, key);
  if (!kernel) fail_no_kernel(call, key);
  return *kernel;
}

/// A new handle on a dying input's elements, when the op may write there.
Tensor reuse_dying_input(const OpCall& call, DType dtype, const Shape& shape) {
  for (size_t i = 0; i < std::min(call.inputs.size(), kMostTakenOver); ++i) {
    const Tensor& t = call.inputs[i];
    if (may_take_over(call, i) && t.dtype() == dtype && t.shape() == shape) return taken_over(t);
  }
  return {};
}

/// A new handle on a dying input's buffer, made larger where that needs no copy. The input's own
/// handle still tells how many rows it had.
Tensor resize_dying_input(const OpCall& call, DType dtype, const Shape& shape) {
  const Tensor& t = call.inputs[0];
  if (!arrays::is_resizing(call.op) || t.shape() == shape || t.dtype() != dtype ||
      t.num_elements() == 0 || !t.is_unique()) {
    return {};
  }
  memory::Buffer* buffer = t.impl()->buffer;
  if (t.raw_data() != buffer->data) return {};  // rows before it belong to nobody
  if (!memory::grow(buffer, bytes_for(dtype, shape.num_elements()))) return {};
  t.impl()->data = buffer->data;
  return view_of(t, buffer->data, dtype, shape);
}

Tensor make_output(const OpCall& call, DType dtype, const Shape& shape, int64_t string_bytes = 0) {
  if (call.donated) {
    if (dtype != DType::string) {  // whose characters lie after the elements
      if (Tensor reused = reuse_dying_input(call, dtype, shape)) return reused;
    }
  }
  return new_tensor(dtype, shape, memory::Holder::value, string_bytes);
}

/// With the characters of strings, of which there may be many in few elements.
int64_t bytes_of(const Tensor& t) {
  const bool has_more = t.dtype() == DType::string && t.impl()->buffer;
  return static_cast<int64_t>(has_more ? t.impl()->buffer->bytes : t.nbytes());
}

int64_t bytes_touched(const OpCall& call, std::span<const Tensor> outputs) {
  if (!outputs.empty() && !call.inputs.empty() && outputs[0].raw_data() &&
      outputs[0].raw_data() == call.inputs[0].raw_data() && arrays::is_resizing(call.op)) {
    return 0;  // one row of many
  }
  int64_t bytes = 0;
  for (const Tensor& t : call.inputs) bytes += bytes_of(t);
  for (const Tensor& t : outputs) bytes += bytes_of(t);
  return bytes;
}

/// `bytes`: what it reads and writes, about.
void run_kernel(const OpCall& call, const Kernel& kernel, std::span<Tensor> outputs,
                size_t workspace_bytes, int64_t bytes) {
  const int64_t threshold = call.op.is_heavy() ? kLongHeavyBytes : kLongWorkBytes;
  const memory::Workspace workspace(workspace_bytes);
  LongWork scope(bytes > threshold);
  KernelContext context(call, outputs, workspace.data());
  kernel.run(context);
}

/// One output, inputs of one shape or broadcast: no InferContext, no heap.
void run_elementwise(const OpCall& call, Tensor& output) {
  const Kernel& kernel = kernel_for(call, call.inputs[0].dtype());
  const DType dtype = call.op.declared_output_dtype(0, call);
  const Shape* shape = &call.inputs[0].shape();
  Shape common;
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.inputs[i].shape() == *shape) continue;
    common = broadcast_shapes(*shape, call.inputs[i].shape());
    shape = &common;
  }
  Tensor result = make_output(call, dtype, *shape);
  const size_t workspace = kernel.workspace ? kernel.workspace(call, {shape, 1}) : 0;
  if (const int64_t count = result.num_elements(); count > 0) {
    const DType read = call.inputs[0].dtype();
    const size_t each = size_of(read) * call.inputs.size() + size_of(dtype);
    const int64_t bytes = read == DType::string ? bytes_touched(call, {&result, 1})
                                                : count * static_cast<int64_t>(each);
    run_kernel(call, kernel, {&result, 1}, workspace, bytes);
  }
  output = std::move(result);
}

void give_back_unused(const InferContext::Output& spec, const Tensor& t) {
  if (t.num_elements() == 0 && spec.shape.num_elements() == 0) return;
  if (spec.string_bytes > 0 || t.shape() == spec.shape) return;
  memory::shrink(t.impl()->buffer, t.nbytes());
}

/// A shape rule may come from a library of anybody's: a view never reaches outside its input.
void check_view(const OpCall& call, const InferContext::Output& spec) {
  const auto input = static_cast<size_t>(spec.aliased_input);
  if (spec.aliased_input < 0 || input >= call.inputs.size()) {
    fail<InternalError>("[", call.op.name(), "] all outputs are views, or none: there is no input ",
                        spec.aliased_input);
  }
  const Tensor& base = call.inputs[input];
  const auto item = static_cast<int64_t>(size_of(base.dtype()));
  const auto whole = static_cast<int64_t>(base.nbytes());
  int64_t start = 0, bytes = 0, end = 0;
  if (spec.offset < 0 || __builtin_mul_overflow(spec.offset, item, &start) ||
      __builtin_mul_overflow(spec.shape.num_elements(), size_of(spec.dtype), &bytes) ||
      __builtin_add_overflow(start, bytes, &end) || end > whole) {
    fail<InternalError>("[", call.op.name(), "] a view of shape ", spec.shape, " at element ",
                        spec.offset, " reaches outside its input of shape ", base.shape());
  }
}

}  // namespace

void infer_outputs(const OpCall& call, InferContext& infer) {
  call.op.shape_rule()(infer);
  for (int i = 0; i < infer.num_outputs(); ++i) {
    if (infer.output(i).dtype == DType::invalid) fail_no_dtype(call, i);
  }
}

bool make_views(const OpCall& call, const InferContext& infer, std::span<Tensor> outputs) {
  if (infer.num_outputs() == 0 || infer.output(0).aliased_input < 0) return false;
  for (int i = 0; i < infer.num_outputs(); ++i) {
    const auto& spec = infer.output(i);
    check_view(call, spec);
    const Tensor& base = call.inputs[static_cast<size_t>(spec.aliased_input)];
    char* data = static_cast<char*>(base.mutable_raw_data());
    if (data) data += spec.offset * static_cast<int64_t>(size_of(base.dtype()));
    outputs[static_cast<size_t>(i)] = view_of(base, data, spec.dtype, spec.shape);
  }
  return true;
}

namespace {

/// The outputs of a call while it runs; few of them take no heap.
class Results {
 public:
  explicit Results(int count) : count_(static_cast<size_t>(count)) {
    if (count_ > kFew) many_.resize(count_);
  }
  std::span<Tensor> all() { return {count_ > kFew ? many_.data() : few_, count_}; }

 private:
  static constexpr size_t kFew = 4;
  size_t count_;
  Tensor few_[kFew];
  std::vector<Tensor> many_;
};

void run_general(const OpCall& call, std::span<Tensor> outputs) {
  InferContext infer(call, static_cast<int>(outputs.size()));
  {
    const LongWorkInterrupt stoppable;  // rules of ops on strings go over all characters
    infer_outputs(call, infer);
  }
  if (make_views(call, infer, outputs)) return;
  const DType key = call.inputs.empty() ? infer.output(0).dtype : call.inputs[0].dtype();
  const Kernel& kernel = kernel_for(call, key);
  Results results(infer.num_outputs());
  std::vector<Shape> shapes;
  for (int i = 0; i < infer.num_outputs(); ++i) {
    const auto& spec = infer.output(i);
    Tensor& result = results.all()[static_cast<size_t>(i)];
    if (i == 0 && (call.donated & 1u) && spec.dtype != DType::string) {
      result = resize_dying_input(call, spec.dtype, spec.shape);
    }
    if (!result) result = make_output(call, spec.dtype, spec.shape, spec.string_bytes);
    if (kernel.workspace) shapes.push_back(spec.shape);
  }
  const size_t workspace = kernel.workspace ? kernel.workspace(call, shapes) : 0;
  run_kernel(call, kernel, results.all(), workspace, bytes_touched(call, results.all()));
  for (int i = 0; i < infer.num_outputs(); ++i) {
    Tensor& result = results.all()[static_cast<size_t>(i)];
    give_back_unused(infer.output(i), result);
    outputs[static_cast<size_t>(i)] = std::move(result);
  }
}

}  // namespace

void run_eager(const OpCall& call, std::span<Tensor> outputs) {
  const OpName name(call.op.name().c_str());
  const ObservedOp observed(call.op);
  for (const Tensor& t : call.inputs) {
    if (t.is_symbolic() && !call.op.is_about_shape()) [[unlikely]]
      fail_symbolic(call, t);
  }
  const bool may_be_elsewhere = open_device_count.load(std::memory_order_relaxed) > 1;
  if (!may_be_elsewhere || !run_elsewhere(call, outputs)) [[likely]]
    run_here(call, outputs);
  observed.ran_into(call.op, outputs);
}

void run_here(const OpCall& call, std::span<Tensor> outputs) {
  // Strings need more than elements: their shape rule says how many bytes.
  if (call.op.is_elementwise() && outputs.size() == 1 && !call.inputs.empty() &&
      call.inputs.back().dtype() != DType::string) {
    run_elementwise(call, outputs[0]);
  } else {
    run_general(call, outputs);
  }
}

}  // namespace tidemark::exec
