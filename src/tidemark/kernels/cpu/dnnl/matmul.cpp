// Matrix products by oneDNN, each run on the calling thread alone: our own pool divides the work.

#include <dnnl.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <memory>

#include "tidemark/kernels/cpu/dnnl/interface.h"

extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace {

/// oneDNN takes the number of threads from OpenMP's setting of the calling thread, which may belong
/// to somebody else's loops, so it is put back.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;

 private:
  int before_;
};

dnnl_engine_t engine() {
  static dnnl_engine_t engine = [] {
    dnnl_set_primitive_cache_capacity(0);  // the caller keeps what it needs, within its own bound
    dnnl_engine_t e = nullptr;
    dnnl_engine_create(&e, dnnl_cpu, 0);
    return e;
  }();
  return engine;
}

template <class T, dnnl_status_t (*destroy)(T)>
struct Deleter {
  using pointer = T;
  void operator()(T object) const { destroy(object); }
};
using Memory = std::unique_ptr<dnnl_memory_t, Deleter<dnnl_memory_t, dnnl_memory_destroy>>;
using Stream = std::unique_ptr<dnnl_stream_t, Deleter<dnnl_stream_t, dnnl_stream_destroy>>;
using Description = std::unique_ptr<dnnl_primitive_desc_t,
                                    Deleter<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>>;
using Primitive =
    std::unique_ptr<dnnl_primitive_t, Deleter<dnnl_primitive_t, dnnl_primitive_destroy>>;
using Attributes = std::unique_ptr<dnnl_primitive_attr_t,
                                   Deleter<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>>;

constexpr int kArguments = 4;
constexpr int kNames[kArguments] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST,
                                    DNNL_ARG_SCRATCHPAD};

/// What one run in progress needs for itself.
struct Arguments {
  Stream stream;
  Memory memories[kArguments];
};

}  // namespace

struct TidemarkDnnlPrimitive {
  static constexpr int kRuns = 64;
  dnnl_memory_desc_t descriptions[kArguments];
  Primitive primitive;
  size_t scratch = 0;
  std::atomic<uint64_t> busy{0};  // bit i: arguments[i] is in use
  std::unique_ptr<Arguments> arguments[kRuns];
};

namespace {

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

/// Reference implementations are slower than our own loops.
bool is_fast(dnnl_primitive_desc_t description) {
  const char* name = nullptr;
  return dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) ==
             dnnl_success &&
         name && !std::strstr(name, "ref");
}

std::unique_ptr<TidemarkDnnlPrimitive> create(const TidemarkDnnlProduct& product) {
  auto made = std::make_unique<TidemarkDnnlPrimitive>();
  if (!engine() || !describe(product, made->descriptions)) return nullptr;
  dnnl_matmul_desc_t operation;
  if (dnnl_matmul_desc_init(&operation, &made->descriptions[0], &made->descriptions[1], nullptr,
                            &made->descriptions[2]) != dnnl_success) {
    return nullptr;
  }
  dnnl_primitive_attr_t raw_attributes = nullptr;
  if (dnnl_primitive_attr_create(&raw_attributes) != dnnl_success) return nullptr;
  const Attributes attributes(raw_attributes);
  dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user);
  dnnl_primitive_desc_t raw_description = nullptr;
  if (dnnl_primitive_desc_create(&raw_description, &operation, attributes.get(), engine(),
                                 nullptr) != dnnl_success) {
    return nullptr;
  }
  const Description description(raw_description);
  if (!is_fast(description.get())) return nullptr;
  const dnnl_memory_desc_t* scratch =
      dnnl_primitive_desc_query_md(description.get(), dnnl_query_scratchpad_md, 0);
  made->descriptions[3] = *scratch;
  made->scratch = dnnl_memory_desc_get_size(scratch);
  dnnl_primitive_t raw_primitive = nullptr;
  if (dnnl_primitive_create(&raw_primitive, description.get()) != dnnl_success) return nullptr;
  made->primitive.reset(raw_primitive);
  return made;
}

bool make_arguments(TidemarkDnnlPrimitive& p, Arguments& out) {
  dnnl_stream_t stream = nullptr;
  if (dnnl_stream_create(&stream, engine(), dnnl_stream_default_flags) != dnnl_success) {
    return false;
  }
  out.stream.reset(stream);
  for (int i = 0; i < kArguments; ++i) {
    dnnl_memory_t memory = nullptr;
    if (dnnl_memory_create(&memory, &p.descriptions[i], engine(), DNNL_MEMORY_NONE) !=
        dnnl_success) {
      return false;
    }
    out.memories[i].reset(memory);
  }
  return true;
}

int run_with(TidemarkDnnlPrimitive& p, Arguments& arguments, void* const* data) {
  dnnl_exec_arg_t list[kArguments];
  for (int i = 0; i < kArguments; ++i) {
    dnnl_memory_set_data_handle(arguments.memories[i].get(), data[i]);
    list[i] = {kNames[i], arguments.memories[i].get()};
  }
  const OneThread scope;
  return dnnl_primitive_execute(p.primitive.get(), arguments.stream.get(), kArguments, list);
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

constexpr TidemarkDnnlTable kTable = {create_product, scratch_bytes, run, destroy};

}  // namespace

const TidemarkDnnlTable* tidemark_dnnl_table() { return &kTable; }
