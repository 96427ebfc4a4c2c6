// Ops on WAV files.
#include <tidemark/op.h>

#include "tidemark/base/codecs/wav.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark {

namespace {

void decode_rule(InferContext& c) {
  if (c.shape(0).has_rank() && c.shape(0).rank() != 0) {
    c.fail("contents must be a scalar string, got shape ", c.shape(0).to_brackets());
  }
  int64_t moments = c.attr("desired_samples").as_int();
  int64_t channels = c.attr("desired_channels").as_int();
  c.set(1, Shape{});
  if (text::holds_values(c.call())) {
    const codecs::Wav wav = codecs::read_wav(c.op_name(), c.input(0).string_at(0));
    if (moments < 0) moments = wav.moments;
    if (channels < 0) channels = wav.channels;
  }
  c.set(0, Shape{moments < 0 ? kUnknownDim : moments, channels < 0 ? kUnknownDim : channels});
}

void encode_rule(InferContext& c) {
  c.set(0, Shape{});
  if (c.shape(1).has_rank() && c.shape(1).rank() != 0) {
    c.fail("sample_rate must be a scalar, got shape ", c.shape(1).to_brackets());
  }
  if (!c.shape(0).is_fully_known()) return;
  const Shape& s = c.shape(0);
  if (s.rank() != 2) c.fail("audio must be 2-dimensional, got ", s.to_brackets());
  constexpr int64_t kMostBytes = int64_t{1} << 32;
  const int64_t bytes = 2 * s.num_elements() + static_cast<int64_t>(codecs::kWavHeader);
  if (bytes >= kMostBytes || s[1] > 0xFFFF) {
    c.fail("a WAV file has less than 4 GiB and 65536 channels, got ", s.to_brackets());
  }
  c.set_string_bytes(0, bytes);
}

}  // namespace

TIDEMARK_OP(decode_wav)
    .doc(
        "The samples of a WAV file of 16 bits, [samples, channels] in [-1, 1), and how many there "
        "are in a second. The last channel stands for those beyond it, silence for later samples.")
    .tensorflow("DecodeWav", {}, "desired_channels desired_samples")
    .input("contents", kString)
    .attr("desired_channels", AttrKind::integer, -1)
    .attr("desired_samples", AttrKind::integer, -1)
    .output("audio", always(DType::float32))
    .output("sample_rate", always(DType::int32))
    .may_fail()
    .shape(decode_rule)
    .no_gradient();

TIDEMARK_OP(encode_wav)
    .doc("Samples [samples, channels] in [-1, 1] as a WAV file of 16 bits.")
    .python("tf.audio.encode_wav")
    .tensorflow("EncodeWav")
    .input("audio", dtype_set(DType::float32))
    .input("sample_rate", dtype_set(DType::int32), 'I')
    .output("contents", always(DType::string))
    .shape(encode_rule)
    .no_gradient();

}  // namespace tidemark
