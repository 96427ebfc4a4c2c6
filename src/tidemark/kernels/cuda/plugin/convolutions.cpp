// Convolutions, by cuDNN.

#include "tidemark/kernels/cuda/plugin/libraries.h"

#if __has_include(<cudnn.h>)

#include <cudnn.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "tidemark/kernels/cuda/plugin/shared_library.h"

// Its older functions say in one call what the newer ones say in forty, and version 9 has both.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tidemark::cuda {

namespace {

// clang-format off
#define TIDEMARK_DNN_FUNCTIONS(X) \
  X(cudnnCreate) X(cudnnSetStream) X(cudnnGetErrorString) \
  X(cudnnCreateTensorDescriptor) X(cudnnDestroyTensorDescriptor) X(cudnnSetTensorNdDescriptorEx) \
  X(cudnnCreateFilterDescriptor) X(cudnnDestroyFilterDescriptor) X(cudnnSetFilterNdDescriptor) \
  X(cudnnCreateConvolutionDescriptor) X(cudnnDestroyConvolutionDescriptor) \
  X(cudnnSetConvolutionNdDescriptor) X(cudnnSetConvolutionMathType) \
  X(cudnnSetConvolutionGroupCount) \
  X(cudnnGetConvolutionForwardAlgorithm_v7) X(cudnnGetConvolutionForwardWorkspaceSize) \
  X(cudnnConvolutionForward) \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7) \
  X(cudnnGetConvolutionBackwardDataWorkspaceSize) X(cudnnConvolutionBackwardData) \
  X(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
  X(cudnnGetConvolutionBackwardFilterWorkspaceSize) X(cudnnConvolutionBackwardFilter)
// clang-format on

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  TIDEMARK_DNN_FUNCTIONS(X)
#undef X
};
Functions dnn;

/// More workspace than this no way of computing is worth.
constexpr size_t kMostWorkspace = size_t{1} << 30;

