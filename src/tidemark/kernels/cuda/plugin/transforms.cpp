// Fourier transforms, by cuFFT.

#if __has_include(<cufft.h>)

#include <cufft.h>

#include <list>
#include <mutex>

#include "tidemark/kernels/cuda/plugin/libraries.h"
#include "tidemark/kernels/cuda/plugin/shared_library.h"

namespace tidemark::cuda {

namespace {

// clang-format off
#define TIDEMARK_FFT_FUNCTIONS(X) \
  X(cufftCreate) X(cufftDestroy) X(cufftSetAutoAllocation) X(cufftMakePlanMany64) \
  X(cufftSetWorkArea) X(cufftSetStream) X(cufftExecC2C) X(cufftExecZ2Z) X(cufftExecR2C) \
  X(cufftExecD2Z) X(cufftExecC2R) X(cufftExecZ2D)
// clang-format on

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  TIDEMARK_FFT_FUNCTIONS(X)
#undef X
};
Functions fft;

cufftType type_of(const Transform& t) {
  switch (t.kind) {
    case Transform::from_real:
      return t.is_double ? CUFFT_D2Z : CUFFT_R2C;
    case Transform::to_real:
      return t.is_double ? CUFFT_Z2D : CUFFT_C2R;
    default:
      return t.is_double ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

/// Plans made before, of all contexts; the one used last comes first. They hold tables on the GPU.
struct Plans {
  struct Plan {
    Handle context;
    Transform transform;
    cufftHandle handle;
    size_t workspace;
  };
  static constexpr size_t kMost = 32;
  std::mutex mutex;  // a plan is for one thread at a time
  std::list<Plan> known;

  int find(Handle context, const Transform& t, const Plan** found) {
    for (auto it = known.begin(); it != known.end(); ++it) {
      if (it->context != context || !(it->transform == t)) continue;
      known.splice(known.begin(), known, it);
      *found = &known.front();
      return CUFFT_SUCCESS;
    }
    Plan plan{context, t, 0, 0};
    int status = fft.cufftCreate(&plan.handle);
    if (status != CUFFT_SUCCESS) return status;
    status = make(plan);
    if (status != CUFFT_SUCCESS) {
      fft.cufftDestroy(plan.handle);
      return status;
    }
    known.push_front(plan);
    if (known.size() > kMost) {
      fft.cufftDestroy(known.back().handle);
      known.pop_back();
    }
    *found = &known.front();
    return CUFFT_SUCCESS;
  }

 private:
  static int make(Plan& plan) {
    const Transform& t = plan.transform;
    const int status = fft.cufftSetAutoAllocation(plan.handle, 0);
    if (status != CUFFT_SUCCESS) return status;
    long long n = t.n, in = t.in_line, out = t.out_line;  // of one dimension these say nothing more
    return fft.cufftMakePlanMany64(plan.handle, 1, &n, &in, t.in_step, t.in_line, &out, t.out_step,
                                   t.out_line, type_of(t), t.lines, &plan.workspace);
  }
};
Plans& plans() {
  static auto* only = new Plans;
  return *only;
}

int prepare(Handle context, const Transform* transform, size_t* workspace) {
  std::lock_guard hold(plans().mutex);
  const Plans::Plan* plan = nullptr;
  const int status = plans().find(context, *transform, &plan);
  if (status == CUFFT_SUCCESS) *workspace = plan->workspace;
  return status;
}

int enqueue(cufftHandle plan, const Transform& t, const TransformRun& run) {
  const auto direction = t.kind == Transform::backward ? CUFFT_INVERSE : CUFFT_FORWARD;
  const auto in = [&](auto* as) { return reinterpret_cast<decltype(as)>(run.in); };
  const auto out = [&](auto* as) { return reinterpret_cast<decltype(as)>(run.out); };
  constexpr cufftReal* kReal = nullptr;
  constexpr cufftDoubleReal* kDouble = nullptr;
  constexpr cufftComplex* kComplex = nullptr;
  constexpr cufftDoubleComplex* kDoubleComplex = nullptr;
  switch (type_of(t)) {
    case CUFFT_R2C:
      return fft.cufftExecR2C(plan, in(kReal), out(kComplex));
    case CUFFT_D2Z:
      return fft.cufftExecD2Z(plan, in(kDouble), out(kDoubleComplex));
    case CUFFT_C2R:
      return fft.cufftExecC2R(plan, in(kComplex), out(kReal));
    case CUFFT_Z2D:
      return fft.cufftExecZ2D(plan, in(kDoubleComplex), out(kDouble));
    case CUFFT_Z2Z:
      return fft.cufftExecZ2Z(plan, in(kDoubleComplex), out(kDoubleComplex), direction);
    default:
      return fft.cufftExecC2C(plan, in(kComplex), out(kComplex), direction);
  }
}

int transform(Handle context, const Transform* transform, const TransformRun* run) {
  std::lock_guard hold(plans().mutex);
  const Plans::Plan* plan = nullptr;
  int status = plans().find(context, *transform, &plan);
  if (status != CUFFT_SUCCESS) return status;
  if (plan->workspace > run->workspace_bytes) return CUFFT_INVALID_VALUE;
  status = fft.cufftSetStream(plan->handle, reinterpret_cast<cudaStream_t>(run->stream));
  if (status != CUFFT_SUCCESS) return status;
  if (plan->workspace > 0) {
    status = fft.cufftSetWorkArea(plan->handle, reinterpret_cast<void*>(run->workspace));
    if (status != CUFFT_SUCCESS) return status;
  }
  return enqueue(plan->handle, *transform, *run);
}

constexpr TransformLibrary kTransforms = {
    .prepare = prepare,
    .transform = transform,
    .explain =
        [](int status) {
          static thread_local std::string text;
          text = "cufftResult " + std::to_string(status);
          return text.c_str();
        },
};

std::string open_transforms() {
  SharedLibrary library({"libcufft.so.12", "libcufft.so.11", "libcufft.so"});
#define X(name) library.find(fft.name, TIDEMARK_CUDA_NAME(name));
  TIDEMARK_FFT_FUNCTIONS(X)
#undef X
  return library.is_there() ? "" : std::string("cuFFT is not there: ") + library.why();
}

}  // namespace

const TransformLibrary* transform_library(const char** why) {
  static const std::string problem = open_transforms();
  *why = problem.c_str();
  return problem.empty() ? &kTransforms : nullptr;
}

}  // namespace tidemark::cuda

#else

#include "tidemark/kernels/cuda/plugin/libraries.h"

namespace tidemark::cuda {

const TransformLibrary* transform_library(const char** why) {
  *why = "libtidemark_cuda.so was built without cuFFT's headers";
  return nullptr;
}

}  // namespace tidemark::cuda

#endif
