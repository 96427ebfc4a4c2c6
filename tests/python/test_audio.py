"""WAV files, and hashed crosses: values recorded from TensorFlow 2.21."""

import numpy as np
import pytest

import tidemark as tf


def test_waves_there_and_back():
    rng = np.random.default_rng(1)
    samples = rng.integers(-32767, 32767, (50, 2)).astype(np.float32) / 32767
    text = tf.audio.encode_wav(samples, 8000)
    audio, rate = tf.audio.decode_wav(text)
    assert int(rate) == 8000
    np.testing.assert_allclose(audio, samples * 32767 / 32768, atol=1e-6)
    mono = tf.audio.decode_wav(text, desired_channels=1, desired_samples=60).audio.numpy()
    assert mono.shape == (60, 1) and (mono[50:] == 0).all()
    inside = tf.function(lambda t: tf.audio.decode_wav(t).audio)(text)
    np.testing.assert_array_equal(inside, audio)


@pytest.mark.parametrize("cut", [0, 3, 11, 20, 43, 60])
def test_damaged_waves(cut):
    whole = tf.audio.encode_wav(np.zeros((40, 1), np.float32), 8000).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.audio.decode_wav(whole[:cut])


def test_hashed_crosses():
    columns = [tf.constant([["a", "b"], ["c", "d"]]), tf.constant([[1], [2]], tf.int64)]
    out = tf.sparse.cross_hashed(columns, num_buckets=1000)
    assert out.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert out.values.numpy().tolist() == [485, 983, 523, 923]


def test_arrays_of_other_numbers_become_the_only_dtype():
    zeros = np.zeros((3, 1))
    wanted = tf.audio.encode_wav(zeros.astype(np.float32), 8000).numpy()
    for given in (zeros, zeros.astype(np.int64), [[0], [0], [0]], [[0.0], [0.0], [0.0]]):
        assert tf.audio.encode_wav(given, np.int64(8000)).numpy() == wanted
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64"):
        tf.audio.encode_wav(tf.constant(zeros), 8000)
    boxes = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9]])
    assert list(tf.image.non_max_suppression(boxes, np.array([0.1, 0.2]), 2)) == [1]
