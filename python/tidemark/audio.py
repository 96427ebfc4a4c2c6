"""``tf.audio``: samples in WAV files, 16 bits each."""

from __future__ import annotations

import collections
import struct

import numpy as np

from tidemark import dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import is_tracing
from tidemark.errors import InvalidArgumentError

_DecodeWav = collections.namedtuple("DecodeWav", ["audio", "sample_rate"])


def _bad(text):
    return InvalidArgumentError(None, None, f"[decode_wav] {text}")


def _chunks(data):
    """(name, content) of the parts of a RIFF file."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _bad("Header mismatch: Expected RIFF and WAVE")
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        if at + 8 + size > len(data):
            raise _bad(f"Data too short: the part {name!r} of {size} bytes ends after the file")
        yield name, data[at + 8 : at + 8 + size]
        at += 8 + size + (size & 1)


def _decoded(contents, desired_channels, desired_samples):
    channels = rate = samples = None
    for name, body in _chunks(contents):
        if name == b"fmt ":
            if len(body) < 16:
                raise _bad("Bad format chunk size for WAV: Expected 16 or more")
            kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", body)
            if kind not in (1, 0xFFFE):
                raise _bad(f"Bad audio format for WAV: Expected 1 (PCM), but got {kind}")
            if bits != 16 or channels == 0:
                raise _bad(f"Can only read 16-bit WAV files, but received {bits}")
        elif name == b"data" and channels:
            whole = len(body) // (2 * channels)
            samples = np.frombuffer(body, "<i2", whole * channels).reshape(whole, channels)
    if samples is None:
        raise _bad("No data chunk found in WAV")
    audio = samples.astype(np.float32) / np.float32(32768)
    if desired_channels >= 0:
        given = audio.shape[1]
        picked = [min(i, given - 1) for i in range(desired_channels)]
        audio = audio[:, picked]
    if desired_samples >= 0:
        fitted = np.zeros((desired_samples, audio.shape[1]), np.float32)
        kept = min(desired_samples, len(audio))
        fitted[:kept] = audio[:kept]
        audio = fitted
    return audio, rate


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The samples of a WAV file in [-1, 1], and how many there are in a second."""
    if is_tracing():
        from tidemark._graph.staged import python_call  # only graphs need it

        sizes = (desired_samples if desired_samples >= 0 else None,
                 desired_channels if desired_channels >= 0 else None)  # fmt: skip
        found = python_call(
            lambda text: tuple(decode_wav(text, desired_channels, desired_samples)),
            [contents],
            [(dtypes.float32, sizes), (dtypes.int32, ())],
            has_effect=False,
        )
        return _DecodeWav(*found)
    data = convert_to_tensor(contents).numpy()
    if not isinstance(data, bytes):
        raise InvalidArgumentError(None, None, "[decode_wav] contents must be a scalar string")
    audio, rate = _decoded(data, desired_channels, desired_samples)
    return _DecodeWav(convert_to_tensor(audio), convert_to_tensor(rate, dtype=dtypes.int32))


def encode_wav(audio, sample_rate, name=None):
    """The bytes of a WAV file with these samples."""
    audio = convert_to_tensor(audio, dtype=dtypes.float32)
    if is_tracing():
        from tidemark._graph.staged import python_call  # only graphs need it

        return python_call(encode_wav, [audio, sample_rate], [(dtypes.string, ())], False)[0]
    samples = audio.numpy()
    if samples.ndim != 2:
        raise InvalidArgumentError(
            None, None, f"[encode_wav] audio must be 2-dimensional, got {samples.shape}"
        )
    rate, channels = int(convert_to_tensor(sample_rate).numpy()), samples.shape[1]
    body = np.clip(np.rint(samples * 32767), -32768, 32767).astype("<i2").tobytes()
    head = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    parts = b"WAVEfmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(body))
    return convert_to_tensor(b"RIFF" + struct.pack("<I", len(parts) + len(body)) + parts + body)