cudnnDataType_t element_of(Product::Element element) {
  switch (element) {
    case Product::float64:
      return CUDNN_DATA_DOUBLE;
    case Product::float16:
      return CUDNN_DATA_HALF;
    case Product::bfloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}
bool is_half(Product::Element e) { return e == Product::float16 || e == Product::bfloat16; }

/// One of the library's ways of computing, and what it needs.
struct Way {
  int algorithm = 0;
  size_t workspace = 0;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

/// Sums of products alone: what computes by way of transforms has larger errors than documented.
bool is_direct(cudnnConvolutionFwdAlgo_t a) {
  return a == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
         a == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
         a == CUDNN_CONVOLUTION_FWD_ALGO_GEMM || a == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
}
bool is_direct(cudnnConvolutionBwdDataAlgo_t a) {
  return a == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 || a == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
}
bool is_direct(cudnnConvolutionBwdFilterAlgo_t a) {
  return a == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 || a == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
         a == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
}

/// What the library is told about a convolution; its objects go with the scope.
class Call {
 public:
  explicit Call(const Convolution& c) : c_(c) {}
  ~Call() {
    if (images_) dnn.cudnnDestroyTensorDescriptor(images_);
    if (result_) dnn.cudnnDestroyTensorDescriptor(result_);
    if (filter_) dnn.cudnnDestroyFilterDescriptor(filter_);
    if (convolution_) dnn.cudnnDestroyConvolutionDescriptor(convolution_);
  }
  Call(const Call&) = delete;

  int describe() {
    const auto element = element_of(c_.element);
    const auto format = c_.channels_first ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
    const int spatial = c_.spatial;
    const auto sizes = [&](int64_t first, int64_t second, const int64_t* rest) {
      std::vector<int> out = {static_cast<int>(first), static_cast<int>(second)};
      for (int d = 3 - spatial; d < 3; ++d) out.push_back(static_cast<int>(rest[d]));
      return out;
    };
    const std::vector<int> images = sizes(c_.batch, c_.channels, c_.in),
                           result = sizes(c_.batch, c_.made, c_.out),
                           filter = sizes(c_.made, c_.channels / c_.groups, c_.window);
    const std::vector<int> padding = sizes(0, 0, c_.padding), stride = sizes(0, 0, c_.stride),
                           dilation = sizes(0, 0, c_.dilation);
    const auto computed = c_.element == Product::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    int status = dnn.cudnnCreateTensorDescriptor(&images_);
    const auto next = [&](auto make) {
      if (status == CUDNN_STATUS_SUCCESS) status = make();
    };
    next([&] { return dnn.cudnnCreateTensorDescriptor(&result_); });
    next([&] { return dnn.cudnnCreateFilterDescriptor(&filter_); });
    next([&] { return dnn.cudnnCreateConvolutionDescriptor(&convolution_); });
    next([&] {
      return dnn.cudnnSetTensorNdDescriptorEx(images_, format, element, spatial + 2, images.data());
    });
    next([&] {
      return dnn.cudnnSetTensorNdDescriptorEx(result_, format, element, spatial + 2, result.data());
    });
    next([&] {
      return dnn.cudnnSetFilterNdDescriptor(filter_, element, format, spatial + 2, filter.data());
    });
    next([&] {
      return dnn.cudnnSetConvolutionNdDescriptor(convolution_, spatial, padding.data() + 2,
                                                 stride.data() + 2, dilation.data() + 2,
                                                 CUDNN_CROSS_CORRELATION, computed);
    });
    next([&] { return dnn.cudnnSetConvolutionMathType(convolution_, usual_math()); });
    next([&] {
      return dnn.cudnnSetConvolutionGroupCount(convolution_, static_cast<int>(c_.groups));
    });
    return status;
  }

  int choose(cudnnHandle_t library, Way* way) {
    switch (c_.part) {
      case Convolution::forward:
        return choose_from<cudnnConvolutionFwdAlgoPerf_t>(
            way,
            [&](int most, int* count, cudnnConvolutionFwdAlgoPerf_t* found) {
              return dnn.cudnnGetConvolutionForwardAlgorithm_v7(
                  library, images_, filter_, convolution_, result_, most, count, found);
            },
            [&](cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
              return dnn.cudnnGetConvolutionForwardWorkspaceSize(
                  library, images_, filter_, convolution_, result_, algorithm, bytes);
            });
      case Convolution::input_gradient:
        return choose_from<cudnnConvolutionBwdDataAlgoPerf_t>(
            way,
            [&](int most, int* count, cudnnConvolutionBwdDataAlgoPerf_t* found) {
              return dnn.cudnnGetConvolutionBackwardDataAlgorithm_v7(
                  library, filter_, result_, convolution_, images_, most, count, found);
            },
            [&](cudnnConvolutionBwdDataAlgo_t algorithm, size_t* bytes) {
              return dnn.cudnnGetConvolutionBackwardDataWorkspaceSize(
                  library, filter_, result_, convolution_, images_, algorithm, bytes);
            });
      default:
        return choose_from<cudnnConvolutionBwdFilterAlgoPerf_t>(
            way,
            [&](int most, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found) {
              return dnn.cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                  library, images_, result_, convolution_, filter_, most, count, found);
            },
            [&](cudnnConvolutionBwdFilterAlgo_t algorithm, size_t* bytes) {
              return dnn.cudnnGetConvolutionBackwardFilterWorkspaceSize(
                  library, images_, result_, convolution_, filter_, algorithm, bytes);
            });
    }
  }

  int run(cudnnHandle_t library, const Way& way, const ConvolutionRun& run) {
    const int status = dnn.cudnnSetConvolutionMathType(convolution_, way.math);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const bool is_double = c_.element == Product::float64;
    const void* one = is_double ? static_cast<const void*>(&one64) : &one32;
    const void* zero = is_double ? static_cast<const void*>(&zero64) : &zero32;
    const auto at = [](Address address) { return reinterpret_cast<void*>(address); };
    switch (c_.part) {
      case Convolution::forward:
        return dnn.cudnnConvolutionForward(
            library, one, images_, at(run.images), filter_, at(run.filter), convolution_,
            static_cast<cudnnConvolutionFwdAlgo_t>(way.algorithm), at(run.workspace), way.workspace,
            zero, result_, at(run.result));
      case Convolution::input_gradient:
        return dnn.cudnnConvolutionBackwardData(
            library, one, filter_, at(run.filter), result_, at(run.result), convolution_,
            static_cast<cudnnConvolutionBwdDataAlgo_t>(way.algorithm), at(run.workspace),
            way.workspace, zero, images_, at(run.images));
      default:
        return dnn.cudnnConvolutionBackwardFilter(
            library, one, images_, at(run.images), result_, at(run.result), convolution_,
            static_cast<cudnnConvolutionBwdFilterAlgo_t>(way.algorithm), at(run.workspace),
            way.workspace, zero, filter_, at(run.filter));
    }
  }

 private:
  /// The first that gives the same bits each time, of those the library lists, fastest first.
  template <class Found, class List, class AskWorkspace>
  int choose_from(Way* way, List list, AskWorkspace ask_workspace) {
    constexpr int kMost = 16;
    Found found[kMost];
    int count = 0;
    const int status = list(kMost, &count, found);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    for (int i = 0; i < count; ++i) {
      const Found& one = found[i];
      if (one.status != CUDNN_STATUS_SUCCESS || one.determinism != CUDNN_DETERMINISTIC) continue;
      if (!is_direct(one.algo)) continue;
      if (!may_compute_by(one.mathType)) continue;
      size_t workspace = 0;
      if (ask_workspace(one.algo, &workspace) != CUDNN_STATUS_SUCCESS) continue;
      if (workspace > kMostWorkspace) continue;
      *way = {static_cast<int>(one.algo), workspace, c_.rounds ? one.mathType : usual_math()};
      return CUDNN_STATUS_SUCCESS;
    }
    return CUDNN_STATUS_NOT_SUPPORTED;
  }

  /// Matrix units for half types; float32 in full unless it may be rounded.
  cudnnMathType_t usual_math() const {
    if (c_.rounds) return CUDNN_DEFAULT_MATH;
    return is_half(c_.element) ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH;
  }
  bool may_compute_by(cudnnMathType_t math) const {
    if (is_half(c_.element)) return true;
    if (c_.rounds) return math != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;  // which may narrow more
    return math == CUDNN_FMA_MATH || math == CUDNN_DEFAULT_MATH;
  }

  const Convolution& c_;
  cudnnTensorDescriptor_t images_ = nullptr, result_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
};

/// Ways that were chosen before, and which convolutions have none. Of all contexts; the one used
/// last comes first.
struct Choices {
  struct Choice {
    Convolution convolution;
    Handle library;
    int status;
    Way way;
  };
  static constexpr size_t kMost = 512;
  std::list<Choice> known;

  int find(Handle library, const Convolution& c, Way* way) {
    const auto it = std::find_if(known.begin(), known.end(), [&](const Choice& one) {
      return one.library == library && one.convolution == c;
    });
    if (it != known.end()) {
      known.splice(known.begin(), known, it);
    } else {
      Call call(c);
      Way chosen;
      int status = call.describe();
      if (status == CUDNN_STATUS_SUCCESS) {
        status = call.choose(reinterpret_cast<cudnnHandle_t>(library), &chosen);
      }
      known.push_front({c, library, status, chosen});
      if (known.size() > kMost) known.pop_back();
    }
    *way = known.front().way;
    return known.front().status;
  }
};

/// The library's handles are for one thread at a time.
std::mutex& mutex() {
  static auto* only = new std::mutex;
  return *only;
}
Choices& choices() {
  static auto* only = new Choices;
  return *only;
}

int prepare(Handle library, const Convolution* c, size_t* workspace) {
  std::lock_guard hold(mutex());
  Way way;
  const int status = choices().find(library, *c, &way);
  if (status == CUDNN_STATUS_SUCCESS) *workspace = way.workspace;
  return status;
}

int convolve(Handle library, const Convolution* c, const ConvolutionRun* run) {
  const auto handle = reinterpret_cast<cudnnHandle_t>(library);
  std::lock_guard hold(mutex());
  Way way;
  int status = choices().find(library, *c, &way);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (way.workspace > run->workspace_bytes) return CUDNN_STATUS_BAD_PARAM;
  Call call(*c);
  status = call.describe();
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = dnn.cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(run->stream));
  return status == CUDNN_STATUS_SUCCESS ? call.run(handle, way, *run) : status;
}

