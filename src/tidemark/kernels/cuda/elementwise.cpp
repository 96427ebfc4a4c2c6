#include "tidemark/kernels/cuda/elementwise.h"

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/launch.h"
#include "tidemark/kernels/cuda/ops_table.h"
#include "tidemark/ops/number_attrs.h"

namespace tidemark::cuda {

namespace {

using fusion::Code;
using fusion::FusedProgram;
using fusion::Instruction;
using fusion::Value;

/// A program that loads every input of the call and ends with one more instruction over them.
FusedProgram program_of(KernelContext& k, Instruction last) {
  FusedProgram program;
  program.inputs.reserve(static_cast<size_t>(k.num_inputs()));
  program.code.reserve(static_cast<size_t>(k.num_inputs()) + 1);
  for (int i = 0; i < k.num_inputs(); ++i) {
    Instruction load;
    load.code = Code::load;
    load.dtype = k.input(i).dtype();
    load.input = static_cast<uint16_t>(i);
    program.inputs.push_back(load.dtype);
    program.code.push_back(load);
    last.args[static_cast<size_t>(i)] = static_cast<Value>(i);
  }
  last.arity = static_cast<uint8_t>(k.num_inputs());
  last.dtype = k.output(0).dtype();
  program.code.push_back(last);
  program.outputs.push_back({static_cast<Value>(k.num_inputs()), false});
  return program;
}

void run(KernelContext& k, const Instruction& last) {
  if (k.output(0).num_elements() == 0) return;
  auto& stream = static_cast<CudaStream&>(stream_of(k));
  const FusedProgram program = program_of(k, last);
  std::vector<Shape> shapes;
  shapes.reserve(k.call().inputs.size());
  for (const Tensor& t : k.call().inputs) shapes.push_back(t.shape());
  const Walk walk(program, shapes);
  launch_program(stream, code_for(stream, program, walk), program, walk, k.call().inputs,
                 {&k.output(0), 1});
}

void run_map(KernelContext& k) {
  Instruction map;
  map.code = Code::map;
  map.op = &k.call().op;
  read_number_attrs(k.call().op, k.call().attrs, map.params);
  run(k, map);
}

void run_cast(KernelContext& k) {
  Instruction cast;
  cast.code = Code::cast;
  run(k, cast);
}

void run_select(KernelContext& k) {
  Instruction select;
  select.code = Code::select;
  run(k, select);
}

/// Division and powers of integers, which are in no fused program because they may fail: `y` is
/// looked over first.
void run_checked_map(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const Tensor& y = k.input(1);
  const bool is_power = k.call().op.name() == "pow";
  const FaultKind kind = is_power ? FaultKind::negative_power : FaultKind::division_by_zero;
  const DeviceFunction check{"loops.h",
                             is_power ? "check_none_negative" : "check_no_zero",
                             {stored_type(y.dtype())},
                             "tm::check_arguments"};
  check.run(stream, y.num_elements(),
            words(y.raw_data(), y.num_elements(), stream.faults().word(k.call().op, kind)));
  run_map(k);
}

constexpr Kernel kMap{run_map}, kCheckedMap{run_checked_map}, kCast{run_cast}, kSelect{run_select};

}  // namespace

const Kernel* find_elementwise(const OpDef& op, DType key) {
  if (op.name() == "cast") return kPlain.contains(key) ? &kCast : nullptr;
  if (op.name() == "select") return &kSelect;
  if (has_complex_op(op.name(), key)) return &kMap;
  if (!find_element_op(op.name(), key)) return nullptr;
  if (fusion::is_fusable(op, key)) return &kMap;
  return op.may_fail(key) ? &kCheckedMap : nullptr;
}

}  // namespace tidemark::cuda
