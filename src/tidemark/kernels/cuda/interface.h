// Where libtidemark.so and libtidemark_cuda.so meet: plain functions, nothing else. The second is
// opened with dlopen when a GPU is asked for, and opens CUDA's libraries when they are first
// needed. A test fills the same tables with a driver of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::cuda {

/// Of a CUDA object: a context, a stream, pages, a module. 0: none.
using Handle = uint64_t;
/// Of bytes on the device. Never a pointer of the host's.
using Address = uint64_t;

/// What the driver answers, as it numbers it; all others are errors.
inline constexpr int kDone = 0, kOutOfMemory = 2, kNotReady = 600;

struct DeviceFacts {
  char name[256];
  size_t bytes;       // of memory
  size_t page_bytes;  // the least that is mapped
  int major, minor;   // of its instruction set
  int processors;     // that run blocks of threads
};

/// Every function answers kDone or an error; of an output nothing is written then. All but the
/// first four work in the context that this thread has pushed.
struct Driver {
  int (*count_devices)(int* count);
  int (*describe)(int device, DeviceFacts* facts);
  /// The context that all users of CUDA in this process share.
  int (*retain_context)(int device, Handle* context);
  int (*push_context)(Handle context);
  int (*pop_context)();
  int (*memory_info)(size_t* free, size_t* total);
  /// What this process has of a device, its context included; not kDone: the system does not tell.
  int (*process_bytes)(int device, size_t* bytes);
  /// Waits for all work of the context.
  int (*synchronize)();
  /// Whose memory an address is, whoever allocated it.
  int (*find_device)(Address at, int* device);

  int (*reserve)(Address* start, size_t bytes);
  int (*create_pages)(Handle* pages, size_t bytes, int device);
  int (*release_pages)(Handle pages);
  int (*map)(Address start, size_t bytes, Handle pages);
  int (*allow_access)(Address start, size_t bytes, int device);
  int (*unmap)(Address start, size_t bytes);
  /// Host memory that the device reads by itself.
  int (*pin)(void** memory, size_t bytes);
  int (*unpin)(void* memory);

  int (*create_stream)(Handle* stream);
  int (*destroy_stream)(Handle stream);
  int (*create_event)(Handle* event);
  /// Its time is noted, too, which takes the device longer.
  int (*create_timed_event)(Handle* event);
  /// Between two timed events that have come.
  int (*elapsed)(float* milliseconds, Handle earlier, Handle later);
  int (*destroy_event)(Handle event);
  int (*record)(Handle event, Handle stream);
  /// kNotReady: the stream has not come to the event.
  int (*query)(Handle event);
  /// The host waits.
  int (*await)(Handle event);
  /// The stream waits.
  int (*follow)(Handle stream, Handle event);
  /// What is not pinned has been read when it returns.
  int (*copy_in)(Address to, const void* host, size_t bytes, Handle stream);
  int (*copy_out)(void* pinned, Address from, size_t bytes, Handle stream);
  int (*copy)(Address to, Address from, size_t bytes, Handle stream);
  int (*fill_zeros)(Address start, size_t bytes, Handle stream);

  int (*load_module)(Handle* module, const void* image);
  int (*unload_module)(Handle module);
  int (*find_function)(Handle* function, Handle module, const char* name);
  /// `arguments` points to the function's only parameter, which is copied.
  int (*launch)(Handle function, uint32_t blocks, uint32_t threads, Handle stream, void* arguments);

  /// From here on what is enqueued on the stream is recorded, not done.
  int (*begin_recording)(Handle stream);
  /// What was enqueued last while recording.
  int (*last_recorded)(Handle stream, Handle* piece);
  /// Ends it, also where it fails: there is no recording then. `pieces`: of work in it.
  int (*end_recording)(Handle stream, Handle* recording, size_t* pieces);
  /// A launch in a recording, as launch() has it: from the next time on.
  int (*change_launch)(Handle recording, Handle piece, Handle function, uint32_t blocks,
                       uint32_t threads, void* arguments);
  int (*play)(Handle recording, Handle stream);
  /// None of it is under way.
  int (*destroy_recording)(Handle recording);
  /// "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
  const char* (*explain)(int status);
};

/// Code for a device, made of source text. `bytes` is 0 where the source is wrong, and `text` then
/// says how.
struct CompiledCode {
  char* text;
  size_t bytes;
};

