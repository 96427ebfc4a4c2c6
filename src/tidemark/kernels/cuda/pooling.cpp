#include "tidemark/kernels/cuda/pooling.h"

#include <algorithm>
#include <limits>

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kName = "pool";

/// In front of every pooling; Index, T (stored) and A (computed) are defined before it.
constexpr const char* kWindows = R"(
struct pool_arguments {
  const void* in[3];
  void* out[2];
  tm::int64 count, channels, image;
  tm::int64 sizes[3], windows[3], kernel[3], stride[3], dilation[3], before[3];
};
struct Range {  // of the positions of a window that lie inside the image
  Index first, begin, end;
  Range(const pool_arguments& a, int d, Index at) {
    const Index dilation = a.dilation[d];
    first = at * Index(a.stride[d]) - Index(a.before[d]);
    begin = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
    const Index room = Index(a.sizes[d]) - first;
    end = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    if (end > Index(a.kernel[d])) end = Index(a.kernel[d]);
    if (end < begin) end = begin;
  }
  Index count() const { return end - begin; }
};
struct Position {  // an element of [image, three sizes, channels]
  Index image, at[3], channel;
  Position(const tm::int64* sizes, tm::int64 channels, Index i) {
    channel = i % Index(channels);
    i /= Index(channels);
    for (int d = 3; d-- > 0;) {
      at[d] = i % Index(sizes[d]);
      i /= Index(sizes[d]);
    }
    image = i;
  }
};
inline Index element(const tm::int64* sizes, tm::int64 channels, Index image, Index x, Index y,
                     Index z, Index channel) {
  const Index row = (image * Index(sizes[0]) + x) * Index(sizes[1]) + y;
  return (row * Index(sizes[2]) + z) * Index(channels) + channel;
}
struct Window {
  const pool_arguments& a;
  const Position p;
  const Range x, y, z;
  Window(const pool_arguments& arguments, const Position& place)
      : a(arguments), p(place), x(a, 0, p.at[0]), y(a, 1, p.at[1]), z(a, 2, p.at[2]) {}
  Index count() const { return x.count() * y.count() * z.count(); }
  Index at(Index i, Index j, Index k) const {
    return element(a.sizes, a.channels, p.image, x.first + i * Index(a.dilation[0]),
                   y.first + j * Index(a.dilation[1]), z.first + k * Index(a.dilation[2]),
                   p.channel);
  }
  // Of the first element that is the greatest one, or no number; -1: there is none.
  Index greatest(A value) const {
    for (Index i = x.begin; i < x.end; ++i) {
      for (Index j = y.begin; j < y.end; ++j) {
        for (Index k = z.begin; k < z.end; ++k) {
          const A v = tm::load(a.in[0], at(i, j, k), T());
          if (v == value || v != v) return at(i, j, k);
        }
      }
    }
    return -1;
  }
};
)";

/// For each window: over its elements.
constexpr const char* kForWindow = R"(
    const Window w(a, Position(a.windows, a.channels, e));
    for (Index i = w.x.begin; i < w.x.end; ++i) {
      for (Index j = w.y.begin; j < w.y.end; ++j) {
        for (Index k = w.z.begin; k < w.z.end; ++k) {
          const A v = tm::load(a.in[0], w.at(i, j, k), T());
          BODY
        }
      }
    }
)";

/// For each element: over the windows that it is part of, in their order.
constexpr const char* kForElement = R"(
    const Position p(a.sizes, a.channels, e);
    for (Index i = a.kernel[0]; i-- > 0;) {
      const Index u = p.at[0] + Index(a.before[0]) - i * Index(a.dilation[0]);
      if (u < 0 || u % Index(a.stride[0]) != 0 || u / Index(a.stride[0]) >= Index(a.windows[0])) {
        continue;
      }
      for (Index j = a.kernel[1]; j-- > 0;) {
        const Index v = p.at[1] + Index(a.before[1]) - j * Index(a.dilation[1]);
        if (v < 0 || v % Index(a.stride[1]) != 0 || v / Index(a.stride[1]) >= Index(a.windows[1])) {
          continue;
        }
        for (Index k = a.kernel[2]; k-- > 0;) {
          const Index t = p.at[2] + Index(a.before[2]) - k * Index(a.dilation[2]);
          if (t < 0 || t % Index(a.stride[2]) != 0 ||
              t / Index(a.stride[2]) >= Index(a.windows[2])) {
            continue;
          }
          const Index from =
              element(a.windows, a.channels, p.image, u / Index(a.stride[0]),
                      v / Index(a.stride[1]), t / Index(a.stride[2]), p.channel);
          BODY
        }
      }
    }
)";

