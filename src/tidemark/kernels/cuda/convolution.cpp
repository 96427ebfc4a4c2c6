// What the library for convolutions does not take as it lies is copied: filters, which it wants
// with the channels that they make outermost; images that are padded more on one side than on the
// other; and everything where it has a way for channels in front alone. Copies are part of the
// workspace.

#include "tidemark/kernels/cuda/convolution.h"

#include <algorithm>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/cuda/movement.h"
#include "tidemark/kernels/cuda/stream.h"
#include "tidemark/ops/windows.h"

namespace tidemark::cuda {

namespace {

/// The shapes of a call: what it reads and what it writes, by what they are.
struct Shapes {
  Shape images, filter, result;
  DType dtype;
};

Convolution::Part part_of(const OpDef& op) {
  return op.name() == "convolution"              ? Convolution::forward
         : op.name() == "convolution_input_grad" ? Convolution::input_gradient
                                                 : Convolution::filter_gradient;
}

Shapes shapes_of(const OpCall& call, const Shape& output) {
  const auto shape = [&](size_t input) { return call.inputs[input].shape(); };
  switch (part_of(call.op)) {
    case Convolution::forward:
      return {shape(0), shape(1), output, call.inputs[0].dtype()};
    case Convolution::input_gradient:
      return {output, shape(1), shape(2), call.inputs[1].dtype()};
    default:
      return {shape(0), output, shape(2), call.inputs[0].dtype()};
  }
}

/// A dimension of a tensor as it lies here and as it lies for the library, in elements.
struct Side {
  int64_t size, here, there;
};
using Sides = std::vector<Side>;

/// In the order of where it is copied to: neighbours are written together.
CopyBox box_of(Sides sides, bool to_library) {
  const auto target = [&](const Side& s) { return to_library ? s.there : s.here; };
  std::stable_sort(sides.begin(), sides.end(),
                   [&](const Side& a, const Side& b) { return target(a) > target(b); });
  CopyBox box;
  for (const Side& s : sides) {
    box.dim(s.size, to_library ? s.there : s.here, to_library ? s.here : s.there);
  }
  return box;
}

/// Of outer sizes, three spatial ones and inner sizes, one after the other.
Sides dense_sides(const int64_t outer, const int64_t* sizes, const int64_t* there_sizes,
                  int64_t inner, bool inner_first) {
  int64_t spatial = 1, there_spatial = 1;
  for (int d = 0; d < 3; ++d) spatial *= sizes[d], there_spatial *= there_sizes[d];
  Sides sides = {{outer, spatial * inner, there_spatial * inner}};
  int64_t here = spatial * inner, there = inner_first ? there_spatial : there_spatial * inner;
  for (int d = 0; d < 3; ++d) {
    if (sizes[d] > 0) here /= sizes[d];
    if (there_sizes[d] > 0) there /= there_sizes[d];
    sides.push_back({sizes[d], here, there});
  }
  sides.push_back({inner, 1, inner_first ? there_spatial : 1});
  return sides;
}

/// A convolution as the library is asked for it, and where its parts lie in the workspace.
struct Plan {
  Convolution convolution{};
  int64_t extra[3] = {};  // zeros in front, beside what the library pads with
  bool pads = false;      // the copy of the images is larger than they are
  bool copies_images = false, copies_result = false;
  Sides images, filter, result;
  size_t filter_at = 0, images_at = 0, result_at = 0, library_at = 0, library_bytes = 0;

