// Kernels of ops/audio_files.cpp.
#include <tidemark/kernel.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tidemark/base/codecs/wav.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/text/string_output.h"

namespace tidemark::cpu {

namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored low byte first");

constexpr int64_t kGrain = 1 << 15;  // samples

void decode_wav(KernelContext& k) {
  const codecs::Wav wav = codecs::read_wav(k.call().op.name(), k.input(0).string_at(0));
  const int64_t moments = k.output(0).shape()[0], channels = k.output(0).shape()[1];
  auto* out = k.out<float>(0);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, channels));
  parallel_for(moments, grain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        const int64_t from = at * wav.channels + std::min(channel, wav.channels - 1);
        int16_t sample = 0;
        if (at < wav.moments) std::memcpy(&sample, wav.samples.data() + 2 * from, 2);
        out[at * channels + channel] = static_cast<float>(sample) / 32768.f;
      }
    }
  });
  *k.out<int32_t>(1) = wav.rate;
}

void encode_wav(KernelContext& k) {
  const int64_t count = k.input(0).num_elements();
  const auto* samples = k.in<float>(0);
  StringSink sink(k, 0);
  sink.append(codecs::wav_header(k.input(0).shape()[1], *k.in<int32_t>(1), 2 * count));
  char* out = sink.extend(static_cast<size_t>(2 * count));
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float scaled = std::nearbyint(samples[i] * 32767.f);
      // A number that is none is silence.
      const float bounded = std::isnan(scaled) ? 0.f : std::clamp(scaled, -32768.f, 32767.f);
      const auto sample = static_cast<int16_t>(bounded);
      std::memcpy(out + 2 * i, &sample, 2);
    }
  });
  sink.close();
}

}  // namespace

TIDEMARK_KERNEL_OF(cpu, decode_wav, kString, decode_wav);
TIDEMARK_KERNEL_OF(cpu, encode_wav, dtype_set(DType::float32), encode_wav);

}  // namespace tidemark::cpu
