// tf.audio: samples in WAV files of 16 bits.
//
//   td::Tensor tone = td::sin(td::linspace(0.f, 440.f * 6.2832f, 8000));       // a second of it
//   td::Tensor file = td::audio::encode_wav(td::reshape(tone, td::constant({-1, 1})), 8000);
//   td::audio::DecodedWav heard = td::audio::decode_wav(file);    // audio (8000, 1), 8000 a second
#pragma once

#include <tidemark/ops.h>

namespace tidemark::audio {

struct WavOptions {
  int64_t desired_channels = -1;  // -1: those of the file; more of them are like the last
  int64_t desired_samples = -1;   // -1: those of the file; more of them are silent
};
struct DecodedWav {
  Tensor audio, sample_rate;  // float32 [samples, channels] in [-1, 1), int32
};
TIDEMARK_API DecodedWav decode_wav(const Tensor& contents, const WavOptions& options = {});

}  // namespace tidemark::audio