/// For each cell: the elements from one window's place to the next one's. Windows that are apart
/// lie each inside of its cell, so a thread has read all that it writes over, and nobody else does.
constexpr const char* kForCell = R"(
    tm::int64 cells[3];
    for (int d = 0; d < 3; ++d) cells[d] = (a.sizes[d] - 1 + a.before[d]) / a.stride[d] + 1;
    const Position p(cells, a.channels, e);
    Index begin[3], end[3], found = -1;
    bool has_window = true;
    for (int d = 0; d < 3; ++d) {
      begin[d] = p.at[d] * Index(a.stride[d]) - Index(a.before[d]);
      end[d] = begin[d] + Index(a.stride[d]);
      if (begin[d] < 0) begin[d] = 0;
      if (end[d] > Index(a.sizes[d])) end[d] = Index(a.sizes[d]);
      has_window = has_window && p.at[d] < Index(a.windows[d]);
    }
    A g = 0;
    if (has_window) {
      const Index from = element(a.windows, a.channels, p.image, p.at[0], p.at[1], p.at[2],
                                 p.channel);
      found = Window(a, p).greatest(tm::load(a.in[1], from, T()));
      g += tm::load(a.in[2], from, T());
    }
    for (Index i = begin[0]; i < end[0]; ++i) {
      for (Index j = begin[1]; j < end[1]; ++j) {
        for (Index k = begin[2]; k < end[2]; ++k) {
          const Index at = element(a.sizes, a.channels, p.image, i, j, k, p.channel);
          tm::store(a.out[0], at, at == found ? g : A(0), T());
        }
      }
    }
)";

std::string with_body(std::string text, const std::string& body) {
  return text.replace(text.find("BODY"), 4, body);
}

/// What makes the element numbered `e` of the result.
std::string body_of(Pooling what, DType dtype) {
  const std::string sum = fusion::is_half(dtype) ? "tm::rounded<T>(acc + g)" : "acc + g";
  switch (what) {
    case Pooling::max:
    case Pooling::max_with_place: {
      std::string text = "    A acc = tm::Max<A>::start();\n" +
                         with_body(kForWindow, "if (v > acc || v != v) acc = v;") +
                         "    tm::store(a.out[0], e, acc, T());\n";
      if (what == Pooling::max) return text;
      return text +
             "    const Index found = w.greatest(acc);\n"
             "    const Index image = Index(a.sizes[0] * a.sizes[1] * a.sizes[2] * a.channels);\n"
             "    static_cast<tm::int64*>(a.out[1])[e] =\n"
             "        found < 0 ? 0 : found % image + w.p.image * a.image;\n";
    }
    case Pooling::mean:
      return "    A acc = 0;\n" + with_body(kForWindow, "acc += v;") +
             "    const Index n = w.count();\n"
             "    tm::store(a.out[0], e, acc * (A(1) / static_cast<A>(n > 0 ? n : 1)), T());\n";
    case Pooling::max_gradient:
      return "    A acc = 0;\n    const A own = tm::load(a.in[0], e, T());\n" +
             with_body(kForElement,
                       "const A y = tm::load(a.in[1], from, T());\n"
                       "          if (own != y && own == own) continue;\n"
                       "          const Window w(a, Position(a.windows, a.channels, from));\n"
                       "          if (w.greatest(y) != e) continue;\n"
                       "          const A g = tm::load(a.in[2], from, T());\n"
                       "          acc = " +
                           sum + ";") +
             "    tm::store(a.out[0], e, acc, T());\n";
    case Pooling::max_gradient_apart:
      return kForCell;
    case Pooling::max_take:
      return "    const Window w(a, Position(a.windows, a.channels, e));\n"
             "    const Index found = w.greatest(tm::load(a.in[1], e, T()));\n"
             "    tm::store(a.out[0], e, found < 0 ? A(0) : A(tm::load(a.in[2], found, T())), "
             "T());\n";
    default:
      return "    A acc = 0;\n" +
             with_body(kForElement,
                       "const Window w(a, Position(a.windows, a.channels, from));\n"
                       "          if (w.count() == 0) continue;\n"
                       "          acc += tm::load(a.in[0], from, T()) * (A(1) / "
                       "static_cast<A>(w.count()));") +
             "    tm::store(a.out[0], e, acc, T());\n";
  }
}

/// Threads that share the work: one a cell where windows are apart, else one an element.
int64_t thread_count(Pooling what, const Windows& w, const Tensor& result) {
  if (what != Pooling::max_gradient_apart) return result.num_elements();
  int64_t cells = result.shape()[0] * result.shape().dim(-1);
  for (int d = 0; d < 3; ++d) cells *= (w.in[d] - 1 + w.before[d]) / w.stride[d] + 1;
  return cells;
}

