#include "tidemark/kernels/cuda/movement.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kName = "copy";

const void* moved(const void* data, int64_t elements, size_t size) {
  return static_cast<const char*>(data) + elements * static_cast<int64_t>(size);
}
void* moved(void* data, int64_t elements, size_t size) {
  return static_cast<char*>(data) + elements * static_cast<int64_t>(size);
}

void copy_input(KernelContext& k, int input, const CopyBox& box) {
  copy_box(cuda_stream_of(k), size_of(k.output(0).dtype()), box, k.in<void>(input), k.out<void>(0));
}

void run_fill(KernelContext& k) {
  copy_input(k, 1, box_of_broadcast(k.input(1).shape(), k.output(0).shape()));
}
void run_broadcast(KernelContext& k) {
  copy_input(k, 0, box_of_broadcast(k.input(0).shape(), k.output(0).shape()));
}
void run_zeros(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  cuda_stream_of(k).fill_zeros(k.out<void>(0), k.output(0).nbytes());
}

void run_transpose(KernelContext& k) {
  const int rank = k.input(0).rank();
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (const Attr& given = k.attr("perm"); !given.is_none()) {
    perm = {given.as_ints().begin(), given.as_ints().end()};
    for (int64_t& p : perm) p += p < 0 ? rank : 0;
  }
  copy_input(k, 0, box_of_transpose(k.input(0).shape(), perm));
}

void run_tile(KernelContext& k) {
  copy_input(k, 0, box_of_tile(k.input(0).shape(), k.output(0).shape()));
}

void run_slice(KernelContext& k) {
  const Shape &whole = k.input(0).shape(), &part = k.output(0).shape();
  const std::vector<int64_t> steps = dense_steps(whole);
  int64_t first = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    first += movement::int_at(k.input(1), d) * steps[static_cast<size_t>(d)];
  }
  const size_t size = size_of(k.output(0).dtype());
  copy_box(cuda_stream_of(k), size, box_of_part(whole, part, false),
           moved(k.in<void>(0), first, size), k.out<void>(0));
}

/// Inputs side by side along an axis of the output; `is_new`: each is one index of it.
void join(KernelContext& k, bool is_new) {
  const Shape& whole = k.output(0).shape();
  int64_t axis = k.attr("axis").as_int();
  if (axis < 0) axis += whole.rank();
  const int64_t step = dense_steps(whole)[static_cast<size_t>(axis)];
  const size_t size = size_of(k.output(0).dtype());
  int64_t first = 0;
  for (int i = 0; i < k.num_inputs(); ++i) {
    Shape part = whole;
    part[static_cast<int>(axis)] = is_new ? 1 : k.input(i).shape()[static_cast<int>(axis)];
    copy_box(cuda_stream_of(k), size, box_of_part(whole, part, true), k.in<void>(i),
             moved(k.out<void>(0), first * step, size));
    first += part[static_cast<int>(axis)];
  }
}
void run_concat(KernelContext& k) { join(k, false); }
void run_stack(KernelContext& k) { join(k, true); }

struct Movement {
  const char* op;
  Kernel kernel;
  DTypeSet keys;
};
constexpr Movement kMovements[] = {
    {"fill", {run_fill}, kPlain},
    {"broadcast_to", {run_broadcast}, kPlain},
    {"zeros_like", {run_zeros}, kPlain},
    {"tile", {run_tile}, kPlain},
    {"slice", {run_slice}, kPlain},
    {"concat", {run_concat}, kPlain},
    {"stack", {run_stack}, kPlain},
    {"transpose", {run_transpose}, kReal | kBool},  // complex numbers may have to be conjugated
};

}  // namespace

std::vector<int64_t> dense_steps(const Shape& shape) {
  std::vector<int64_t> steps(static_cast<size_t>(shape.rank()));
  int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    steps[static_cast<size_t>(d)] = step;
    step *= shape[d];
  }
  return steps;
}

void copy_box(CudaStream& stream, size_t element, const CopyBox& given, const void* from,
              void* to) {
  if (given.count == 0) return;
  const CopyBox box = widened(given, element, from, to);
  const bool is_small = box.count <= std::numeric_limits<int32_t>::max();
  const auto code =
      stream.tools().code.get(kName, emit_copy(element, box.sizes.size(), is_small, kName));
  std::vector<uint64_t> arguments = copy_arguments(box, from, to);
  const int64_t most = 32 * stream.context().facts().processors;
  stream.launch(code, std::min((box.count + kThreads - 1) / kThreads, most), kThreads,
                arguments.data());
}

void CopyBox::dim(int64_t size, int64_t to_step, int64_t from_step) {
  count *= size;
  if (size == 1) return;
  if (!sizes.empty() && to_steps.back() == size * to_step &&
      from_steps.back() == size * from_step) {
    sizes.back() *= size;
    to_steps.back() = to_step;
    from_steps.back() = from_step;
    return;
  }
  sizes.push_back(size);
  to_steps.push_back(to_step);
  from_steps.push_back(from_step);
}

CopyBox box_of_broadcast(const Shape& in, const Shape& out) {
  const std::vector<int64_t> to = dense_steps(out), from = dense_steps(in);
  CopyBox box;
  for (int d = 0; d < out.rank(); ++d) {
    const int source = d - (out.rank() - in.rank());
    const bool repeats = source < 0 || in[source] == 1;
    box.dim(out[d], to[static_cast<size_t>(d)], repeats ? 0 : from[static_cast<size_t>(source)]);
  }
  return box;
}

