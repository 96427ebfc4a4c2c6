#include "tidemark/base/codecs/wav.h"

#include <tidemark/error.h>

#include <optional>

namespace tidemark::codecs {

namespace {

uint32_t number_at(std::string_view bytes, size_t at, int size) {
  uint32_t out = 0;
  for (int i = size; i-- > 0;) out = out << 8 | static_cast<uint8_t>(bytes[at + size_t(i)]);
  return out;
}

void append(std::string& to, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

/// How samples are stored: 16 bits each, as numbers or in the form that says more of channels.
void read_format(std::string_view op, std::string_view body, Wav& out) {
  constexpr uint32_t kNumbers = 1, kExtended = 0xFFFE;
  if (body.size() < 16) fail("[", op, "] Bad format chunk size for WAV: Expected 16 or more");
  const uint32_t kind = number_at(body, 0, 2), bits = number_at(body, 14, 2);
  if (kind != kNumbers && kind != kExtended) {
    fail("[", op, "] Bad audio format for WAV: Expected 1 (PCM), but got ", kind);
  }
  out.channels = number_at(body, 2, 2);
  out.rate = static_cast<int32_t>(number_at(body, 4, 4));
  if (bits != 16 || out.channels == 0) {
    fail("[", op, "] Can only read 16-bit WAV files, but received ", bits);
  }
}

}  // namespace

Wav read_wav(std::string_view op, std::string_view file) {
  if (file.size() < 12 || file.substr(0, 4) != "RIFF" || file.substr(8, 4) != "WAVE") {
    fail("[", op, "] Header mismatch: Expected RIFF and WAVE");
  }
  Wav out;
  std::optional<std::string_view> samples;
  for (size_t at = 12; at + 8 <= file.size();) {
    const std::string_view name = file.substr(at, 4);
    const size_t size = number_at(file, at + 4, 4);
    if (size > file.size() - at - 8) {
      fail("[", op, "] Data too short: the part '", name, "' of ", size,
           " bytes ends after the file");
    }
    const std::string_view body = file.substr(at + 8, size);
    if (name == "fmt ") read_format(op, body, out);
    if (name == "data" && out.channels > 0) {
      const auto moment = static_cast<size_t>(2 * out.channels);
      out.moments = static_cast<int64_t>(body.size() / moment);
      samples = body.substr(0, body.size() / moment * moment);
    }
    at += 8 + size + (size & 1);
  }
  if (!samples) fail("[", op, "] No data chunk found in WAV");
  out.samples = *samples;
  return out;
}

std::string wav_header(int64_t channels, int32_t rate, int64_t sample_bytes) {
  const auto bytes = static_cast<uint32_t>(sample_bytes);
  const auto many = static_cast<uint32_t>(channels), fast = static_cast<uint32_t>(rate);
  std::string out = "RIFF";
  append(out, bytes + static_cast<uint32_t>(kWavHeader) - 8, 4);
  out += "WAVEfmt ";
  append(out, 16, 4);
  append(out, 1, 2);
  append(out, many, 2);
  append(out, fast, 4);
  append(out, fast * many * 2, 4);
  append(out, many * 2, 2);
  append(out, 16, 2);
  out += "data";
  append(out, bytes, 4);
  return out;
}

}  // namespace tidemark::codecs
