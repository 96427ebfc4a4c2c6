// Settings: every TIDEMARK_* environment variable, in one table.
//
//   int64_t threads = settings::integer(settings::kNumThreads);      // its value, or the fallback
//   bool poison = settings::flag(settings::kPoison);
//
// To add one, add a line to the table below; reading, checking and documentation come from it.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tidemark::settings {

enum class Kind : uint8_t { integer, bytes, flag, text };

struct Setting {
  const char* name;
  Kind kind;
  const char* fallback;  // as one would write it; "" when the default is worked out (see doc)
  const char* doc;
};

inline constexpr Setting kMemoryLimit{
    "TIDEMARK_MEMORY_LIMIT", Kind::bytes, "",
    "Process limit for tensor memory, like 4GiB. Default: what the machine, the control group and "
    "the resource limits allow, less room for the rest of the process."};
inline constexpr Setting kRetainedLimit{
    "TIDEMARK_RETAINED_LIMIT", Kind::bytes, "",
    "How many free bytes are kept for the next request. Default: an eighth of the memory limit, "
    "at most 256 MiB."};
inline constexpr Setting kPoison{
    "TIDEMARK_POISON", Kind::flag, "0",
    "Fill fresh and freed buffers with 0xa5, to expose reads of memory that was never written or "
    "is gone."};
inline constexpr Setting kFailAllocation{
    "TIDEMARK_FAIL_ALLOCATION", Kind::integer, "0",
    "Let the n-th allocation of the process raise ResourceExhaustedError; 0: none. For tests."};
inline constexpr Setting kTraceCache{"TIDEMARK_TRACE_CACHE", Kind::bytes, "256MiB",
                                     "Bytes that the traces of all functions may take together; "
                                     "the one used longest ago goes first."};
inline constexpr Setting kPlan{
    "TIDEMARK_PLAN", Kind::flag, "1",
    "Compile functions and session runs that are called again with the same sizes; 0: run every "
    "graph step by step."};
inline constexpr Setting kPlanBudget{
    "TIDEMARK_PLAN_BUDGET", Kind::bytes, "0",
    "The peak that functions without a memory_budget are planned for, or the lowest that can be "
    "reached: steps are done twice for it. 0: whatever is fastest."};
inline constexpr Setting kPlanRepeat{
    "TIDEMARK_PLAN_REPEAT", Kind::integer, "2",
    "Per cent of a call's estimated time that may be added by computing cheap values twice instead "
    "of keeping them, where that lowers the peak. 0: every value is computed once."};
inline constexpr Setting kWholeGradients{
    "TIDEMARK_WHOLE_GRADIENTS", Kind::bytes, "2MiB",
    "Gradients of up to this many bytes are made whole in a compiled function, and the updates of "
    "their variables run together at the end; the update of a larger one runs on each part of it "
    "as soon as that is made."};
inline constexpr Setting kPlanTime{
    "TIDEMARK_PLAN_MILLISECONDS", Kind::integer, "100",
    "How long the planner may look for a better order and a better placement of one graph, after "
    "the quick ones that it always tries."};
inline constexpr Setting kDump{
    "TIDEMARK_DUMP", Kind::text, "",
    "passes: print the graph of a function after every pass of its compilation."};
inline constexpr Setting kRecord{
    "TIDEMARK_RECORD", Kind::text, "",
    "Record what happens to memory in this file, from the start of the process to its end: what "
    "tidemark profile and tidemark doctor do with a C++ program."};
inline constexpr Setting kFusion{
    "TIDEMARK_FUSION", Kind::text, "on",
    "How chains of ops run in a compiled function. on: as one pass over memory, as machine code. "
    "interpret: as one pass, by the ops' own loops. off: op by op."};
inline constexpr Setting kIdleCode{
    "TIDEMARK_IDLE_CODE", Kind::text, "unmap",
    "What becomes of the libraries' code that only compiling needs. unmap: its pages leave "
    "resident memory after a compilation; the system maps those that run again. keep: they stay."};
inline constexpr Setting kIsa{
    "TIDEMARK_ISA", Kind::text, "",
    "The highest instruction set that is used: v2 (SSE4.2), v3 (AVX2 and FMA) or v4 (AVX-512). "
    "Default: the highest one that the processor has."};
inline constexpr Setting kNumThreads{
    "TIDEMARK_NUM_THREADS", Kind::integer, "0",
    "Threads that compute. 0: as many as the process may use processors."};
inline constexpr Setting kDevice{
    "TIDEMARK_DEVICE", Kind::text, "cpu",
    "Where ops run and tensors lie unless the program says otherwise: cpu, gpu, or emulated, an "
    "accelerator made of memory that the host cannot touch, for tests of placement."};
inline constexpr Setting kEmulatedDevices{"TIDEMARK_EMULATED_DEVICES", Kind::integer, "2",
                                          "How many emulated devices there are."};
inline constexpr Setting kEmulatedMemory{"TIDEMARK_EMULATED_MEMORY", Kind::bytes, "1GiB",
                                         "The memory of one emulated device."};
