// Kernels: pure compute. A kernel gets inputs, outputs and a workspace whose size it declared, all
// provided by the runtime. It never allocates, so it cannot leak, and it can be planned.
//
//   void square_kernel(td::KernelContext& k) {
//     const float* x = k.in<float>(0);
//     float* y = k.out<float>(0);
//     for (int64_t i = 0; i < k.output(0).num_elements(); ++i) y[i] = x[i] * x[i];
//   }
//   TIDEMARK_KERNEL(square, dtype_set(DType::float32), square_kernel);
#pragma once

#include <tidemark/op.h>

namespace tidemark {

class TIDEMARK_API KernelContext {
 public:
  KernelContext(const OpCall& call, std::span<const Tensor> outputs, void* workspace)
      : call_(call), outputs_(outputs), workspace_(workspace) {}

  const OpCall& call() const { return call_; }
  int num_inputs() const { return static_cast<int>(call_.inputs.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Tensor& input(int i) const { return call_.inputs[i]; }
  const Tensor& output(int i) const { return outputs_[i]; }
  const Attr& attr(std::string_view name) const { return call_.attr(name); }
  template <class T>
  const T* in(int i) const {
    return static_cast<const T*>(call_.inputs[i].raw_data());
  }
  template <class T>
  T* out(int i) const {
    return static_cast<T*>(outputs_[i].mutable_raw_data());
  }
  /// As many bytes as the kernel's workspace function answered, aligned to 64.
  template <class T = void>
  T* workspace() const {
    return static_cast<T*>(workspace_);
  }

  /// For outputs whose size depends on values (unique, where): the shape rule gave an upper bound
  /// of the first dimension, this says how many rows are real.
  void set_rows(int output, int64_t rows);
  /// The same along another dimension; the elements must already lie densely for the new size.
  void set_shape(int output, const Shape& shape);
  /// For string outputs: characters go to the bytes after the elements.
  char* string_bytes(int output) const;
  /// How many bytes there are for characters.
  int64_t string_capacity(int output) const;

  template <class... Pieces>
  [[noreturn, gnu::cold]] void fail(const Pieces&... pieces) const {
    tidemark::fail<InvalidArgumentError>("[", call_.op.name(), "] ", pieces...);
  }

 private:
  const OpCall& call_;
  std::span<const Tensor> outputs_;
  void* workspace_;
};

/// Outputs have shape and dtype but no elements when the workspace is asked for.
using KernelRun = void (*)(KernelContext&);
using KernelWorkspace = size_t (*)(const OpCall& call, std::span<const Shape> outputs);

struct Kernel {
  KernelRun run = nullptr;
  KernelWorkspace workspace = nullptr;  // null: needs none
  bool operator==(const Kernel&) const = default;
};

/// Whose instructions a kernel is made of; several kinds of devices may run the same.
enum class KernelKind : uint8_t { cpu, cuda };

/// Kernels of one op, by kind and key dtype: the dtype of the first input; for ops without
/// inputs that of the first output.
class TIDEMARK_API KernelTable {
 public:
  const Kernel& find(KernelKind kind, DType key) const {
    return kind == KernelKind::cpu ? cpu_[static_cast<int>(key)] : find_other(kind, key);
  }
  void set(KernelKind kind, DType key, Kernel kernel);
  DTypeSet dtypes(KernelKind kind) const;

 private:
  /// One kernel of another kind mostly serves all dtypes.
  struct Other {
    KernelKind kind;
    DTypeSet dtypes;
    Kernel kernel;
  };
  const Kernel& find_other(KernelKind kind, DType key) const;

  Kernel cpu_[kDTypeSlots];
  std::vector<Other> others_;
};

/// Registers a kernel for an op that may be defined later. A second registration for the same
/// dtype throws AlreadyExistsError.
TIDEMARK_API void register_kernel(std::string_view op, KernelKind kind, DTypeSet dtypes,
                                  Kernel kernel);

/// The op's kernels; null when it has none.
TIDEMARK_API const KernelTable* kernels_of(const OpDef& op);

namespace detail {
struct KernelFor {
  DTypeSet dtypes;
  Kernel kernel;
};
/// Registers them; errors are reported as those of other registrars are.
TIDEMARK_API void register_kernels(std::string_view op, KernelKind kind,
                                   std::span<const KernelFor> kernels);

// Registrars are inlined: what only the start of a program runs then lies together, and little else
// of the library is read for it.
struct KernelRegistrar {
  [[gnu::always_inline]] KernelRegistrar(KernelKind kind, std::string_view op, DTypeSet dtypes,
                                         KernelRun run, KernelWorkspace workspace = nullptr) {
    const KernelFor kernels[] = {{dtypes, {run, workspace}}};
    register_kernels(op, kind, kernels);
  }
};
#define TIDEMARK_CONCAT_(a, b) a##b
#define TIDEMARK_CONCAT(a, b) TIDEMARK_CONCAT_(a, b)
}  // namespace detail

/// TIDEMARK_KERNEL_OF(kind, op, dtypes, run[, workspace]): `kind` is one of KernelKind.
#define TIDEMARK_KERNEL_OF(kind, op, ...)                                            \
  [[maybe_unused]] static const ::tidemark::detail::KernelRegistrar TIDEMARK_CONCAT( \
      tidemark_kernel_##op##_, __COUNTER__)(::tidemark::KernelKind::kind, #op, __VA_ARGS__)

/// The same in a library of your own, whose kernels are the CPU's.
#define TIDEMARK_KERNEL(op, ...) TIDEMARK_KERNEL_OF(cpu, op, __VA_ARGS__)

/// Registers K<T>::run (and K<T>::workspace if there is one) for each type T.
template <KernelKind kind, template <class> class K, class... T>
struct TypedKernelsOf {
  [[gnu::always_inline]] explicit TypedKernelsOf(std::string_view op) {
    const detail::KernelFor kernels[] = {{dtype_set(dtype_of<T>()), kernel<T>()}...};
    detail::register_kernels(op, kind, kernels);
  }
  template <class U>
  static constexpr Kernel kernel() {
    if constexpr (requires { &K<U>::workspace; }) {
      return {&K<U>::run, &K<U>::workspace};
    } else {
      return {&K<U>::run, nullptr};
    }
  }
};

/// The same in a library of your own.
template <template <class> class K, class... T>
using TypedKernels = TypedKernelsOf<KernelKind::cpu, K, T...>;

}  // namespace tidemark