int create(Handle* library) {
  cudnnHandle_t made;
  const int status = dnn.cudnnCreate(&made);
  if (status == CUDNN_STATUS_SUCCESS) *library = reinterpret_cast<Handle>(made);
  return status;
}

constexpr ConvolutionLibrary kConvolutions = {
    .create = create,
    .prepare = prepare,
    .convolve = convolve,
    .explain =
        [](int status) { return dnn.cudnnGetErrorString(static_cast<cudnnStatus_t>(status)); },
};

std::string open_convolutions() {
  SharedLibrary library({"libcudnn.so.9", "libcudnn.so"});
#define X(name) library.find(dnn.name, TIDEMARK_CUDA_NAME(name));
  TIDEMARK_DNN_FUNCTIONS(X)
#undef X
  return library.is_there() ? "" : std::string("cuDNN is not there: ") + library.why();
}

}  // namespace

const ConvolutionLibrary* convolution_library(const char** why) {
  static const std::string problem = open_convolutions();
  *why = problem.c_str();
  return problem.empty() ? &kConvolutions : nullptr;
}

}  // namespace tidemark::cuda

#else

namespace tidemark::cuda {

const ConvolutionLibrary* convolution_library(const char** why) {
  *why = "libtidemark_cuda.so was built without cuDNN's headers";
  return nullptr;
}

}  // namespace tidemark::cuda

#endif
