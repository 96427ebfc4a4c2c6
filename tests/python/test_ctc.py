"""Connectionist temporal classification against sums over every alignment there is."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def collapsed(path, blank):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def probabilities(logits, blank):
    """Label sequence → probability, over all paths through [time, classes]."""
    scores, found = log_softmax(logits.astype("float64")), {}
    for path in itertools.product(range(logits.shape[1]), repeat=len(logits)):
        p = np.exp(sum(scores[t, c] for t, c in enumerate(path)))
        labels = collapsed(path, blank)
        found[labels] = found.get(labels, 0) + p
    return found


def logits_of(seed, time, batch, classes, dtype="float64"):
    return np.random.default_rng(seed).normal(0, 1.5, (time, batch, classes)).astype(dtype)


@given(
    st.integers(0, 1000), st.integers(0, 5), st.integers(2, 4), st.integers(0, 3), st.integers(0, 3)
)
@settings(max_examples=60, deadline=None)
def test_loss_of_any_sequence(seed, time, classes, length, blank):
    blank = min(blank, classes - 1)
    logits = logits_of(seed, time, 1, classes)
    others = [c for c in range(classes) if c != blank]
    labels = np.random.default_rng(seed + 1).choice(others, (1, length)).astype("int32")
    loss = tf.nn.ctc_loss(labels, logits, [length], [time], blank_index=blank).numpy()
    p = probabilities(logits[:, 0], blank).get(tuple(labels[0].tolist()), 0.0)
    np.testing.assert_allclose(loss, [-np.log(p) if p else np.inf], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_loss_of_a_batch(dtype):
    logits = logits_of(0, 4, 3, 4, dtype)
    labels = np.array([[1, 1, 2], [3, 9, -4], [1, 2, 3]])  # beyond label_length nothing is read
    lengths, frames = [3, 1, 3], [4, 2, 2]
    loss = tf.nn.ctc_loss(labels, logits, lengths, frames)
    assert loss.dtype == dtype
    expected = [
        probabilities(logits[:t, b], 0).get(tuple(labels[b, :n].tolist()), 0.0)
        for b, (n, t) in enumerate(zip(lengths, frames, strict=True))
    ]
    assert expected[2] == 0  # three labels do not fit into two frames
    with np.errstate(divide="ignore"):
        rounding = 1e-3 if dtype == "float16" else 2e-6
        np.testing.assert_allclose(loss.numpy(), -np.log(expected), rtol=rounding)
    batch_major = tf.nn.ctc_loss(
        labels, logits.transpose(1, 0, 2), lengths, frames, logits_time_major=False
    )
    np.testing.assert_array_equal(batch_major.numpy(), loss.numpy())


def test_gradient():
    logits = logits_of(3, 4, 3, 4)
    labels = np.array([[1, 1, 2], [3, 0, 0], [1, 2, 3]])
    x = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.ctc_loss(labels, x, [3, 1, 3], [4, 2, 2])
    dx = tape.gradient(loss, x).numpy()
    assert np.isfinite(dx).all()
    assert not dx[2:, 1].any()  # after the last frame
    assert not dx[:, 2].any()  # impossible
    for t, c in itertools.product(range(4), range(4)):
        moved = logits.copy()
        moved[t, :, c] += 1e-6
        up = tf.nn.ctc_loss(labels, moved, [3, 1, 3], [4, 2, 2]).numpy()
        moved[t, :, c] -= 2e-6
        down = tf.nn.ctc_loss(labels, moved, [3, 1, 3], [4, 2, 2]).numpy()
        np.testing.assert_allclose(dx[t, :2, c], (up[:2] - down[:2]) / 2e-6, atol=1e-7)


def test_a_long_sequence_neither_overflows_nor_vanishes():
    logits = logits_of(0, 500, 2, 30, "float32") * 10
    labels = np.random.default_rng(0).integers(1, 30, (2, 60))
    x = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.ctc_loss(labels, x, [60, 60], [500, 499])
    assert np.isfinite(loss.numpy()).all() and (loss.numpy() > 100).all()
    sums = tape.gradient(loss, x).numpy().sum(-1)  # probabilities less shares: both sum to 1
    np.testing.assert_allclose(sums, np.zeros(sums.shape), atol=1e-5)


def test_sparse_labels():
    logits = logits_of(1, 4, 3, 4)
    sparse = SimpleNamespace(indices=[[0, 0], [0, 1], [2, 0]], values=[0, 2, 1], dense_shape=[3, 2])
    got = tf.nn.ctc_loss(sparse, logits, None, [4, 3, 4], blank_index=-1)
    expected = tf.nn.ctc_loss([[0, 2], [0, 0], [1, 0]], logits, [2, 0, 1], [4, 3, 4], blank_index=3)
    np.testing.assert_array_equal(got.numpy(), expected.numpy())
    with pytest.raises(ValueError, match="blank_index"):
        tf.nn.ctc_loss(sparse, logits, None, [4, 3, 4])


def rows_of(sparse):
    rows = [[] for _ in range(int(sparse.dense_shape.numpy()[0]))]
    for (row, column), value in zip(
        sparse.indices.numpy().tolist(), sparse.values.numpy().tolist(), strict=True
    ):
        assert column == len(rows[row])
        rows[row].append(value)
    assert max(map(len, rows), default=0) == sparse.dense_shape.numpy()[1]
    return rows


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("blank", [None, 0, 2])
def test_greedy_decoder(blank, merge):
    logits = logits_of(5, 9, 4, 4)
    lengths = [9, 3, 0, 7]
    decoded, score = tf.nn.ctc_greedy_decoder(logits, lengths, merge, blank)
    index = 3 if blank is None else blank
    for row, (b, n) in zip(rows_of(decoded[0]), enumerate(lengths), strict=True):
        best = logits[:n, b].argmax(-1).tolist()
        merged = [k for k, _ in itertools.groupby(best)] if merge else best
        assert row == [k for k in merged if k != index]
        np.testing.assert_allclose(score.numpy()[b, 0], -logits[:n, b].max(-1).sum(), atol=1e-12)


@given(st.integers(0, 1000), st.integers(0, 5), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_wide_beam_finds_the_most_probable(seed, time, classes):
    logits = logits_of(seed, time, 2, classes)
    decoded, scores = tf.nn.ctc_beam_search_decoder(logits, [time, time], 2000, 3)
    for b in range(2):
        found = probabilities(logits[:, b], classes - 1)
        best = sorted(found.items(), key=lambda item: -item[1])[:3]
        for path, (labels, p) in enumerate(best):
            assert tuple(rows_of(decoded[path])[b]) == labels
            np.testing.assert_allclose(scores.numpy()[b, path], np.log(p), rtol=1e-9, atol=1e-12)
        assert (scores.numpy()[b, len(best) :] == -np.inf).all()


def test_a_narrow_beam():
    logits = logits_of(2, 12, 3, 6, "float32")
    wide, wide_score = tf.nn.ctc_beam_search_decoder(logits, [12, 5, 0], 200, 1)
    narrow, score = tf.nn.ctc_beam_search_decoder(logits, [12, 5, 0], 2, 2)
    assert (score.numpy()[:, 0] <= wide_score.numpy()[:, 0] + 1e-6).all()
    assert (score.numpy()[:, 0] >= score.numpy()[:, 1]).all()
    assert rows_of(narrow[0])[2] == rows_of(wide[0])[2] == []


def test_numbers_that_are_none():
    logits = logits_of(2, 5, 1, 4, "float32")
    logits[2] = np.nan
    decoded, _ = tf.nn.ctc_beam_search_decoder(logits, [5], 10, 2)
    assert len(decoded) == 2
    assert not np.isfinite(tf.nn.ctc_loss([[1, 2]], logits, [2], [5]).numpy()).any()
    logits[2] = np.inf
    tf.nn.ctc_beam_search_decoder(logits, [5], 10, 2)
    tf.nn.ctc_greedy_decoder(logits, [5])


def test_empty_batches():
    assert tf.nn.ctc_loss(np.zeros((0, 3), "int32"), np.zeros((4, 0, 5)), [], []).shape == (0,)
    decoded, score = tf.nn.ctc_greedy_decoder(np.zeros((4, 0, 5)), np.zeros(0, "int32"))
    assert rows_of(decoded[0]) == [] and score.shape == (0, 1)


def test_collapse_repeated_and_unique_labels():
    rows, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    np.testing.assert_array_equal(rows.numpy(), [[1, 2, 1], [3, 0, 0]])
    np.testing.assert_array_equal(lengths.numpy(), [3, 1])
    unique, index = tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
    np.testing.assert_array_equal(unique.numpy(), [[3, 4, 0, 0]])
    np.testing.assert_array_equal(index.numpy(), [[0, 1, 1, 0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [[1, 4]]}, r"\[0, 4\)"),
        ({"labels": [1, 2]}, "labels"),
        ({"labels": [[1, 2], [1, 2]]}, "labels"),
        ({"label_length": [3]}, "label_length"),
        ({"label_length": [1, 1]}, "label_length"),
        ({"logit_length": [6]}, "logit_length"),
        ({"logit_length": [-1]}, "logit_length"),
        ({"logits": np.zeros((5, 4))}, "time, batch, classes"),
        ({"blank_index": 4}, "blank_index"),
        ({"blank_index": -5}, "blank_index"),
    ],
)
def test_bad_losses(change, message):
    given = {
        "labels": [[1, 2]],
        "logits": np.zeros((5, 1, 4)),
        "label_length": [2],
        "logit_length": [5],
    }
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.nn.ctc_loss(**{**given, **change})


def test_bad_decoding():
    logits = np.zeros((5, 1, 4))
    for paths, width in ((2, 1), (0, 1), (1, 0)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="top_paths|beam_width"):
            tf.nn.ctc_beam_search_decoder(logits, [5], width, paths)
    for decoder in (tf.nn.ctc_beam_search_decoder, tf.nn.ctc_greedy_decoder):
        with pytest.raises(tf.errors.InvalidArgumentError, match="sequence_length"):
            decoder(logits, [6])
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one class"):
            decoder(np.zeros((5, 1, 0)), [5])


def test_a_blank_among_the_labels_is_a_label_like_others():
    logits = np.random.default_rng(0).standard_normal((5, 1, 3)).astype(np.float32)
    logits = tf.constant(logits)

    def loss(labels):
        lengths = tf.constant([len(labels)])
        return float(tf.nn.ctc_loss([labels], logits, lengths, tf.constant([5]), blank_index=0)[0])

    scores = tf.nn.log_softmax(logits[:, 0]).numpy()
    # Only the blank: every path of blanks alone, once for each place of the "label" in it.
    ways = np.log(5 * 6 / 2)
    assert loss([0]) == pytest.approx(-(scores[:, 0].sum() + ways), rel=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be in \[0, 3\)"):
        loss([3])
