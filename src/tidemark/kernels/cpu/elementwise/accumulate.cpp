#include "tidemark/kernels/accumulate.h"

#include <tidemark/error.h>

#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark {

namespace {

std::string_view op_of(Reduce reduce) {
  switch (reduce) {
    case Reduce::product:
      return "multiply";
    case Reduce::min:
      return "minimum";
    case Reduce::max:
      return "maximum";
    default:
      return "add";
  }
}

}  // namespace

std::string_view name_of(Reduce reduce) {
  // op names: of reductions, as their callers know them
  constexpr std::string_view kNames[] = {"sum", "product", "min", "max"};
  return kNames[static_cast<int>(reduce)];
}

void check_reducible(DType dtype, Reduce reduce) {
  if (dtype != DType::string && cpu::loop_for(op_of(reduce), dtype)) return;
  fail("tensors of ", name_of(dtype), " cannot be reduced by ", name_of(reduce),
       " over workers; cast them to a number type");
}

void accumulate(void* sum, const void* more, int64_t count, DType dtype, Reduce reduce) {
  if (count == 0) return;
  const cpu::ElementwiseLoop* loop = cpu::loop_for(op_of(reduce), dtype);
  const Shape shape{count};
  cpu::LoopCall call;
  call.loop = loop;
  call.out = sum;
  call.out_dtype = dtype;
  call.out_shape = &shape;
  call.out_count = count;
  const void* const inputs[] = {sum, more};
  for (int i = 0; i < 2; ++i) {
    call.in[i] = inputs[i];
    call.in_dtype[i] = dtype;
    call.loop_in[i] = loop->in;
    call.in_shape[i] = &shape;
    call.in_count[i] = count;
  }
  cpu::run_loop(call);
}

}  // namespace tidemark
