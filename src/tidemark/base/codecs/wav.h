// WAV files of 16-bit samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::codecs {

/// What a file has; `samples` is a part of it, two bytes each, the channels of a moment together.
struct Wav {
  int64_t channels = 0, moments = 0;
  int32_t rate = 0;
  std::string_view samples;
};

/// Throws InvalidArgumentError for what is no such file, or is cut off.
Wav read_wav(std::string_view op, std::string_view file);

inline constexpr size_t kWavHeader = 44;
/// The first `kWavHeader` bytes of a file with so many of samples.
std::string wav_header(int64_t channels, int32_t rate, int64_t sample_bytes);

}  // namespace tidemark::codecs
