// Products of matrices, by cuBLASLt.

#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <string>

#include "tidemark/kernels/cuda/plugin/libraries.h"
#include "tidemark/kernels/cuda/plugin/shared_library.h"

namespace tidemark::cuda {

namespace {

// clang-format off
#define TIDEMARK_BLAS_FUNCTIONS(X) \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtMatmul) X(cublasLtMatmulAlgoGetHeuristic) \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) \
  X(cublasLtMatrixLayoutDestroy) X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy) \
  X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtGetStatusString)
// clang-format on

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  TIDEMARK_BLAS_FUNCTIONS(X)
#undef X
};
Functions blas;

/// An object of the library's that goes with its scope.
template <class T>
struct Owned {
  T object = nullptr;
  cublasStatus_t (*destroy)(T);
  explicit Owned(cublasStatus_t (*with)(T)) : destroy(with) {}
  Owned(const Owned&) = delete;
  ~Owned() {
    if (object) destroy(object);
  }
};

struct Types {
  cudaDataType_t element, scale;
  cublasComputeType_t computed;
};
/// Half types add up in float; float32 is computed in full unless it may be rounded.
Types types_of(Product::Element element, bool rounds) {
  switch (element) {
    case Product::float64:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case Product::float16:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Product::bfloat16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    default:
      return {CUDA_R_32F, CUDA_R_32F, rounds ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
  }
}

/// How the operands of a run lie: at multiples of so many bytes. Views begin anywhere.
struct Alignments {
  uint32_t a, b, c;
  explicit Alignments(const ProductRun& run) : a(of(run.a)), b(of(run.b)), c(of(run.c)) {}
  bool operator==(const Alignments&) const = default;

  static uint32_t of(Address address) {
    constexpr Address kMost = 256;
    return static_cast<uint32_t>(std::min(address & -address, kMost));
  }
};

/// The library counts columns first: rows of A are its columns, and C' = B' A' is computed.
class Call {
 public:
  explicit Call(const Product& p) : p_(p), types_(types_of(p.element, p.rounds)) {}

  int run(cublasLtHandle_t library, const cublasLtMatmulAlgo_t* known, cublasLtMatmulAlgo_t* chosen,
          const ProductRun& run) {
    int status = describe();
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (!known) {
      status = choose(library, run.workspace_bytes, Alignments(run), chosen);
      if (status != CUBLAS_STATUS_SUCCESS) return status;
      known = chosen;
    }
    const double one64 = 1, kept64 = p_.adds ? 1 : 0;
    const float one32 = 1, kept32 = p_.adds ? 1 : 0;
    const bool is_double = types_.scale == CUDA_R_64F;
    const auto at = [](Address address) { return reinterpret_cast<void*>(address); };
    return blas.cublasLtMatmul(library, operation_.object,
                               is_double ? static_cast<const void*>(&one64) : &one32, at(run.b),
                               b_.object, at(run.a), a_.object,
                               is_double ? static_cast<const void*>(&kept64) : &kept32, at(run.c),
                               c_.object, at(run.c), c_.object, known, at(run.workspace),
                               run.workspace_bytes, reinterpret_cast<cudaStream_t>(run.stream));
  }

 private:
  int describe() {
    int status = blas.cublasLtMatmulDescCreate(&operation_.object, types_.computed, types_.scale);
    const auto transpose = [&](cublasLtMatmulDescAttributes_t which, bool is_transposed) {
      const cublasOperation_t operation = is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
      if (status != CUBLAS_STATUS_SUCCESS) return;
      status = blas.cublasLtMatmulDescSetAttribute(operation_.object, which, &operation,
                                                   sizeof operation);
    };
    transpose(CUBLASLT_MATMUL_DESC_TRANSA, p_.transpose_b);
    transpose(CUBLASLT_MATMUL_DESC_TRANSB, p_.transpose_a);
    const auto lay_out = [&](Owned<cublasLtMatrixLayout_t>& layout, Product::Element element,
                             int64_t rows, int64_t columns, int64_t item) {
      if (status != CUBLAS_STATUS_SUCCESS) return;
      status = blas.cublasLtMatrixLayoutCreate(&layout.object, types_of(element, p_.rounds).element,
                                               static_cast<uint64_t>(columns),
                                               static_cast<uint64_t>(rows), columns);
      const int32_t batch = p_.batch;
      if (status != CUBLAS_STATUS_SUCCESS || batch == 1) return;
      status = blas.cublasLtMatrixLayoutSetAttribute(
          layout.object, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
      if (status != CUBLAS_STATUS_SUCCESS) return;
      status = blas.cublasLtMatrixLayoutSetAttribute(
          layout.object, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &item, sizeof item);
    };
    lay_out(a_, p_.element, p_.transpose_a ? p_.k : p_.m, p_.transpose_a ? p_.m : p_.k, p_.a_item);
    lay_out(b_, p_.element, p_.transpose_b ? p_.n : p_.k, p_.transpose_b ? p_.k : p_.n, p_.b_item);
    lay_out(c_, p_.result, p_.m, p_.n, p_.m * p_.n);
    return status;
  }

  int choose(cublasLtHandle_t library, size_t workspace, const Alignments& alignments,
             cublasLtMatmulAlgo_t* chosen) {
    Owned<cublasLtMatmulPreference_t> wish(blas.cublasLtMatmulPreferenceDestroy);
    int status = blas.cublasLtMatmulPreferenceCreate(&wish.object);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    const auto ask = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
      if (status != CUBLAS_STATUS_SUCCESS) return;
      status = blas.cublasLtMatmulPreferenceSetAttribute(wish.object, what, &value, sizeof value);
    };
    ask(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
    ask(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.b);
    ask(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.a);
    ask(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments.c);
    ask(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.c);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    status =
        blas.cublasLtMatmulAlgoGetHeuristic(library, operation_.object, b_.object, a_.object,
                                            c_.object, c_.object, wish.object, 1, &found, &count);
    if (status == CUBLAS_STATUS_SUCCESS && count == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    *chosen = found.algo;
    return status;
  }

  const Product& p_;
  const Types types_;
  Owned<cublasLtMatmulDesc_t> operation_{blas.cublasLtMatmulDescDestroy};
  Owned<cublasLtMatrixLayout_t> a_{blas.cublasLtMatrixLayoutDestroy},
      b_{blas.cublasLtMatrixLayoutDestroy}, c_{blas.cublasLtMatrixLayoutDestroy};
};

/// Ways of computing products that were asked for before: choosing one takes longer than a small
/// product. Of all contexts; the one used last comes first.
struct Choices {
  struct Choice {
    Product product;
    Alignments alignments;
    size_t workspace;
    Handle library;
    cublasLtMatmulAlgo_t algorithm;
  };
  static constexpr size_t kMost = 256;
  std::mutex mutex;
  std::list<Choice> known;
};

int multiply(Handle library, const Product* product, const ProductRun* run) {
  static auto* choices = new Choices;
  const auto handle = reinterpret_cast<cublasLtHandle_t>(library);
  cublasLtMatmulAlgo_t algorithm;
  bool is_known = false;
  {
    std::lock_guard hold(choices->mutex);
    for (auto it = choices->known.begin(); it != choices->known.end(); ++it) {
      if (it->library != library || it->workspace != run->workspace_bytes ||
          !(it->product == *product) || !(it->alignments == Alignments(*run))) {
        continue;
      }
      choices->known.splice(choices->known.begin(), choices->known, it);
      algorithm = it->algorithm;
      is_known = true;
      break;
    }
  }
  const int status = Call(*product).run(handle, is_known ? &algorithm : nullptr, &algorithm, *run);
  if (status != CUBLAS_STATUS_SUCCESS || is_known) return status;
  std::lock_guard hold(choices->mutex);
  choices->known.push_front({*product, Alignments(*run), run->workspace_bytes, library, algorithm});
  if (choices->known.size() > Choices::kMost) choices->known.pop_back();
  return status;
}

int create(Handle* library) {
  cublasLtHandle_t made;
  const int status = blas.cublasLtCreate(&made);
  if (status == CUBLAS_STATUS_SUCCESS) *library = reinterpret_cast<Handle>(made);
  return status;
}

constexpr ProductLibrary kProducts = {
    .create = create,
    .multiply = multiply,
    .explain =
        [](int status) {
          return blas.cublasLtGetStatusString(static_cast<cublasStatus_t>(status));
        },
};

std::string open_products() {
  SharedLibrary library({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
#define X(name) library.find(blas.name, TIDEMARK_CUDA_NAME(name));
  TIDEMARK_BLAS_FUNCTIONS(X)
#undef X
  return library.is_there() ? "" : std::string("cuBLASLt is not there: ") + library.why();
}

}  // namespace

const ProductLibrary* product_library(const char** why) {
  static const std::string problem = open_products();
  *why = problem.c_str();
  return problem.empty() ? &kProducts : nullptr;
}

}  // namespace tidemark::cuda
