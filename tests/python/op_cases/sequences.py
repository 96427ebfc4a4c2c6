"""Labels of sequences, by going through every alignment, and sets."""

import itertools

import numpy as np

from op_cases.drawing import Example, case, narrow, wide
from op_cases.reductions import log_sum_exp


def labels_of(path, blank):
    """What an alignment spells: repetitions once, blanks not at all."""
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def alignments(scores, blank):
    """Every alignment of [time, classes] log probabilities: labels, path, log probability."""
    time, classes = scores.shape
    for path in itertools.product(range(classes), repeat=time):
        yield labels_of(path, blank), path, sum(scores[t, c] for t, c in enumerate(path))


def log_probabilities(x):
    return wide(x) - log_sum_exp(wide(x), (2,), True)


@case("ctc_loss", "ctc_loss_grad")
def ctc_loss(d):
    time, batch, classes = (d.int(1, 4), d.int(1, 3), 3) if not d.large else (60, 40, 21)
    x = d.finite((time, batch, classes))
    blank = d.int(0, classes - 1)
    frames = d.rng.integers(1, time + 1, batch)
    lengths = d.rng.integers(0, np.minimum(frames, 2) + 1)
    others = [c for c in range(classes) if c != blank]
    labels = d.rng.choice(others, (batch, 2))
    kind = d.index_dtype()
    inputs = [x, labels.astype(kind), lengths.astype(kind), frames.astype(kind)]
    dloss = d.finite(batch)

    def compute():
        loss, slope = np.full(batch, np.inf), np.zeros(x.shape)
        logs = log_probabilities(x)
        for b in range(batch):
            wanted = tuple(labels[b, : lengths[b]])
            mine = [a for a in alignments(logs[: frames[b], b], blank) if a[0] == wanted]
            if not mine:
                continue
            weights = np.array([log for _, _, log in mine])
            total = log_sum_exp(weights, (0,), False)
            loss[b] = -total
            slope[: frames[b], b] = np.exp(logs[: frames[b], b])
            for (_, path, _), log in zip(mine, weights, strict=True):
                slope[np.arange(frames[b]), b, path] -= np.exp(log - total)
        return loss, slope * wide(dloss)[None, :, None]

    at = 0 if d.op == "ctc_loss" else 1
    if at == 1:
        inputs = [dloss, *inputs]
    return Example(
        inputs,
        {"blank_index": blank},
        lambda: narrow(compute()[at], d.dtype),
        ulps=64,
        atol=64,
        slow=True,
    )


@case("ctc_greedy_decode")
def greedy(d):
    time, batch, classes = (d.int(1, 6), d.int(1, 4), 3) if not d.large else (90, 50, 31)
    x, merge, blank = d.finite((time, batch, classes)), d.flag(), d.int(0, classes - 1)
    frames = d.rng.integers(0, time + 1, batch)

    def expected():
        out = np.full((batch, time), -1, np.int64)
        for b in range(batch):
            best = wide(x)[: frames[b], b].argmax(-1).tolist()
            if merge:
                best = [k for k, _ in itertools.groupby(best)]
            best = [k for k in best if k != blank]
            out[b, : len(best)] = best
        top = wide(x).max(-1)
        sums = [-top[: frames[b], b].sum() for b in range(batch)]
        return out, narrow(np.reshape(sums, (batch, 1)), d.dtype)

    return Example(
        [x, frames.astype(d.index_dtype())],
        {"merge_repeated": merge, "blank_index": blank},
        expected,
        ulps=64,
        atol=64,
    )


@case("ctc_beam_search_decode")
def beam(d):
    """A beam wide enough for every sequence finds the best of all."""
    time, batch, classes = (d.int(1, 4), d.int(1, 3), 3) if not d.large else (30, 12, 9)
    x = d.finite((time, batch, classes))
    frames = d.rng.integers(1, time + 1, batch)

    def check(outputs):
        decoded, score = outputs
        logs = log_probabilities(x)
        assert decoded.shape == (1, batch, time) and score.shape == (batch, 1)
        for b in range(batch):
            totals = {}
            for spelled, _, log in alignments(logs[: frames[b], b], classes - 1):
                totals[spelled] = np.logaddexp(totals.get(spelled, -np.inf), log)
            best = max(totals.values())
            found = tuple(decoded[0, b][decoded[0, b] >= 0].tolist())
            np.testing.assert_allclose(totals[found], best, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(wide(score)[b, 0], best, rtol=1e-4, atol=1e-4)

    return Example(
        [x, frames.astype(d.index_dtype())],
        {"beam_width": 100, "top_paths": 1},
        check=check,
        slow=True,
    )


@case("set_operation")
def set_operation(d):
    rows = d.shape(1, 2, dims=1) if not d.large else (301,)
    a, b = d.values((*rows, d.int(0, 5))), d.values((*rows, d.int(0, 5)))
    kind = d.pick("a-b", "b-a", "intersection", "union")

    def expected():
        indices, values, widest = [], [], 0
        for at in np.ndindex(*rows):
            x, y = set(a[at].tolist()), set(b[at].tolist())
            result = {"a-b": x - y, "b-a": y - x, "intersection": x & y, "union": x | y}[kind]
            for i, value in enumerate(sorted(result)):
                indices.append((*at, i))
                values.append(value)
            widest = max(widest, len(result))
        table = np.array(indices, np.int64).reshape(len(indices), len(rows) + 1)
        return table, np.array(values, a.dtype), np.array([*rows, widest], np.int64)

    return Example([a, b], {"set_operation": kind}, expected)
