#include <tidemark/audio.h>
#include <tidemark/call.h>

#include "tidemark/nn/building.h"

namespace tidemark::audio {

DecodedWav decode_wav(const Tensor& contents, const WavOptions& options) {
  TIDEMARK_HERE;
  const std::vector<Tensor> both =
      tidemark::decode_wav(contents, options.desired_channels, options.desired_samples);
  return {both[0], both[1]};
}

}  // namespace tidemark::audio
