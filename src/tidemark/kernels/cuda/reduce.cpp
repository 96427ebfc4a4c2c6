#include "tidemark/kernels/cuda/reduce.h"

#include <algorithm>

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

namespace {

constexpr int64_t kPartElements = 8192;  // of a block; from here on a result is made in parts
constexpr int64_t kPartOfThread = 64;    // the same of a thread
constexpr int64_t kMostParts = 256;
constexpr int64_t kMostPartials = 1 << 16;   // of all results together
constexpr int64_t kMostOfThreads = 1 << 18;  // the same, made by a thread each
constexpr size_t kAccBytes = 24;             // no reduction takes in more
constexpr const char *kParts = "reduce", *kJoin = "join";

/// The offset of a flat index over some dimensions, as text.
std::string offset_text(const char* dims, const std::vector<int64_t>& sizes, const char* from,
                        const char* to) {
  std::string text = message("    tm::int64 ", to, " = 0, ", to, "_rest = ", from, ";\n");
  for (size_t d = sizes.size(); d-- > 0;) {
    if (d == 0) {
      text += message("    ", to, " += ", to, "_rest * a.", dims, "_strides[0];\n");
    } else {
      text += message("    ", to, " += ", to, "_rest % a.", dims, "_sizes[", d, "] * a.", dims,
                      "_strides[", d, "];\n    ", to, "_rest /= a.", dims, "_sizes[", d, "];\n");
    }
  }
  return text;
}

std::string array_text(const char* name, size_t count) {
  return count == 0 ? "" : message("  tm::int64 ", name, "[", count, "];\n");
}

std::vector<bool> reduced_flags(const OpCall& call) {
  const int rank = call.inputs[0].rank();
  const Attr& axis = call.attr("axis");
  std::vector<bool> flags(static_cast<size_t>(rank), axis.is_none());
  if (axis.is_none()) return flags;
  for (const int64_t a : axis.as_ints()) flags[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  return flags;
}

ReduceWalk walk_of(const OpCall& call) { return {call.inputs[0].shape(), reduced_flags(call)}; }

size_t workspace(const OpCall& call, std::span<const Shape>) {
  const ReduceWalk walk = walk_of(call);
  return walk.parts == 1 ? 0 : static_cast<size_t>(walk.parts * walk.kept.count) * kAccBytes;
}

void run(KernelContext& k) {
  const ReduceWalk walk = walk_of(k.call());
  if (walk.kept.count == 0) return;
  auto& stream = static_cast<CudaStream&>(stream_of(k));
  CodeCache& code = stream.tools().code;
  const DType dtype = k.input(0).dtype();
  const std::string reduction = reduction_class(k.call().op.name(), dtype);
  const bool has_parts = walk.parts > 1;
  void* partials = has_parts ? k.workspace() : k.out<void>(0);
  const auto reduce = code.get(kParts, emit_reduction(reduction, dtype, walk, kParts));
  const int64_t results = walk.kept.count * walk.parts;
  const int64_t most = 32 * stream.context().facts().processors;
  const int64_t blocks = walk.by_thread ? (results + kThreads - 1) / kThreads : results;
  std::vector<uint64_t> arguments = reduction_arguments(walk, k.in<void>(0), partials);
  stream.launch(reduce, std::min(blocks, most), kThreads, arguments.data());
  if (!has_parts) return;
  const auto join = code.get(kJoin, emit_join(reduction, dtype, kJoin));
  uint64_t joining[] = {reinterpret_cast<uint64_t>(partials),
                        reinterpret_cast<uint64_t>(k.out<void>(0)),
                        static_cast<uint64_t>(walk.kept.count), static_cast<uint64_t>(walk.parts),
                        static_cast<uint64_t>(walk.reduced.count)};
  stream.launch(join, std::min(walk.kept.count, most), kThreads, joining);
}

constexpr Kernel kReduction{run, workspace};

/// Rounds to a half type where the result is one.
std::string store_text(DType dtype, const std::string& value) {
  return message("tm::store(a.out, o, ", value, ", ", stored_type(dtype), "());");
}

}  // namespace

std::string reduction_class(std::string_view op, DType dtype) {
  if (dtype == DType::bool_) return op == "any" ? "tm::Max" : op == "all" ? "tm::Min" : "";
  if (!kReal.contains(dtype)) return {};
  if (op == "sum") return "tm::Sum";
  if (op == "mean") return is_integer(dtype) ? "tm::WholeMean" : "tm::Mean";
  if (op == "prod") return "tm::Prod";
  if (op == "max") return "tm::Max";
  if (is_floating(dtype)) {
    if (op == "euclidean_norm") return "tm::Norm";
    if (op == "logsumexp") return "tm::LogSumExp";
    if (op == "variance") return "tm::Variance";
    if (op == "std") return "tm::Deviation";
  }
  return op == "min" ? "tm::Min" : "";
}

void ReduceWalk::Dims::push(int64_t size, int64_t stride) {
  count *= size;
  if (size == 1) return;
  if (!sizes.empty() && strides.back() == size * stride) {
    sizes.back() *= size;
    strides.back() = stride;
  } else {
    sizes.push_back(size);
    strides.push_back(stride);
  }
}

ReduceWalk::ReduceWalk(const Shape& shape, const std::vector<bool>& flags) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= shape[d];
  }
  for (int d = 0; d < shape.rank(); ++d) {
    const auto at = static_cast<size_t>(d);
    (flags[at] ? reduced : kept).push(shape[d], strides[at]);
    if (shape[d] > 1) by_thread = !flags[at];
  }
  // A thread by itself waits for each element: many parts keep a GPU busy.
  const int64_t least = by_thread ? kPartOfThread : kPartElements;
  if (kept.count > 0 && reduced.count >= 2 * least) {
    parts = std::clamp((by_thread ? kMostOfThreads : kMostPartials) / kept.count, int64_t{1},
                       std::min(kMostParts, reduced.count / least));
  }
}

