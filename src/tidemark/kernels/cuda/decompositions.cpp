// Kernels of qr, eigh and svd: a block for each matrix.

#include <algorithm>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "decompositions.h";
constexpr DTypeSet kMatrices = dtype_set(DType::float32, DType::float64) | kComplex;

struct Sizes {
  int64_t count = 1, m, n;
  explicit Sizes(const Shape& shape) : m(shape.dim(-2)), n(shape.dim(-1)) {
    for (int d = 0; d < shape.rank() - 2; ++d) count *= shape[d];
  }
  int64_t shorter() const { return std::min(m, n); }
  int64_t longer() const { return std::max(m, n); }
};

/// Arrays one behind the other, each of so many elements for every matrix.
class Arrays {
 public:
  Arrays(int64_t matrices, void* start)
      : matrices_(static_cast<size_t>(matrices)), start_(static_cast<char*>(start)) {}
  void* take(int64_t elements, size_t element_bytes) {
    void* const at = start_ + bytes_;
    const size_t wanted = matrices_ * static_cast<size_t>(elements) * element_bytes;
    bytes_ += (wanted + 255) / 256 * 256;
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  const size_t matrices_;
  char* const start_;
  size_t bytes_ = 0;
};

/// Of the parts of such numbers.
size_t part_bytes(DType dtype) { return size_of(dtype) / (is_complex(dtype) ? 2 : 1); }

void launch(KernelContext& k, const char* name, int64_t matrices, Words arguments) {
  const DeviceFunction function{kText, name, {stored_type(k.input(0).dtype())}, ""};
  function.run_blocks(cuda_stream_of(k), matrices, std::move(arguments));
}

// --- qr -----------------------------------------------------------------------------------------

struct QrRoom {
  Arrays arrays;
  void *factors, *taus;
  QrRoom(const Sizes& s, DType dtype, void* start)
      : arrays(s.count, start),
        factors(arrays.take(s.m * s.n, size_of(dtype))),
        taus(arrays.take(s.shorter(), size_of(dtype))) {}
};

void run_qr(KernelContext& k) {
  const Sizes s(k.input(0).shape());
  if (k.output(0).num_elements() == 0 && k.output(1).num_elements() == 0) return;
  const QrRoom room(s, k.input(0).dtype(), k.workspace());
  launch(k, "qr", s.count,
         words(k.in<void>(0), k.out<void>(0), k.out<void>(1), room.factors, room.taus, s.count, s.m,
               s.n, k.output(0).dim(-1)));
}
size_t qr_workspace(const OpCall& call, std::span<const Shape>) {
  const Tensor& x = call.inputs[0];
  return QrRoom(Sizes(x.shape()), x.dtype(), nullptr).arrays.bytes();
}

// --- eigh ---------------------------------------------------------------------------------------

struct EighRoom {
  Arrays arrays;
  void *a, *q, *taus, *w, *d, *e, *turns;
  EighRoom(const Sizes& s, DType dtype, bool has_vectors, void* start)
      : arrays(s.count, start),
        a(arrays.take(s.n * s.n, size_of(dtype))),
        q(arrays.take(has_vectors ? s.n * s.n : 0, size_of(dtype))),
        taus(arrays.take(s.n, size_of(dtype))),
        w(arrays.take(s.n, size_of(dtype))),
        d(arrays.take(s.n, part_bytes(dtype))),
        e(arrays.take(s.n, part_bytes(dtype))),
        turns(arrays.take(2 * s.n, part_bytes(dtype))) {}
};

void run_eigh(KernelContext& k) {
  const Sizes s(k.input(0).shape());
  if (k.output(0).num_elements() == 0) return;
  const bool has_vectors = k.attr("compute_v").as_bool();
  const EighRoom room(s, k.input(0).dtype(), has_vectors, k.workspace());
  launch(k, "eigh", s.count,
         words(k.in<void>(0), k.out<void>(0), has_vectors ? k.out<void>(1) : nullptr, room.a,
               room.q, room.taus, room.w, room.d, room.e, room.turns, s.count, s.n));
}
size_t eigh_workspace(const OpCall& call, std::span<const Shape>) {
  const Tensor& x = call.inputs[0];
  return EighRoom(Sizes(x.shape()), x.dtype(), call.attr("compute_v").as_bool(), nullptr)
      .arrays.bytes();
}

// --- svd ----------------------------------------------------------------------------------------

struct SvdRoom {
  Arrays arrays;
  void *a, *longer, *turned, *lengths, *order;
  SvdRoom(const Sizes& s, DType dtype, bool has_vectors, bool is_full, void* start)
      : arrays(s.count, start),
        a(arrays.take(s.m * s.n, size_of(dtype))),
        longer(arrays.take(has_vectors ? s.longer() * (is_full ? s.longer() : s.shorter()) : 0,
                           size_of(dtype))),
        turned(arrays.take(has_vectors ? s.shorter() * s.shorter() : 0, size_of(dtype))),
        lengths(arrays.take(s.shorter(), part_bytes(dtype))),
        order(arrays.take(s.shorter(), sizeof(int64_t))) {}
};

void run_svd(KernelContext& k) {
  const Sizes s(k.input(0).shape());
  const bool has_vectors = k.attr("compute_uv").as_bool(),
             is_full = k.attr("full_matrices").as_bool();
  if (k.output(0).num_elements() == 0 &&
      (!has_vectors || k.output(1).num_elements() + k.output(2).num_elements() == 0)) {
    return;
  }
  const SvdRoom room(s, k.input(0).dtype(), has_vectors, is_full, k.workspace());
  launch(k, "svd", s.count,
         words(k.in<void>(0), k.out<void>(0), has_vectors ? k.out<void>(1) : nullptr,
               has_vectors ? k.out<void>(2) : nullptr, room.a, room.longer, room.turned,
               room.lengths, room.order, s.count, s.m, s.n, is_full));
}
size_t svd_workspace(const OpCall& call, std::span<const Shape>) {
  const Tensor& x = call.inputs[0];
  return SvdRoom(Sizes(x.shape()), x.dtype(), call.attr("compute_uv").as_bool(),
                 call.attr("full_matrices").as_bool(), nullptr)
      .arrays.bytes();
}

TIDEMARK_KERNEL_OF(cuda, qr, kMatrices, run_qr, qr_workspace);
TIDEMARK_KERNEL_OF(cuda, eigh, kMatrices, run_eigh, eigh_workspace);
TIDEMARK_KERNEL_OF(cuda, svd, kMatrices, run_svd, svd_workspace);

}  // namespace

}  // namespace tidemark::cuda
