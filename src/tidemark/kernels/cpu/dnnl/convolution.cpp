// Convolutions by oneDNN, each run on the calling thread alone: our own pool divides the work.

#include "tidemark/kernels/cpu/dnnl/primitive.h"

namespace tidemark_dnnl {

namespace {

constexpr int32_t kTurned = 3;

/// Two dimensions where they are enough.
int spatial_of(const TidemarkDnnlConvolution& c) {
  return c.in[0] == 1 && c.out[0] == 1 && c.kernel[0] == 1 ? 2 : 3;
}

bool describe_images(const TidemarkDnnlConvolution& c, const int64_t* sizes, int64_t channels,
                     dnnl_memory_desc_t& out) {
  const int spatial = spatial_of(c), first = 3 - spatial;
  dnnl_dims_t dims = {c.batch, channels}, strides = {0, 1};
  int64_t stride = channels;
  for (int d = 2; d >= first; --d) {
    dims[2 + d - first] = sizes[d];
    strides[2 + d - first] = stride;
    stride *= sizes[d];
  }
  strides[0] = stride;
  return dnnl_memory_desc_init_by_strides(&out, 2 + spatial, dims,
                                          c.is_bfloat16 ? dnnl_bf16 : dnnl_f32,
                                          strides) == dnnl_success;
}

/// The filter as it lies outside, and one whose layout oneDNN may choose.
bool describe_filter(const TidemarkDnnlConvolution& c, dnnl_memory_desc_t& plain,
                     dnnl_memory_desc_t& any) {
  const int spatial = spatial_of(c), first = 3 - spatial;
  const int lead = c.groups > 1 ? 1 : 0, rank = lead + 2 + spatial;
  const int64_t made = c.out_channels / c.groups, taken = c.in_channels / c.groups;
  const int makes = lead + (c.kind == kTurned ? 1 : 0), takes = 2 * lead + 1 - makes;
  dnnl_dims_t dims = {c.groups}, strides = {made};
  dims[makes] = made;
  strides[makes] = 1;
  dims[takes] = taken;
  strides[takes] = c.out_channels;
  int64_t stride = taken * c.out_channels;
  for (int d = 2; d >= first; --d) {
    dims[lead + 2 + d - first] = c.kernel[d];
    strides[lead + 2 + d - first] = stride;
    stride *= c.kernel[d];
  }
  const dnnl_data_type_t type = c.is_bfloat16 && c.kind != 2 ? dnnl_bf16 : dnnl_f32;
  return dnnl_memory_desc_init_by_strides(&plain, rank, dims, type, strides) == dnnl_success &&
         dnnl_memory_desc_init_by_tag(&any, rank, dims, type, dnnl_format_tag_any) == dnnl_success;
}

struct Sizes {
  dnnl_dims_t stride, dilation, before, after;
  explicit Sizes(const TidemarkDnnlConvolution& c) {
    const int first = 3 - spatial_of(c);
    for (int d = first; d < 3; ++d) {
      stride[d - first] = c.stride[d];
      dilation[d - first] = c.dilation[d] - 1;
      const int64_t reach = (c.kernel[d] - 1) * c.dilation[d];
      before[d - first] = c.kind == kTurned ? reach - c.before[d] : c.before[d];
      after[d - first] = c.kind == kTurned ? reach - c.after[d] : c.after[d];
    }
  }
};

Description describe_convolution(const TidemarkDnnlConvolution& c, const dnnl_memory_desc_t& in,
                                 const dnnl_memory_desc_t& filter, const dnnl_memory_desc_t& out) {
  const Sizes s(c);
  dnnl_convolution_desc_t operation;
  if (dnnl_dilated_convolution_forward_desc_init(
          &operation, dnnl_forward_training, dnnl_convolution_direct,
          c.kind == kTurned ? &out : &in, &filter, nullptr, c.kind == kTurned ? &in : &out,
          s.stride, s.dilation, s.before, s.after) != dnnl_success) {
    return nullptr;
  }
  Description forward = describe_operation(&operation);
  if (c.kind == 0 || c.kind == kTurned || !forward) return forward;
  const dnnl_status_t status = c.kind == 1
                                   ? dnnl_dilated_convolution_backward_data_desc_init(
                                         &operation, dnnl_convolution_direct, &in, &filter, &out,
                                         s.stride, s.dilation, s.before, s.after)
                                   : dnnl_dilated_convolution_backward_weights_desc_init(
                                         &operation, dnnl_convolution_direct, &in, &filter, nullptr,
                                         &out, s.stride, s.dilation, s.before, s.after);
  return status == dnnl_success ? describe_operation(&operation, forward.get()) : nullptr;
}

Primitive make_conversion(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  dnnl_primitive_desc_t raw_description = nullptr;
  if (dnnl_reorder_primitive_desc_create(&raw_description, &from, engine(), &to, engine(),
                                         nullptr) != dnnl_success) {
    return nullptr;
  }
  const Description description(raw_description);
  dnnl_primitive_t raw = nullptr;
  if (dnnl_primitive_create(&raw, description.get()) != dnnl_success) return nullptr;
  return Primitive(raw);
}

/// All sizes and counts that oneDNN may make of them are factors of these.
bool can_count(const TidemarkDnnlConvolution& c) {
  const auto fits = [&](const int64_t* image, int64_t channels) {
    int64_t elements = c.batch;
    for (const int64_t factor : {image[0], image[1], image[2], channels}) {
      if (__builtin_mul_overflow(elements, factor, &elements)) return false;
    }
    return elements <= kMostCounted;
  };
  return fits(c.in, c.in_channels) && fits(c.out, c.out_channels);
}

std::unique_ptr<TidemarkDnnlPrimitive> create(const TidemarkDnnlConvolution& c,
                                              const TidemarkDnnlPrimitive* like) {
  auto made = std::make_unique<TidemarkDnnlPrimitive>();
  dnnl_memory_desc_t filter;
  if (!can_count(c) || !engine() ||
      !describe_images(c, c.in, c.in_channels, made->descriptions[0]) ||
      !describe_images(c, c.out, c.out_channels, made->descriptions[2]) ||
      !describe_filter(c, made->plain_filter, filter)) {
    return nullptr;
  }
  if (like) filter = like->descriptions[1];
  const Description description =
      describe_convolution(c, made->descriptions[0], filter, made->descriptions[2]);
  if (!description || !is_fast(description.get())) return nullptr;
  const dnnl_query_t which = c.kind == 2 ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
  made->descriptions[1] = *dnnl_primitive_desc_query_md(description.get(), which, 0);
  constexpr int kNames[4][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                                {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
                                {DNNL_ARG_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_SRC}};
  for (int i = 0; i < 3; ++i) made->names[i] = kNames[c.kind][i];
  if (!finish(*made, description.get())) return nullptr;
  TidemarkDnnlLayout layout;
  if (like || filter_layout(made.get(), &layout) == 0) return made;
  made->conversion = c.kind == 2 ? make_conversion(made->descriptions[1], made->plain_filter)
                                 : make_conversion(made->plain_filter, made->descriptions[1]);
  if (!made->conversion) return nullptr;
  return made;
}

Memory make_memory(const dnnl_memory_desc_t& description, void* data) {
  dnnl_memory_t raw = nullptr;
  dnnl_memory_create(&raw, &description, engine(), data);
  return Memory(raw);
}

}  // namespace

TidemarkDnnlPrimitive* create_convolution(const TidemarkDnnlConvolution* convolution,
                                          const TidemarkDnnlPrimitive* like) {
  const OneThread scope;
  return create(*convolution, like).release();
}

size_t filter_bytes(const TidemarkDnnlPrimitive* convolution) {
  return dnnl_memory_desc_get_size(&convolution->descriptions[1]);
}

int filter_layout(const TidemarkDnnlPrimitive* convolution, TidemarkDnnlLayout* layout) {
  const dnnl_memory_desc_t &to = convolution->descriptions[1], &plain = convolution->plain_filter;
  const dnnl_blocking_desc_t& blocking = to.format_desc.blocking;
  if (to.format_kind != dnnl_blocked || to.extra.flags != 0 || to.offset0 != 0 ||
      to.data_type != plain.data_type || to.ndims > 6 || blocking.inner_nblks > 4) {
    return -1;
  }
  *layout = {};
  layout->rank = to.ndims;
  layout->blocks = blocking.inner_nblks;
  for (int d = 0; d < to.ndims; ++d) {
    if (to.padded_dims[d] != to.dims[d]) return -1;
    layout->sizes[d] = to.dims[d];
    layout->strides[d] = blocking.strides[d];
    layout->plain_strides[d] = plain.format_desc.blocking.strides[d];
  }
  for (int b = 0; b < blocking.inner_nblks; ++b) {
    layout->block_sizes[b] = blocking.inner_blks[b];
    layout->block_dimensions[b] = static_cast<int32_t>(blocking.inner_idxs[b]);
  }
  return 0;
}

int convert_filter(TidemarkDnnlPrimitive* p, const void* from, void* to) {
  const OneThread scope;
  const bool out = p->names[1] == DNNL_ARG_DIFF_WEIGHTS;
  const Memory source =
      make_memory(out ? p->descriptions[1] : p->plain_filter, const_cast<void*>(from));
  const Memory target = make_memory(out ? p->plain_filter : p->descriptions[1], to);
  dnnl_stream_t raw = nullptr;
  if (!source || !target ||
      dnnl_stream_create(&raw, engine(), dnnl_stream_default_flags) != dnnl_success) {
    return -1;
  }
  const Stream stream(raw);
  const dnnl_exec_arg_t list[2] = {{DNNL_ARG_FROM, source.get()}, {DNNL_ARG_TO, target.get()}};
  return dnnl_primitive_execute(p->conversion.get(), stream.get(), 2, list);
}

}  // namespace tidemark_dnnl
