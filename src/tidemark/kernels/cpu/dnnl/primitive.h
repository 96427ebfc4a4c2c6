// What the oneDNN files share: owners of its objects, and running a primitive.
#pragma once

#include <dnnl.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "tidemark/kernels/cpu/dnnl/interface.h"

extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace tidemark_dnnl {

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

inline dnnl_engine_t engine() {
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

/// What one run in progress needs for itself.
struct Arguments {
  Stream stream;
  Memory memories[kArguments];
};

}  // namespace tidemark_dnnl

struct TidemarkDnnlPrimitive {
  static constexpr int kRuns = 64;
  int names[tidemark_dnnl::kArguments] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST,
                                          DNNL_ARG_SCRATCHPAD};
  dnnl_memory_desc_t descriptions[tidemark_dnnl::kArguments];
  tidemark_dnnl::Primitive primitive;
  size_t scratch = 0;
  std::atomic<bool> ran_before{false};
  std::atomic<uint64_t> busy{0};  // bit i: arguments[i] is in use
  std::unique_ptr<tidemark_dnnl::Arguments> arguments[kRuns];

  // Of convolutions: how the filter lies outside, and the primitive that converts it,
  // where filter_layout does not say how.
  dnnl_memory_desc_t plain_filter;
  tidemark_dnnl::Primitive conversion;
};

namespace tidemark_dnnl {

/// oneDNN counts in 32 bits inside, and divides by what came of it.
inline constexpr int64_t kMostCounted = std::numeric_limits<int32_t>::max();

/// Reference implementations are slower than our own loops.
inline bool is_fast(dnnl_primitive_desc_t description) {
  const char* name = nullptr;
  return dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) ==
             dnnl_success &&
         name && !std::strstr(name, "ref");
}

/// Attributes under which scratch memory comes from the caller; null when that fails.
inline Attributes user_scratch() {
  dnnl_primitive_attr_t raw = nullptr;
  if (dnnl_primitive_attr_create(&raw) != dnnl_success) return nullptr;
  dnnl_primitive_attr_set_scratchpad_mode(raw, dnnl_scratchpad_mode_user);
  return Attributes(raw);
}

/// Of an operation; null when oneDNN has none.
inline Description describe_operation(const void* operation, dnnl_primitive_desc_t hint = nullptr) {
  const Attributes attributes = user_scratch();
  dnnl_primitive_desc_t raw = nullptr;
  if (!attributes || dnnl_primitive_desc_create(&raw, operation, attributes.get(), engine(),
                                                hint) != dnnl_success) {
    return nullptr;
  }
  return Description(raw);
}

inline bool make_arguments(const TidemarkDnnlPrimitive& p, Arguments& out) {
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

/// So many runs at once find their arguments made, whenever they come.
inline bool prepare_arguments(TidemarkDnnlPrimitive& made) {
  static const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  for (unsigned i = 0; i < threads; ++i) {
    made.arguments[i] = std::make_unique<Arguments>();
    if (!make_arguments(made, *made.arguments[i])) return false;
  }
  return true;
}

/// Finishes a primitive whose first three descriptions are known.
inline bool finish(TidemarkDnnlPrimitive& made, dnnl_primitive_desc_t description) {
  const dnnl_memory_desc_t* scratch =
      dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  made.descriptions[3] = *scratch;
  made.scratch = dnnl_memory_desc_get_size(scratch);
  dnnl_primitive_t raw = nullptr;
  if (dnnl_primitive_create(&raw, description) != dnnl_success) return false;
  made.primitive.reset(raw);
  return prepare_arguments(made);
}

TidemarkDnnlPrimitive* create_convolution(const TidemarkDnnlConvolution* convolution,
                                          const TidemarkDnnlPrimitive* like);
size_t filter_bytes(const TidemarkDnnlPrimitive* convolution);
int filter_layout(const TidemarkDnnlPrimitive* convolution, TidemarkDnnlLayout* layout);
int convert_filter(TidemarkDnnlPrimitive* convolution, const void* from, void* to);

}  // namespace tidemark_dnnl