struct SourceCompiler {
  /// 13000 for 13.0.
  int version;
  /// `level`: the device's instruction set, 90 for 9.0. Kept until released.
  CompiledCode (*compile)(const char* source, const char* name, int level);
  void (*release)(CompiledCode code);
};

/// C[m, n] = A[m, k] * B[k, n] for each item of a batch, rows after rows; `…_item`: elements from
/// one matrix to that of the next item, 0 where all have the same.
struct Product {
  enum Element : int32_t { float32, float64, float16, bfloat16 } element;
  Element result;  // of C: the same, or float32 where A and B are of half types
  bool adds;       // to what C holds
  bool rounds;     // float32 operands to TensorFloat-32
  int32_t batch;
  int64_t m, n, k;
  int64_t a_item, b_item;
  bool transpose_a, transpose_b;  // it lies there as [k, m], [n, k]
  bool operator==(const Product&) const = default;
};
struct ProductRun {
  Address a, b, c, workspace;
  size_t workspace_bytes;
  Handle stream;
};

struct ProductLibrary {
  /// For the context that this thread has pushed; it stays. 0: done.
  int (*create)(Handle* library);
  /// Enqueues. 0: done.
  int (*multiply)(Handle library, const Product* product, const ProductRun* run);
  const char* (*explain)(int status);
};

/// Of images [batch, sizes…, channels] with a filter [made, window…, channels / groups], rows after
/// rows, or, with `channels_first`, of images [batch, channels, sizes…] with a filter [made,
/// channels / groups, window…]. Sizes stand at the end of three: of two dimensions the first is 1.
struct Convolution {
  enum Part : int32_t { forward, input_gradient, filter_gradient } part;
  Product::Element element;
  int32_t spatial;  // dimensions: 2 or 3
  bool channels_first;
  bool rounds;  // float32 operands to TensorFloat-32
  int64_t batch, channels, made, groups;
  int64_t in[3], out[3], window[3], stride[3], dilation[3];
  int64_t padding[3];  // on either side
  bool operator==(const Convolution&) const = default;
};
/// The part's result is written, the other two are read; `result`: of the forward part, or its
/// gradient.
struct ConvolutionRun {
  Address images, filter, result, workspace;
  size_t workspace_bytes;
  Handle stream;
};

struct ConvolutionLibrary {
  /// For the context that this thread has pushed; it stays. 0: done.
  int (*create)(Handle* library);
  /// How much workspace it takes, chosen once for each convolution: the same bits each time. 0:
  /// done; else the library cannot do it.
  int (*prepare)(Handle library, const Convolution* convolution, size_t* workspace);
  /// Enqueues. 0: done.
  int (*convolve)(Handle library, const Convolution* convolution, const ConvolutionRun* run);
  const char* (*explain)(int status);
};

/// Discrete Fourier transforms of lines, not scaled. Strides count elements of the side they are
/// of; half a line of complex numbers stands for a line of `n` real ones.
struct Transform {
  enum Kind : int32_t { forward, backward, from_real, to_real } kind;
  bool is_double;
  int64_t n, lines;
  int64_t in_step, in_line;  // from one element to the next, from one line to the next
  int64_t out_step, out_line;
  bool operator==(const Transform&) const = default;
};
/// `to_real` writes over what it reads. Both sides lie at multiples of 16 bytes.
struct TransformRun {
  Address in, out, workspace;
  size_t workspace_bytes;
  Handle stream;
};

struct TransformLibrary {
  /// For the context that this thread has pushed, which `context` is. How much workspace it takes.
  /// 0: done.
  int (*prepare)(Handle context, const Transform* transform, size_t* workspace);
  /// Enqueues. 0: done.
  int (*transform)(Handle context, const Transform* transform, const TransformRun* run);
  const char* (*explain)(int status);
};

/// Each opens its library when first asked, and answers null where it is not there; `why` is then a
/// text that stays.
struct Libraries {
  const Driver* (*driver)(const char** why);
  const SourceCompiler* (*compiler)(const char** why);
  const ProductLibrary* (*products)(const char** why);
  const ConvolutionLibrary* (*convolutions)(const char** why);
  const TransformLibrary* (*transforms)(const char** why);
};

}  // namespace tidemark::cuda

extern "C" {
/// The name looked up after dlopen.
__attribute__((visibility("default"))) const tidemark::cuda::Libraries* tidemark_cuda_libraries();
}
