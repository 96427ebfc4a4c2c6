"""``tf.audio``: samples in WAV files, 16 bits each."""

from __future__ import annotations

import collections

from tidemark._export import namespace as _namespace
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call

_DecodeWav = collections.namedtuple("DecodeWav", ["audio", "sample_rate"])

globals().update(_namespace("tf.audio"))


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The samples of a WAV file in [-1, 1], and how many there are in a second."""
    attrs = {"desired_channels": int(desired_channels), "desired_samples": int(desired_samples)}
    return _DecodeWav(*call("decode_wav", (convert_to_tensor(contents),), attrs))
