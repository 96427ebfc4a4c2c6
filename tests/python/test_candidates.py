"""Classes drawn as negative examples: how often they come, and the losses that use them."""

import numpy as np
import pytest
from arrays import sample

import tidemark as tf

Invalid = tf.errors.InvalidArgumentError
TRUE = np.array([[0, 3], [9, 1]])


def log_uniform(size):
    k = np.arange(size)
    return (np.log(k + 2) - np.log(k + 1)) / np.log(size + 1)


SAMPLERS = {
    "uniform": (
        lambda n, unique, seed=None: tf.random.uniform_candidate_sampler(
            TRUE, 2, n, unique, 10, seed
        ),
        np.full(10, 0.1),
    ),
    "log_uniform": (
        lambda n, unique, seed=None: tf.random.log_uniform_candidate_sampler(
            TRUE, 2, n, unique, 10, seed
        ),
        log_uniform(10),
    ),
    "unigrams": (
        lambda n, unique, seed=None: tf.random.fixed_unigram_candidate_sampler(
            TRUE, 2, n, unique, 10, num_reserved_ids=1, unigrams=range(1, 10), seed=seed
        ),
        np.arange(10) / 45,
    ),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_frequencies_with_repetitions(name):
    draw, p = SAMPLERS[name]
    sampled, of_true, of_sampled = draw(50_000, False, 3)
    assert sampled.dtype is tf.int64 and of_true.shape == (2, 2)
    found = np.bincount(sampled.numpy(), minlength=10) / 50_000
    np.testing.assert_allclose(found, p, atol=0.012)
    np.testing.assert_allclose(of_true.numpy(), 50_000 * p[TRUE], rtol=1e-5)
    np.testing.assert_allclose(of_sampled.numpy(), 50_000 * p[sampled.numpy()], rtol=1e-5)


@pytest.mark.parametrize("name", SAMPLERS)
def test_frequencies_without_repetitions(name):
    draw, p = SAMPLERS[name]
    counts = np.zeros(10)
    for _ in range(400):
        sampled, of_true, _ = draw(4, True)
        assert len(set(sampled.numpy().tolist())) == 4
        counts[sampled.numpy()] += 1
    # Each class is expected as often as it comes: close, as the number of tries is a mean.
    np.testing.assert_allclose(of_true.numpy(), counts[TRUE] / 400, atol=0.1)
    everything, of_true, _ = draw(9, True)
    assert len(set(everything.numpy().tolist())) == 9


def test_a_seed_repeats_in_a_program():
    tf.random.set_seed(4)
    first = SAMPLERS["uniform"][0](9, False, 5)[0].numpy()
    tf.random.set_seed(4)
    np.testing.assert_array_equal(SAMPLERS["uniform"][0](9, False, 5)[0].numpy(), first)


def test_a_word_model_learns():
    """Each word predicts the next of ten; sampled losses find the full softmax's answer."""
    rng = np.random.default_rng(0)
    for loss_of in (tf.nn.sampled_softmax_loss, tf.nn.nce_loss):
        weights = tf.Variable(rng.normal(0, 0.1, (10, 10)).astype("f4"))
        biases = tf.Variable(np.zeros(10, "f4"))
        inputs = tf.constant(np.eye(10, dtype="f4"))
        labels = tf.constant((np.arange(10)[:, None] + 1) % 10, tf.int64)
        for _ in range(150):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(loss_of(weights, biases, labels, inputs, 5, 10))
            for v, g in zip((weights, biases), tape.gradient(loss, (weights, biases)), strict=True):
                v.assign_sub(2.0 * tf.convert_to_tensor(g))
        scores = inputs.numpy() @ weights.numpy().T + biases.numpy()
        np.testing.assert_array_equal(scores.argmax(1), labels.numpy()[:, 0])


def test_true_classes_that_were_sampled():
    """Removed, they count for nothing: as if they had not been sampled."""
    weights, biases = sample("float64", (6, 3)), sample("float64", (6,), 1)
    inputs = sample("float64", (1, 3), 2)
    expected = np.array([[0.5]]), np.array([0.5, 0.5])
    got = tf.nn.sampled_softmax_loss(
        weights, biases, [[2]], inputs, 2, 6, sampled_values=([2, 4], *expected)
    )
    logits = inputs[0] @ weights[[2, 4]].T + biases[[2, 4]] - np.log(0.5)
    np.testing.assert_allclose(got.numpy(), [np.log(np.exp(logits).sum()) - logits[0]], rtol=1e-6)


def test_bad_input():
    for ask in (
        lambda: tf.random.uniform_candidate_sampler([1, 2], 1, 3, True, 10),
        lambda: tf.random.uniform_candidate_sampler([[1]], 1, 11, True, 10),
        lambda: tf.random.uniform_candidate_sampler([[1]], 2, 3, True, 10),
        lambda: tf.random.log_uniform_candidate_sampler([[1]], 1, 0, False, 10),
        lambda: tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, False, 3, unigrams=[1, 2]),
        lambda: tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, False, 2, unigrams=[0, 0]),
    ):
        with pytest.raises(Invalid):
            ask()
    with pytest.raises(tf.errors.UnimplementedError, match="unigrams"):
        tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, False, 2, vocab_file="words.txt")
