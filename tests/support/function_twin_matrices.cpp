// Functions of tf.linalg and tf.signal.
#include "function_twin.h"

namespace td = tidemark;

namespace function_twin {

namespace {
namespace la = tidemark::linalg;
namespace sg = tidemark::signal;

/// With a sign that does not depend on the way there: of orthogonal factors.
td::Tensor magnitude(const td::Tensor& x) { return td::abs(x); }
}  // namespace

Functions matrix_functions() {
  return {
      {"linalg.matvec", [](const Tensors& x) { return Tensors{la::matvec(x[0], x[1])}; }},
      {"linalg.matvec_transpose",
       [](const Tensors& x) { return Tensors{la::matvec(x[0], x[1], {.transpose_a = true})}; }},
      {"linalg.matrix_transpose",
       [](const Tensors& x) { return Tensors{la::matrix_transpose(x[0])}; }},
      {"linalg.adjoint",
       [](const Tensors& x) { return Tensors{la::adjoint(td::complex(x[0], x[1]))}; }},
      {"linalg.cross", [](const Tensors& x) { return Tensors{la::cross(x[0], x[1])}; }},
      {"linalg.diag", [](const Tensors& x) { return Tensors{la::diag(x[0])}; }},
      {"linalg.diag_band",
       [](const Tensors& x) {
         return Tensors{la::diag(x[0], {.k = {-1, 1}, .padding_value = 9})};
       }},
      {"linalg.diag_rows",
       [](const Tensors& x) { return Tensors{la::diag(x[0], {.k = 1, .num_rows = 4})}; }},
      {"linalg.diag_part", [](const Tensors& x) { return Tensors{la::diag_part(x[0])}; }},
      {"linalg.diag_part_band",
       [](const Tensors& x) {
         return Tensors{la::diag_part(x[0], {.k = {-1, 1}, .padding_value = 7})};
       }},
      {"linalg.set_diag", [](const Tensors& x) { return Tensors{la::set_diag(x[0], x[1])}; }},
      {"linalg.trace", [](const Tensors& x) { return Tensors{la::trace(x[0])}; }},
      {"linalg.tensor_diag", [](const Tensors& x) { return Tensors{la::tensor_diag(x[0])}; }},
      {"linalg.tensor_diag_part",
       [](const Tensors& x) { return Tensors{la::tensor_diag_part(x[0])}; }},
      {"linalg.l2_normalize", [](const Tensors& x) { return Tensors{la::l2_normalize(x[0])}; }},
      {"linalg.l2_normalize_axis",
       [](const Tensors& x) { return Tensors{la::l2_normalize(x[0], td::Ints{1})}; }},
      {"linalg.normalize",
       [](const Tensors& x) {
         const auto [normalized, norm] = la::normalize(x[0], {.axis = {1}});
         return Tensors{normalized, norm};
       }},
      {"linalg.qr",
       [](const Tensors& x) {
         const auto [q, r] = la::qr(x[0]);
         return Tensors{magnitude(q), magnitude(r), td::matmul(q, r)};
       }},
      {"linalg.svd",
       [](const Tensors& x) {
         const auto [s, u, v] = la::svd(x[0]);
         return Tensors{s, magnitude(u), magnitude(v), la::singular_values(x[0])};
       }},
      {"linalg.lu",
       [](const Tensors& x) {
         const auto [lu, p] = la::lu(x[0]);
         return Tensors{lu, p, la::lu_reconstruct(lu, p), la::lu_solve(lu, p, x[1]),
                        la::lu_matrix_inverse(lu, p)};
       }},
      {"linalg.eigh",
       [](const Tensors& x) {
         const auto [e, v] = la::eigh(x[0]);
         return Tensors{e, magnitude(v), la::eigvalsh(x[0])};
       }},
      {"linalg.eigvals",
       [](const Tensors& x) {
         return Tensors{td::sort(td::math::real(la::eigvals(x[0]))),
                        td::sort(td::math::real(la::eig(x[0]).e))};
       }},
      {"linalg.eigh_tridiagonal",
       [](const Tensors& x) { return Tensors{la::eigh_tridiagonal(x[0], x[1])}; }},
      {"linalg.cholesky_solve",
       [](const Tensors& x) { return Tensors{la::cholesky_solve(la::cholesky(x[0]), x[1])}; }},
      {"linalg.lstsq", [](const Tensors& x) { return Tensors{la::lstsq(x[0], x[1])}; }},
      {"linalg.lstsq_wide",
       [](const Tensors& x) { return Tensors{la::lstsq(x[0], x[1], {.l2_regularizer = 0.1})}; }},
      {"linalg.lstsq_slow",
       [](const Tensors& x) { return Tensors{la::lstsq(x[0], x[1], {.fast = false})}; }},
      {"linalg.pinv", [](const Tensors& x) { return Tensors{la::pinv(x[0])}; }},
      {"linalg.matrix_rank", [](const Tensors& x) { return Tensors{la::matrix_rank(x[0])}; }},
      {"linalg.logdet", [](const Tensors& x) { return Tensors{la::logdet(x[0])}; }},
      {"linalg.slogdet",
       [](const Tensors& x) {
         const auto [sign, logarithm] = la::slogdet(x[0]);
         return Tensors{sign, logarithm};
       }},
      {"linalg.tridiagonal_solve",
       [](const Tensors& x) { return Tensors{la::tridiagonal_solve(x[0], x[1])}; }},
      {"linalg.tridiagonal_matmul",
       [](const Tensors& x) { return Tensors{la::tridiagonal_matmul(x[0], x[1])}; }},
      {"linalg.banded_triangular_solve",
       [](const Tensors& x) { return Tensors{la::banded_triangular_solve(x[0], x[1])}; }},
  };
}

Functions signal_functions() {
  return {
      {"signal.fft2d",
       [](const Tensors& x) { return Tensors{sg::fft2d(td::complex(x[0], x[1]))}; }},
      {"signal.ifft3d",
       [](const Tensors& x) { return Tensors{sg::ifft3d(td::complex(x[0], x[1]))}; }},
      {"signal.rfft", [](const Tensors& x) { return Tensors{sg::rfft(x[0])}; }},
      {"signal.rfft_length", [](const Tensors& x) { return Tensors{sg::rfft(x[0], {12})}; }},
      {"signal.rfft2d",
       [](const Tensors& x) {
         return Tensors{sg::rfft2d(x[0], {3, 4})};
       }},
      {"signal.irfft",
       [](const Tensors& x) { return Tensors{sg::irfft(td::complex(x[0], x[1]))}; }},
      {"signal.irfft2d",
       [](const Tensors& x) {
         return Tensors{sg::irfft2d(td::complex(x[0], x[1]), {4, 7})};
       }},
      {"signal.fftnd",
       [](const Tensors& x) {
         const td::Tensor z = td::complex(x[0], x[1]);
         return Tensors{td::fftnd(z), sg::ifftnd(z, {.axes = td::Ints{0}, .norm = "ortho"}),
                        sg::rfftnd(x[0], {.fft_length = {4, 5}, .norm = "forward"}),
                        sg::irfftnd(z, {.axes = td::Ints{-1, 0}})};
       }},
      {"signal.fftshift", [](const Tensors& x) { return Tensors{sg::fftshift(x[0])}; }},
      {"signal.ifftshift",
       [](const Tensors& x) { return Tensors{sg::ifftshift(x[0], td::Ints{1})}; }},
      {"signal.hann_window",
       [](const Tensors&) {
         return Tensors{sg::hann_window(8), sg::hann_window(7, {.periodic = false})};
       }},
      {"signal.hamming_window", [](const Tensors&) { return Tensors{sg::hamming_window(9)}; }},
      {"signal.kaiser_window", [](const Tensors&) { return Tensors{sg::kaiser_window(9, 4)}; }},
      {"signal.kaiser_bessel_derived_window",
       [](const Tensors&) { return Tensors{sg::kaiser_bessel_derived_window(8)}; }},
      {"signal.vorbis_window", [](const Tensors&) { return Tensors{sg::vorbis_window(8)}; }},
      {"signal.frame", [](const Tensors& x) { return Tensors{sg::frame(x[0], 4, 3)}; }},
      {"signal.frame_pad",
       [](const Tensors& x) {
         return Tensors{sg::frame(x[0], 4, 3, {.pad_end = true, .pad_value = 2, .axis = 0})};
       }},
      {"signal.overlap_and_add",
       [](const Tensors& x) { return Tensors{sg::overlap_and_add(x[0], 2)}; }},
      {"signal.stft", [](const Tensors& x) { return Tensors{sg::stft(x[0], 6, 2)}; }},
      {"signal.inverse_stft",
       [](const Tensors& x) {
         return Tensors{sg::inverse_stft(sg::stft(x[0], 8, 4), 8, 4,
                                         {.window_fn = sg::inverse_stft_window_fn(4)})};
       }},
      {"signal.linear_to_mel_weight_matrix",
       [](const Tensors&) { return Tensors{sg::linear_to_mel_weight_matrix()}; }},
      {"signal.mfccs_from_log_mel_spectrograms",
       [](const Tensors& x) { return Tensors{sg::mfccs_from_log_mel_spectrograms(x[0])}; }},
      {"signal.dct",
       [](const Tensors& x) {
         return Tensors{sg::dct(x[0], {.type = 1}),
                        sg::dct(x[0]),
                        sg::dct(x[0], {.type = 3}),
                        sg::dct(x[0], {.type = 4}),
                        sg::dct(x[0], {.n = 4, .norm = "ortho"}),
                        sg::dct(x[0], {.type = 3, .norm = "ortho"}),
                        sg::idct(x[0], {.norm = "ortho"})};
       }},
      {"signal.mdct",
       [](const Tensors& x) {
         return Tensors{sg::mdct(x[0], 8), sg::inverse_mdct(sg::mdct(x[0], 8))};
       }},
  };
}

}  // namespace function_twin
