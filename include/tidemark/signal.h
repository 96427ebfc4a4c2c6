// tf.signal: Fourier and cosine transforms, windows, frames, spectrograms.
//
//   td::Tensor wave = td::sin(td::cast(td::arange(512), td::DType::float32) * 0.1f);
//   td::Tensor seen = td::signal::stft(wave, 128, 64);               // complex64, (7, 65)
//   td::Tensor back = td::signal::inverse_stft(seen, 128, 64, {
//       .window_fn = td::signal::inverse_stft_window_fn(64)});
//   td::Tensor mel = td::matmul(td::abs(seen), td::signal::linear_to_mel_weight_matrix({
//       .num_spectrogram_bins = 65}));
#pragma once

#include <tidemark/ops.h>

#include <functional>
#include <optional>
#include <string>

namespace tidemark::signal {

// --- Fourier ------------------------------------------------------------------------------------

/// Over the last one, two or three dimensions; and back.
TIDEMARK_API Tensor fft(const Tensor& input);
TIDEMARK_API Tensor fft2d(const Tensor& input);
TIDEMARK_API Tensor fft3d(const Tensor& input);
TIDEMARK_API Tensor ifft(const Tensor& input);
TIDEMARK_API Tensor ifft2d(const Tensor& input);
TIDEMARK_API Tensor ifft3d(const Tensor& input);
/// Of real numbers: the half that is not a mirror image. `fft_length`, one for each dimension: cut
/// or filled up with zeros before.
TIDEMARK_API Tensor rfft(const Tensor& input, const Ints& fft_length = {});
TIDEMARK_API Tensor rfft2d(const Tensor& input, const Ints& fft_length = {});
TIDEMARK_API Tensor rfft3d(const Tensor& input, const Ints& fft_length = {});
TIDEMARK_API Tensor irfft(const Tensor& input, const Ints& fft_length = {});
TIDEMARK_API Tensor irfft2d(const Tensor& input, const Ints& fft_length = {});
TIDEMARK_API Tensor irfft3d(const Tensor& input, const Ints& fft_length = {});
struct FftndOptions {
  Ints fft_length = {};                     // none: the sizes as they are
  std::optional<Ints> axes = std::nullopt;  // none: all
  std::string norm = "backward";            // "ortho", "forward"
};
/// Over any dimensions.
TIDEMARK_API Tensor fftnd(const Tensor& input, const FftndOptions& options = {});
TIDEMARK_API Tensor ifftnd(const Tensor& input, const FftndOptions& options = {});
TIDEMARK_API Tensor rfftnd(const Tensor& input, const FftndOptions& options = {});
TIDEMARK_API Tensor irfftnd(const Tensor& input, const FftndOptions& options = {});
/// Frequency 0 moved to the middle, and back; along all dimensions unless told.
TIDEMARK_API Tensor fftshift(const Tensor& x, const std::optional<Ints>& axes = std::nullopt);
TIDEMARK_API Tensor ifftshift(const Tensor& x, const std::optional<Ints>& axes = std::nullopt);

// --- windows ------------------------------------------------------------------------------------

struct WindowOptions {
  bool periodic = true;
  DType dtype = DType::float32;
};
TIDEMARK_API Tensor hann_window(int64_t window_length, const WindowOptions& options = {});
TIDEMARK_API Tensor hamming_window(int64_t window_length, const WindowOptions& options = {});
TIDEMARK_API Tensor kaiser_window(int64_t window_length, double beta = 12,
                                  DType dtype = DType::float32);
TIDEMARK_API Tensor kaiser_bessel_derived_window(int64_t window_length, double beta = 12,
                                                 DType dtype = DType::float32);
TIDEMARK_API Tensor vorbis_window(int64_t window_length, DType dtype = DType::float32);

/// Makes a window of a length; empty: none.
using WindowFunction = std::function<Tensor(int64_t length, DType dtype)>;
/// hann_window and vorbis_window as such.
TIDEMARK_API WindowFunction hann();
TIDEMARK_API WindowFunction vorbis();

// --- frames and spectrograms --------------------------------------------------------------------

struct FrameOptions {
  bool pad_end = false;
  double pad_value = 0;
  int64_t axis = -1;
};
/// Pieces of `frame_length` along an axis, one every `frame_step`, as a new axis.
TIDEMARK_API Tensor frame(const Tensor& signal, int64_t frame_length, int64_t frame_step,
                          const FrameOptions& options = {});
/// Frames laid over one another, each `frame_step` after the one before, and added.
TIDEMARK_API Tensor overlap_and_add(const Tensor& signal, int64_t frame_step);
struct StftOptions {
  int64_t fft_length = -1;  // -1: the power of 2 that a frame fits into
  WindowFunction window_fn = hann();
  bool pad_end = false;
};
/// Fourier transforms of the windowed frames of real signals.
TIDEMARK_API Tensor stft(const Tensor& signals, int64_t frame_length, int64_t frame_step,
                         const StftOptions& options = {});
struct InverseStftOptions {
  int64_t fft_length = -1;
  WindowFunction window_fn = hann();
};
/// The signals whose short-time transforms are given.
TIDEMARK_API Tensor inverse_stft(const Tensor& stfts, int64_t frame_length, int64_t frame_step,
                                 const InverseStftOptions& options = {});
/// The window for inverse_stft that undoes the one of stft.
TIDEMARK_API WindowFunction inverse_stft_window_fn(int64_t frame_step,
                                                   WindowFunction forward_window_fn = hann());
struct MelOptions {
  int64_t num_mel_bins = 20, num_spectrogram_bins = 129;
  double sample_rate = 8000, lower_edge_hertz = 125, upper_edge_hertz = 3800;
  DType dtype = DType::float32;
};
/// Weights that turn the frequencies of a spectrogram into mel bands.
TIDEMARK_API Tensor linear_to_mel_weight_matrix(const MelOptions& options = {});
/// Mel-frequency cepstral coefficients.
TIDEMARK_API Tensor mfccs_from_log_mel_spectrograms(const Tensor& log_mel_spectrograms);

// --- cosines ------------------------------------------------------------------------------------

struct DctOptions {
  int type = 2;           // 1 to 4
  int64_t n = -1;         // cut or filled up with zeros to this length
  std::string norm = "";  // "ortho"
};
/// The discrete cosine transform along the last dimension.
TIDEMARK_API Tensor dct(const Tensor& input, const DctOptions& options = {});
/// Its inverse, up to a factor of twice the length unless it is "ortho".
TIDEMARK_API Tensor idct(const Tensor& input, const DctOptions& options = {});
struct MdctOptions {
  WindowFunction window_fn = vorbis();
  bool pad_end = false;
  std::string norm = "";
};
/// Modified cosine transforms of frames that overlap by half.
TIDEMARK_API Tensor mdct(const Tensor& signals, int64_t frame_length,
                         const MdctOptions& options = {});
/// The signals whose modified cosine transforms are given.
TIDEMARK_API Tensor inverse_mdct(const Tensor& mdcts, const MdctOptions& options = {});

}  // namespace tidemark::signal

namespace tidemark {
using signal::fftnd;
using signal::ifftnd;
using signal::irfftnd;
using signal::rfftnd;
}  // namespace tidemark
