#include "tidemark/kernels/cuda/flash_attention.h"

#include "tidemark/base/settings.h"
#include "tidemark/kernels/cuda/attention_lines.h"
#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "flash.h";
constexpr int64_t kRows = 128;           // of a block, as device/flash.h has it
constexpr int64_t kMostColumns = 128;    // that a block's registers and shared memory hold
constexpr int64_t kMostOfGradient = 64;  // the same where there are three results
constexpr int64_t kColumnStep = 16;

/// What sizes say, and how many blocks there are.
struct FlashSizes {
  int64_t items = 1, queries, keys, columns, value_columns;

  explicit FlashSizes(const OpCall& call) {
    const Shape& q = call.inputs[0].shape();
    for (int d = 0; d + 2 < q.rank(); ++d) items *= q[d];
    queries = q.dim(-2);
    columns = q.dim(-1);
    keys = call.inputs[1].dim(-2);
    value_columns = call.inputs[2].dim(-1);
  }
  bool fit(int64_t most) const {
    const auto fits = [&](int64_t n) { return n > 0 && n <= most && n % kColumnStep == 0; };
    return fits(columns) && fits(value_columns) && items > 0 && queries > 0 && keys > 0;
  }
  int64_t blocks(int64_t rows) const { return items * ((rows + kRows - 1) / kRows); }
};

const Kernel& other_way(const OpCall& call) {
  return kernels_of(call.op)->find(KernelKind::cuda, call.inputs[0].dtype());
}

DeviceFunction function_of(const KernelContext& k, const FlashSizes& s, const char* name,
                           const char* arguments) {
  const std::string dims = std::to_string(attention_dims(k.input(0).shape()));
  return {kText,
          name,
          {stored_type(k.input(0).dtype()), std::to_string(s.columns),
           std::to_string(s.value_columns), dims},
          message("tm::", arguments, "<", dims, ">")};
}

void run(KernelContext& k) {
  const FlashSizes s(k.call());
  if (!s.fit(kMostColumns)) return other_way(k.call()).run(k);
  function_of(k, s, "flash_attention", "flash_arguments")
      .run_blocks(cuda_stream_of(k), s.blocks(s.queries),
                  words(k.in<void>(0), k.in<void>(1), k.in<void>(2), k.out<void>(0), k.out<void>(1),
                        attention_lines(k, 0, s.items, 0, s.queries)));
}
size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
  return FlashSizes(call).fit(kMostColumns) ? 0 : other_way(call).workspace(call, outputs);
}

/// Inputs: query, key, value, mask, y, log_sum_exp, dy, dlog_sum_exp.
void run_grad(KernelContext& k) {
  const FlashSizes s(k.call());
  if (!s.fit(kMostOfGradient)) return other_way(k.call()).run(k);
  CudaStream& stream = cuda_stream_of(k);
  const DeviceFunction means{
      kText, "flash_means", {stored_type(k.input(0).dtype())}, "tm::flash_means_arguments"};
  means.run(stream, s.items * s.queries,
            words(k.in<void>(4), k.in<void>(6), k.input(7).rank() > 0 ? k.in<void>(7) : nullptr,
                  k.workspace(), s.items * s.queries, s.value_columns));
  const Words arguments = words(k.in<void>(0), k.in<void>(1), k.in<void>(2), k.in<void>(6),
                                k.in<void>(5), k.workspace(), k.out<void>(0), k.out<void>(1),
                                k.out<void>(2), attention_lines(k, 0, s.items, 0, s.queries));
  function_of(k, s, "flash_query_grad", "flash_grad_arguments")
      .run_blocks(stream, s.blocks(s.queries), arguments);
  function_of(k, s, "flash_key_grad", "flash_grad_arguments")
      .run_blocks(stream, s.blocks(s.keys), arguments);
}
size_t grad_workspace(const OpCall& call, std::span<const Shape> outputs) {
  const FlashSizes s(call);
  if (!s.fit(kMostOfGradient)) return other_way(call).workspace(call, outputs);
  return static_cast<size_t>(s.items * s.queries) * sizeof(float);
}

constexpr Kernel kForward{run, workspace}, kGradient{run_grad, grad_workspace};
/// Half types in both forms, and copies from shared memory across.
constexpr int kLeastLevel = 8;

bool is_wanted() {
  static const bool wanted = [] {
    const std::string how = settings::text(settings::kGpuAttention);
    if (how == "fused" || how == "apart") return how == "fused";
    fail<InvalidArgumentError>(settings::kGpuAttention.name, " is ", how,
                               "; allowed are fused and apart");
  }();
  return wanted;
}

}  // namespace

const Kernel* find_flash_attention(const OpDef& op, DType key, const DeviceFacts& facts) {
  if (key != DType::float16 && key != DType::bfloat16) return nullptr;
  if (facts.major < kLeastLevel) return nullptr;
  const bool is_forward = op.name() == "attention";
  if (!is_forward && op.name() != "attention_grad") return nullptr;
  return !is_wanted() ? nullptr : is_forward ? &kForward : &kGradient;
}

}  // namespace tidemark::cuda