CopyBox box_of_transpose(const Shape& in, const std::vector<int64_t>& perm) {
  const std::vector<int64_t> from = dense_steps(in);
  int64_t to_step = in.num_elements();
  CopyBox box;
  for (const int64_t p : perm) {
    const int64_t size = in[static_cast<int>(p)];
    if (size > 0) to_step /= size;
    box.dim(size, to_step, from[static_cast<size_t>(p)]);
  }
  return box;
}

CopyBox box_of_tile(const Shape& in, const Shape& out) {
  const std::vector<int64_t> to = dense_steps(out), from = dense_steps(in);
  CopyBox box;
  for (int d = 0; d < in.rank(); ++d) {
    const auto at = static_cast<size_t>(d);
    const int64_t times = in[d] == 0 ? 0 : out[d] / in[d];
    box.dim(times, in[d] * to[at], 0);
    box.dim(in[d], to[at], from[at]);
  }
  return box;
}

CopyBox box_of_part(const Shape& whole, const Shape& part, bool is_target_whole) {
  const std::vector<int64_t> in_whole = dense_steps(whole), in_part = dense_steps(part);
  CopyBox box;
  for (int d = 0; d < whole.rank(); ++d) {
    const auto at = static_cast<size_t>(d);
    box.dim(part[d], is_target_whole ? in_whole[at] : in_part[at],
            is_target_whole ? in_part[at] : in_whole[at]);
  }
  return box;
}

CopyBox widened(CopyBox box, size_t& element_bytes, const void* from, const void* to) {
  constexpr size_t kWidest = 16;
  if (box.sizes.empty() || box.to_steps.back() != 1 || box.from_steps.back() != 1) return box;
  const auto fits = [&](size_t factor) {
    const auto f = static_cast<int64_t>(factor);
    const auto is_multiple = [&](int64_t step) { return step % f == 0; };
    const uintptr_t begins = reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to);
    return begins % (element_bytes * factor) == 0 && box.sizes.back() % f == 0 &&
           std::all_of(box.to_steps.begin(), box.to_steps.end() - 1, is_multiple) &&
           std::all_of(box.from_steps.begin(), box.from_steps.end() - 1, is_multiple);
  };
  size_t factor = std::max<size_t>(kWidest / element_bytes, 1);
  while (factor > 1 && !fits(factor)) factor /= 2;
  const auto f = static_cast<int64_t>(factor);
  element_bytes *= factor;
  box.count /= f;
  box.sizes.back() /= f;
  for (auto* steps : {&box.to_steps, &box.from_steps}) {
    for (size_t d = 0; d + 1 < steps->size(); ++d) (*steps)[d] /= f;
  }
  return box;
}

std::string emit_copy(size_t element_bytes, size_t dims, bool is_small, const std::string& name) {
  const char* place = is_small ? "tm::uint32" : "tm::int64";
  const std::string type =
      element_bytes == 16 ? "tm::Pack<tm::uint64, 2>" : bits_type(element_bytes);
  std::string text = message("struct ", name, "_arguments {\n  const void* from;\n  void* to;\n",
                             "  tm::int64 count;\n");
  if (dims > 0) {
    text +=
        message("  tm::int64 sizes[", dims, "], to_steps[", dims, "], from_steps[", dims, "];\n");
  }
  text += message("};\nextern \"C\" __global__ void ", name, "(const ", name,
                  "_arguments a) {\n"
                  "  const tm::int64 step = static_cast<tm::int64>(gridDim.x) * blockDim.x;\n"
                  "  for (tm::int64 i = blockIdx.x * static_cast<tm::int64>(blockDim.x) + "
                  "threadIdx.x; i < a.count; i += step) {\n"
                  "    tm::int64 to = 0, from = 0;\n    ",
                  place, " rest = static_cast<", place, ">(i);\n");
  for (size_t d = dims; d-- > 0;) {
    const std::string size = message("static_cast<", place, ">(a.sizes[", d, "])");
    const std::string index = d == 0 ? "rest" : message("rest % ", size);
    text +=
        message("    const tm::int64 i", d, " = static_cast<tm::int64>(", index, ");\n    to += i",
                d, " * a.to_steps[", d, "];\n    from += i", d, " * a.from_steps[", d, "];\n");
    if (d > 0) text += message("    rest /= ", size, ";\n");
  }
  return text + message("    static_cast<", type, "*>(a.to)[to] = static_cast<const ", type,
                        "*>(a.from)[from];\n  }\n}\n");
}

std::vector<uint64_t> copy_arguments(const CopyBox& box, const void* from, void* to) {
  std::vector<uint64_t> words = {reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(to),
                                 static_cast<uint64_t>(box.count)};
  for (const auto* numbers : {&box.sizes, &box.to_steps, &box.from_steps}) {
    for (const int64_t n : *numbers) words.push_back(static_cast<uint64_t>(n));
  }
  return words;
}

const Kernel* find_movement(const OpDef& op, DType key) {
  for (const Movement& one : kMovements) {
    if (op.name() == one.op) return one.keys.contains(key) ? &one.kernel : nullptr;
  }
  return nullptr;
}

}  // namespace tidemark::cuda
