// Matrix products by oneDNN, each run on the calling thread alone: our own pool divides the work.

#include <optional>

#include "tidemark/kernels/cpu/dnnl/primitive.h"
#include "tidemark/kernels/cpu/dnnl/run_memory.h"

namespace {

using namespace tidemark_dnnl;

bool describe(const TidemarkDnnlProduct& p, dnnl_memory_desc_t* out) {
  const dnnl_data_type_t type = p.is_bfloat16 ? dnnl_bf16 : dnnl_f32;
  const dnnl_dims_t sizes[3] = {{p.m, p.k}, {p.k, p.n}, {p.m, p.n}};
  const dnnl_dims_t strides[3] = {{p.a_row_stride, p.a_column_stride},
                                  {p.b_row_stride, p.b_column_stride},
                                  {p.c_row_stride, 1}};
  for (int i = 0; i < 3; ++i) {
    if (dnnl_memory_desc_init_by_strides(&out[i], 2, sizes[i], type, strides[i]) != dnnl_success) {
      return false;
    }
  }
  return true;
}

bool can_count(const TidemarkDnnlProduct& p) {
  return std::max({p.m, p.n, p.k, p.a_row_stride, p.a_column_stride, p.b_row_stride,
                   p.b_column_stride, p.c_row_stride}) <= kMostCounted;
}

std::unique_ptr<TidemarkDnnlPrimitive> create(const TidemarkDnnlProduct& product) {
  auto made = std::make_unique<TidemarkDnnlPrimitive>();
  if (!can_count(product) || !engine() || !describe(product, made->descriptions)) return nullptr;
  dnnl_matmul_desc_t operation;
  if (dnnl_matmul_desc_init(&operation, &made->descriptions[0], &made->descriptions[1], nullptr,
                            &made->descriptions[2]) != dnnl_success) {
    return nullptr;
  }
  const Description description = describe_operation(&operation);
  if (!description || !is_fast(description.get()) || !finish(*made, description.get())) {
    return nullptr;
  }
  return made;
}

int run_with(TidemarkDnnlPrimitive& p, Arguments& arguments, void* const* data) {
  dnnl_exec_arg_t list[kArguments];
  for (int i = 0; i < kArguments; ++i) {
    dnnl_memory_set_data_handle(arguments.memories[i].get(), data[i]);
    list[i] = {p.names[i], arguments.memories[i].get()};
  }
  const OneThread scope;
  // What the first run makes, the library has for good: that is no matter of kept blocks.
  std::optional<RunScope> kept;
  if (p.ran_before.load(std::memory_order_acquire)) kept.emplace();
  const int status =
      dnnl_primitive_execute(p.primitive.get(), arguments.stream.get(), kArguments, list);
  if (!kept) p.ran_before.store(true, std::memory_order_release);
  return status;
}

/// Index of arguments that nobody uses, now taken; -1: all are in use.
int take_arguments(TidemarkDnnlPrimitive& p) {
  uint64_t busy = p.busy.load(std::memory_order_relaxed);
  while (busy != ~uint64_t{0}) {
    const int index = std::countr_one(busy);
    if (p.busy.compare_exchange_weak(busy, busy | uint64_t{1} << index,
                                     std::memory_order_acquire)) {
      return index;
    }
  }
  return -1;
}

TidemarkDnnlPrimitive* create_product(const TidemarkDnnlProduct* product) {
  const OneThread scope;
  return create(*product).release();
}

size_t scratch_bytes(const TidemarkDnnlPrimitive* primitive) { return primitive->scratch; }

int run(TidemarkDnnlPrimitive* primitive, const void* a, const void* b, void* c, void* scratch) {
  void* const data[kArguments] = {const_cast<void*>(a), const_cast<void*>(b), c, scratch};
  const int index = take_arguments(*primitive);
  if (index < 0) {  // more threads than slots
    Arguments own;
    return make_arguments(*primitive, own) ? run_with(*primitive, own, data) : -1;
  }
  std::unique_ptr<Arguments>& slot = primitive->arguments[index];
  int status = 0;
  if (!slot) {
    auto made = std::make_unique<Arguments>();
    if (make_arguments(*primitive, *made)) {
      slot = std::move(made);
    } else {
      status = -1;
    }
  }
  if (status == 0) status = run_with(*primitive, *slot, data);
  primitive->busy.fetch_and(~(uint64_t{1} << index), std::memory_order_release);
  return status;
}

void destroy(TidemarkDnnlPrimitive* primitive) { delete primitive; }

void use_level(int level) {
  if (level < 4) dnnl_set_max_cpu_isa(level < 3 ? dnnl_cpu_isa_sse41 : dnnl_cpu_isa_avx2);
}

constexpr TidemarkDnnlTable kTable = {
    use_level,    create_product, scratch_bytes,  run,        destroy,        create_convolution,
    filter_bytes, filter_layout,  convert_filter, kept_bytes, most_kept_bytes};

}  // namespace

const TidemarkDnnlTable* tidemark_dnnl_table() { return &kTable; }
