"""How to call ops on WAV files, and what Python's own reader and writer say of them."""

import io
import wave

import numpy as np

from op_cases.drawing import Example, case


def written(samples, rate):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(samples.shape[1])
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def drawn(d):
    moments = d.int(0, 20) if not d.large else 40_000
    return d.rng.integers(-32768, 32768, (moments, d.int(1, 3))).astype(np.int16)


@case("decode_wav")
def decode_wav(d):
    samples, rate = drawn(d), d.int(1, 48_000)
    channels, moments = d.pick(-1, 0, 1, 4), d.pick(-1, 0, 7, 30)
    wanted = samples / np.float32(32768)
    if channels >= 0:
        wanted = wanted[:, [min(i, samples.shape[1] - 1) for i in range(channels)]]
    if moments >= 0:
        silence = np.zeros((max(moments - len(wanted), 0), wanted.shape[1]), np.float32)
        wanted = np.concatenate([wanted[:moments], silence])
    attrs = {"desired_channels": channels, "desired_samples": moments}
    file = np.array(written(samples, rate), object)
    return Example([file], attrs, lambda: [wanted.astype(np.float32), np.int32(rate)])


@case("encode_wav")
def encode_wav(d):
    samples, rate = drawn(d), np.int32(d.int(1, 48_000))
    audio = (samples / np.float32(32767) * d.pick(1, 1.5)).astype(np.float32)
    stored = np.clip(np.rint(audio * np.float32(32767)), -32768, 32767)
    file = np.array(written(stored, int(rate)), object)
    return Example([audio, rate], {}, lambda: file)