std::string emit_reduction(const std::string& reduction, DType dtype, const ReduceWalk& walk,
                           const std::string& name) {
  const bool has_parts = walk.parts > 1;
  std::string text = message(
      "struct ", name, "_arguments {\n  const void* in;\n  void* out;\n",
      "  tm::int64 results, parts, count;\n", array_text("kept_sizes", walk.kept.sizes.size()),
      array_text("kept_strides", walk.kept.sizes.size()),
      array_text("reduced_sizes", walk.reduced.sizes.size()),
      array_text("reduced_strides", walk.reduced.sizes.size()), "};\nextern \"C\" __global__ void ",
      name, "(const ", name, "_arguments a) {\n  typedef ", reduction, "<", computed_type(dtype),
      "> R;\n");
  if (walk.by_thread) {
    text +=
        "  const tm::int64 step = static_cast<tm::int64>(gridDim.x) * blockDim.x;\n"
        "  for (tm::int64 w = blockIdx.x * static_cast<tm::int64>(blockDim.x) + threadIdx.x;"
        " w < a.results * a.parts; w += step) {\n"
        "    const tm::int64 o = w % a.results, part = w / a.results;\n";
  } else {
    text += message("  __shared__ R::Acc lanes[", kThreads,
                    "];\n  for (tm::int64 w = blockIdx.x; w < a.results * a.parts; w += gridDim.x) "
                    "{\n    const tm::int64 o = w / a.parts, part = w % a.parts;\n");
  }
  text += offset_text("kept", walk.kept.sizes, "o", "base");
  text +=
      "    R::Acc s = R::start();\n"
      "    const tm::int64 first = a.count * part / a.parts;\n"
      "    const tm::int64 last = a.count * (part + 1) / a.parts;\n";
  // Elements are asked for before the first one is added.
  text += walk.by_thread
              ? "#pragma unroll 8\n    for (tm::int64 c = first; c < last; ++c) {\n"
              : "    for (tm::int64 c = first + threadIdx.x; c < last; c += blockDim.x) {\n";
  text += offset_text("reduced", walk.reduced.sizes, "c", "at");
  text += message("    s = R::join(s, R::taken(tm::load(a.in, base + at, ", stored_type(dtype),
                  "())));\n    }\n");
  if (!walk.by_thread) {
    text += "    s = tm::joined<R>(s, lanes);\n    if (threadIdx.x == 0)\n";
  }
  if (has_parts) {
    text += "    static_cast<R::Acc*>(a.out)[o * a.parts + part] = s;\n";
  } else {
    text += "    " + store_text(dtype, "R::finish(s, a.count)") + "\n";
  }
  return text + "  }\n}\n";
}

std::string emit_join(const std::string& reduction, DType dtype, const std::string& name) {
  return message("struct ", name,
                 "_arguments {\n  const void* in;\n  void* out;\n"
                 "  tm::int64 results, parts, count;\n};\nextern \"C\" __global__ void ",
                 name, "(const ", name, "_arguments a) {\n  typedef ", reduction, "<",
                 computed_type(dtype), "> R;\n  __shared__ R::Acc lanes[", kThreads,
                 "];\n  for (tm::int64 o = blockIdx.x; o < a.results; o += gridDim.x) {\n"
                 "    R::Acc s = R::start();\n"
                 "    for (tm::int64 p = threadIdx.x; p < a.parts; p += blockDim.x) {\n"
                 "      s = R::join(s, static_cast<const R::Acc*>(a.in)[o * a.parts + p]);\n"
                 "    }\n    s = tm::joined<R>(s, lanes);\n    if (threadIdx.x == 0)\n    ",
                 store_text(dtype, "R::finish(s, a.count)"), "\n  }\n}\n");
}

std::vector<uint64_t> reduction_arguments(const ReduceWalk& walk, const void* in, void* out) {
  std::vector<uint64_t> words = {reinterpret_cast<uint64_t>(in), reinterpret_cast<uint64_t>(out),
                                 static_cast<uint64_t>(walk.kept.count),
                                 static_cast<uint64_t>(walk.parts),
                                 static_cast<uint64_t>(walk.reduced.count)};
  for (const auto* numbers :
       {&walk.kept.sizes, &walk.kept.strides, &walk.reduced.sizes, &walk.reduced.strides}) {
    for (const int64_t n : *numbers) words.push_back(static_cast<uint64_t>(n));
  }
  return words;
}

const Kernel* find_reduction(const OpDef& op, DType key) {
  if (op.reduction_kind() == ReductionKind::none) return nullptr;
  return reduction_class(op.name(), key).empty() ? nullptr : &kReduction;
}

}  // namespace tidemark::cuda