  size_t workspace() const { return library_at + library_bytes; }
  /// Elements in front of the images in their copy.
  int64_t images_offset() const {
    int64_t offset = 0;
    for (size_t d = 0; d < 3; ++d) offset += extra[d] * images[d + 1].there;
    return offset;
  }
};

size_t rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

/// For one of the two layouts; the library is not asked.
Plan plan_for(const OpCall& call, const Shapes& shapes, bool channels_first) {
  const auto window = shapes.filter.dims().first(static_cast<size_t>(shapes.filter.rank() - 2));
  const Windows w = read_windows(call, shapes.images, window);
  Plan plan;
  Convolution& c = plan.convolution;
  c.part = part_of(call.op);
  c.element = element_of(shapes.dtype);
  c.spatial = std::max(w.spatial, 2);
  c.channels_first = channels_first;
  c.batch = shapes.images[0];
  c.channels = shapes.images.dim(-1);
  c.made = shapes.filter.dim(-1);
  c.groups = c.channels / shapes.filter.dim(-2);
  for (int d = 0; d < 3; ++d) {
    c.padding[d] = std::min(w.before[d], w.after[d]);
    plan.extra[d] = w.before[d] - c.padding[d];
    c.in[d] = w.in[d] + plan.extra[d] + w.after[d] - c.padding[d];
    c.out[d] = w.out[d];
    c.window[d] = w.kernel[d];
    c.stride[d] = w.stride[d];
    c.dilation[d] = w.dilation[d];
    plan.pads = plan.pads || c.in[d] != w.in[d];
  }
  plan.copies_images = plan.pads || channels_first;
  plan.copies_result = channels_first;
  plan.images = dense_sides(c.batch, w.in, c.in, c.channels, channels_first);
  plan.result = dense_sides(c.batch, w.out, w.out, c.made, channels_first);
  // Here [window…, taken, made], there [made, window…, taken] or [made, taken, window…].
  const int64_t taken = c.channels / c.groups;
  plan.filter = dense_sides(1, w.kernel, w.kernel, taken, channels_first);
  for (Side& side : plan.filter) side.here *= c.made;
  plan.filter[0] = {c.made, 1, taken * c.window[0] * c.window[1] * c.window[2]};

  const size_t size = size_of(shapes.dtype);
  const auto bytes_of = [&](const Shape& shape) {
    return rounded_up(static_cast<size_t>(shape.num_elements()) * size);
  };
  plan.images_at = plan.filter_at + bytes_of(shapes.filter);
  plan.result_at = plan.images_at;
  if (plan.copies_images) {
    plan.result_at += bytes_of({c.batch, c.in[0], c.in[1], c.in[2], c.channels});
  }
  plan.library_at = plan.result_at + (plan.copies_result ? bytes_of(shapes.result) : 0);
  return plan;
}

/// Channels behind, as they lie here, where the library has a way for that.
Plan plan_of(const OpCall& call, const Shapes& shapes, Convolutions& library) {
  for (const bool channels_first : {false, true}) {
    Plan plan = plan_for(call, shapes, channels_first);
    const std::optional<size_t> bytes = library.workspace_of(plan.convolution);
    if (!bytes) continue;
    plan.library_bytes = *bytes;
    return plan;
  }
  fail<UnimplementedError>("[", call.op.name(),
                           "] the GPU's library has no way for images of shape ", shapes.images,
                           " with a filter of ", shapes.filter,
                           " that gives the same bits each time. Place it on the CPU with "
                           "tf.device(\"/CPU:0\")");
}

bool is_empty(const Shapes& shapes) {
  return shapes.images.num_elements() == 0 || shapes.filter.num_elements() == 0 ||
         shapes.result.num_elements() == 0;
}

size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
  const Shapes shapes = shapes_of(call, outputs[0]);
  if (is_empty(shapes)) return 0;
  for (const Tensor& t : call.inputs) {
    if (t.device().is_cpu()) continue;
    auto& stream = static_cast<CudaStream&>(accelerator_of(t.device()).stream());
    return plan_of(call, shapes, stream.tools().convolutions).workspace();
  }
  fail<InternalError>("[", call.op.name(), "] runs on a GPU and reads nothing there");
}

/// One run: the operands of the library, copied to it or from it.
class Run {
 public:
  Run(CudaStream& stream, const Plan& plan, DType dtype, void* workspace)
      : stream_(stream), plan_(plan), size_(size_of(dtype)), workspace_(workspace) {}

  void operator()(const void* images, const void* filter, const void* result) {
    const Convolution& c = plan_.convolution;
    const bool copies_images = plan_.copies_images, copies_result = plan_.copies_result;
    void* const their_filter = at(plan_.filter_at);
    void* const their_images = copies_images ? at(plan_.images_at) : const_cast<void*>(images);
    void* const their_result = copies_result ? at(plan_.result_at) : const_cast<void*>(result);
    void* const first_image =
        static_cast<char*>(their_images) + (copies_images ? plan_.images_offset() : 0) * ssize();
    if (c.part != Convolution::filter_gradient) {
      copy_box(stream_, size_, box_of(plan_.filter, true), filter, their_filter);
    }
    if (copies_images && c.part != Convolution::input_gradient) {
      if (plan_.pads) stream_.fill_zeros(their_images, plan_.result_at - plan_.images_at);
      copy_box(stream_, size_, box_of(plan_.images, true), images, first_image);
    }
    if (copies_result && c.part != Convolution::forward) {
      copy_box(stream_, size_, box_of(plan_.result, true), result, their_result);
    }
    stream_.tools().convolutions.convolve(
        c, {address(their_images), address(their_filter), address(their_result),
            address(at(plan_.library_at)), plan_.library_bytes, stream_.handle()});
    if (c.part == Convolution::filter_gradient) {
      copy_box(stream_, size_, box_of(plan_.filter, false), their_filter,
               const_cast<void*>(filter));
    } else if (c.part == Convolution::input_gradient && copies_images) {
      copy_box(stream_, size_, box_of(plan_.images, false), first_image, const_cast<void*>(images));
    } else if (c.part == Convolution::forward && copies_result) {
      copy_box(stream_, size_, box_of(plan_.result, false), their_result,
               const_cast<void*>(result));
    }
  }

 private:
  void* at(size_t offset) const { return static_cast<char*>(workspace_) + offset; }
  static Address address(const void* data) { return reinterpret_cast<Address>(data); }
  int64_t ssize() const { return static_cast<int64_t>(size_); }

  CudaStream& stream_;
  const Plan& plan_;
  const size_t size_;
  void* const workspace_;
};

void run(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  auto& stream = static_cast<CudaStream&>(stream_of(k));
  const Shapes shapes = shapes_of(k.call(), k.output(0).shape());
  void* out = k.out<void>(0);
  if (is_empty(shapes)) return stream.fill_zeros(out, k.output(0).nbytes());
  const Plan plan = plan_of(k.call(), shapes, stream.tools().convolutions);
  Run run(stream, plan, shapes.dtype, k.workspace());
  switch (plan.convolution.part) {
    case Convolution::forward:
      return run(k.in<void>(0), k.in<void>(1), out);
    case Convolution::input_gradient:
      return run(out, k.in<void>(1), k.in<void>(2));
    default:
      return run(k.in<void>(0), out, k.in<void>(2));
  }
}

constexpr Kernel kConvolution{run, workspace};

}  // namespace

const Kernel* find_convolution(const OpDef& op, DType key) {
  if (op.name() == "convolution" || op.name() == "convolution_filter_grad") {
    return is_floating(key) ? &kConvolution : nullptr;
  }
  // Its first input are sizes.
  return op.name() == "convolution_input_grad" ? &kConvolution : nullptr;
}

}  // namespace tidemark::cuda