inline constexpr Setting kEmulatedTaken{
    "TIDEMARK_EMULATED_TAKEN", Kind::bytes, "0",
    "How much of an emulated device's memory somebody else holds: it refuses pages for that."};
inline constexpr Setting kEmulatedDelay{
    "TIDEMARK_EMULATED_DELAY", Kind::integer, "0",
    "Microseconds that the emulated device waits before each piece of work."};
inline constexpr Setting kEmulatedWithout{
    "TIDEMARK_EMULATED_WITHOUT", Kind::text, "",
    "Names of ops, with commas between them, for which the emulated device has no kernels."};
inline constexpr Setting kKernelCache{
    "TIDEMARK_KERNEL_CACHE", Kind::bytes, "256MiB",
    "Bytes of kernels compiled for GPUs that are kept in files for later processes, in "
    "~/.cache/tidemark-kernels; 0: none."};
inline constexpr Setting kGpuAttention{"TIDEMARK_GPU_ATTENTION", Kind::text, "fused",
                                       "How GPUs attend in half types. fused: as one kernel, which "
                                       "keeps no scores. apart: as products "
                                       "and kernels between them, as in other types."};
inline constexpr Setting kImageRatio{
    "TIDEMARK_IMAGE_RATIO", Kind::integer, "10000",
    "Pixels that an image of more than 4 million may have for each byte of its file: a few bytes "
    "can claim gigabytes. 0: any number."};
inline constexpr Setting kSecret{
    "TIDEMARK_SECRET", Kind::text, "",
    "What the workers of a group show each other before anything else, at least 16 characters. "
    "Default: the contents of ~/.cache/tidemark/secret, which is made when it is first needed."};
inline constexpr Setting kJoinSeconds{
    "TIDEMARK_JOIN_SECONDS", Kind::integer, "600",
    "How long a worker waits for the others of its group to come."};
inline constexpr Setting kSilenceSeconds{
    "TIDEMARK_SILENCE_SECONDS", Kind::integer, "30",
    "A worker that the others have not heard for so long is lost to them."};
inline constexpr Setting kCollectiveSeconds{
    "TIDEMARK_COLLECTIVE_SECONDS", Kind::integer, "1800",
    "How long one exchange of tensors between workers may take, waiting for the slowest included."};

// Read by the benchmarks' scripts, listed so that nobody is warned about them.
inline constexpr Setting kBenchPython{
    "TIDEMARK_BENCH_PYTHON", Kind::text, "",
    "The Python with Tidemark that the benchmarks run. Default: the one of .venv."};
inline constexpr Setting kPeerTensorFlow{
    "TIDEMARK_PEER_TF", Kind::text, "",
    "A Python with TensorFlow, to compare with in benchmarks. Default: .venv-peers/tf."};
inline constexpr Setting kPeerTorch{
    "TIDEMARK_PEER_TORCH", Kind::text, "",
    "A Python with PyTorch, to compare with in benchmarks. Default: .venv-peers/torch."};
inline constexpr Setting kPeerJax{
    "TIDEMARK_PEER_JAX", Kind::text, "",
    "A Python with JAX, to compare with in benchmarks. Default: .venv-peers/jax."};
inline constexpr Setting kPeerServe{
    "TIDEMARK_PEER_SERVE", Kind::text, "",
    "A Python with FastAPI and onnxruntime, to serve beside. Default: .venv-peers/serve."};

inline constexpr const Setting* kTable[] = {
    &kMemoryLimit,    &kRetainedLimit,   &kPoison,
    &kFailAllocation, &kNumThreads,      &kTraceCache,
    &kPlan,           &kPlanBudget,      &kPlanRepeat,
    &kPlanTime,       &kWholeGradients,  &kDump,
    &kRecord,         &kFusion,          &kIdleCode,
    &kBenchPython,    &kPeerTensorFlow,  &kPeerTorch,
    &kPeerJax,        &kPeerServe,       &kIsa,
    &kDevice,         &kEmulatedDevices, &kEmulatedMemory,
    &kEmulatedTaken,  &kEmulatedDelay,   &kEmulatedWithout,
    &kKernelCache,    &kImageRatio,      &kSecret,
    &kJoinSeconds,    &kSilenceSeconds,  &kCollectiveSeconds,
    &kGpuAttention,
};

/// All settings, for documentation.
inline std::span<const Setting* const> table() { return kTable; }

/// The value as written in the environment or, when it is not set or empty, the fallback. The
/// first read of any setting warns on the standard error about variables not in the table.
TIDEMARK_API std::string text(const Setting& setting);

/// These throw InvalidArgumentError naming variable, value and what is allowed.
TIDEMARK_API int64_t integer(const Setting& setting);
TIDEMARK_API bool flag(const Setting& setting);
/// Empty when neither variable nor fallback is given.
TIDEMARK_API std::optional<int64_t> bytes(const Setting& setting);

/// One line for each TIDEMARK_* variable that is set but not in the table, with the nearest name.
TIDEMARK_API std::string unknown_variables();

}  // namespace tidemark::settings