template <Pooling kWhat>
void run(KernelContext& k) {
  const Tensor& result = k.output(0);
  if (result.num_elements() == 0) return;
  constexpr bool kSizesFirst = kWhat == Pooling::mean_gradient;
  const Shape& images = kSizesFirst ? result.shape() : k.input(0).shape();
  auto& stream = static_cast<CudaStream&>(stream_of(k));
  const Windows w = read_windows(k.call(), images, k.attr("ksize").as_ints());
  std::vector<const void*> in;
  std::vector<void*> out;
  int64_t most = result.num_elements();
  for (int i = kSizesFirst; i < k.num_inputs(); ++i) {
    in.push_back(k.in<void>(i));
    most = std::max(most, k.input(i).num_elements());
  }
  for (int i = 0; i < k.num_outputs(); ++i) out.push_back(k.out<void>(i));
  int64_t image = 0;
  if constexpr (kWhat == Pooling::max_with_place) {
    if (k.attr("include_batch_in_index").as_bool()) image = images.num_elements() / images[0];
  }
  const bool is_small = most <= std::numeric_limits<int32_t>::max() / 2;
  const bool by_cell = kWhat == Pooling::max_gradient && are_apart(w);
  const Pooling what = by_cell ? Pooling::max_gradient_apart : kWhat;
  const auto code =
      stream.tools().code.get(kName, emit_pooling(what, result.dtype(), is_small, kName));
  const int64_t count = thread_count(what, w, result);
  std::vector<uint64_t> arguments = pooling_arguments(w, images.dim(-1), count, image, in, out);
  const int64_t blocks = (count + kThreads - 1) / kThreads;
  stream.launch(code, std::min<int64_t>(blocks, 32 * stream.context().facts().processors), kThreads,
                arguments.data());
}

struct Entry {
  const char* op;
  Kernel kernel;
  DTypeSet keys;
};
constexpr DTypeSet kPooled = kFloats | dtype_set(DType::int32, DType::int64);
constexpr Entry kPoolings[] = {
    {"max_pool", {run<Pooling::max>}, kPooled},
    {"max_pool_with_argmax", {run<Pooling::max_with_place>}, kPooled},
    {"max_pool_grad", {run<Pooling::max_gradient>}, kPooled},
    {"max_pool_take", {run<Pooling::max_take>}, kPooled},
    {"avg_pool", {run<Pooling::mean>}, kFloats},
    {"avg_pool_grad", {run<Pooling::mean_gradient>}, kIndex},  // its first input are sizes
};

}  // namespace

std::string emit_pooling(Pooling what, DType dtype, bool is_small, const std::string& name) {
  return message("namespace {\ntypedef tm::", is_small ? "int32" : "int64", " Index;\ntypedef ",
                 stored_type(dtype), " T;\ntypedef ", computed_type(dtype), " A;\n", kWindows,
                 "}\nextern \"C\" __global__ void ", name,
                 "(const pool_arguments a) {\n"
                 "  const tm::int64 step = static_cast<tm::int64>(gridDim.x) * blockDim.x;\n"
                 "  for (tm::int64 at = blockIdx.x * static_cast<tm::int64>(blockDim.x) + "
                 "threadIdx.x; at < a.count; at += step) {\n    const Index e = at;\n",
                 body_of(what, dtype), "  }\n}\n");
}

std::vector<uint64_t> pooling_arguments(const Windows& w, int64_t channels, int64_t count,
                                        int64_t image, std::vector<const void*> inputs,
                                        std::vector<void*> outputs) {
  inputs.resize(3);
  outputs.resize(2);
  std::vector<uint64_t> words;
  for (const void* input : inputs) words.push_back(reinterpret_cast<uint64_t>(input));
  for (void* output : outputs) words.push_back(reinterpret_cast<uint64_t>(output));
  for (const int64_t n : {count, channels, image}) words.push_back(static_cast<uint64_t>(n));
  for (const int64_t* sizes : {w.in, w.out, w.kernel, w.stride, w.dilation, w.before}) {
    for (int d = 0; d < 3; ++d) words.push_back(static_cast<uint64_t>(sizes[d]));
  }
  return words;
}

const Kernel* find_pooling(const OpDef& op, DType key) {
  for (const Entry& one : kPoolings) {
    if (op.name() == one.op) return one.keys.contains(key) ? &one.kernel : nullptr;
  }
  return nullptr;
}

}  // namespace tidemark::cuda
