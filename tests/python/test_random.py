"""tf.random: seeds repeat, streams differ, distributions are right, threads do not matter."""

import math

import numpy as np
import pytest

import tidemark as tf

FLOATS = (tf.float16, tf.bfloat16, tf.float32, tf.float64)


def draw():
    return [
        tf.random.normal([5]).numpy(),
        tf.random.uniform([5]).numpy(),
        tf.random.uniform([5], maxval=1000, dtype=tf.int32).numpy(),
        tf.random.truncated_normal([5]).numpy(),
        tf.random.shuffle(tf.range(50)).numpy(),
        tf.random.normal([5], seed=3).numpy(),
        tf.random.normal([5], seed=3).numpy(),
    ]


def test_a_seed_repeats():
    tf.random.set_seed(7)
    first = draw()
    tf.random.set_seed(7)
    again = draw()
    tf.random.set_seed(8)
    other = draw()
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a != c).any()
    assert (first[5] != first[6]).any()  # the same op seed goes on


def test_draws_differ():
    a, b = tf.random.normal([100]).numpy(), tf.random.normal([100]).numpy()
    assert (a != b).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_dtypes(dtype):
    if dtype is tf.bfloat16:
        pytest.importorskip("ml_dtypes")
    for make in (tf.random.normal, tf.random.uniform, tf.random.truncated_normal):
        x = make([3, 4], dtype=dtype)
        assert x.dtype is dtype and x.shape == (3, 4)


def test_shapes():
    assert tf.random.normal([]).shape == () and tf.random.normal([0, 3]).shape == (0, 3)
    assert tf.random.normal(tf.constant([2, 3])).shape == (2, 3)
    assert tf.random.uniform(tf.TensorShape([4])).shape == (4,)


def ks_distance(sample, cdf):
    """The largest gap between the sample's distribution and the true one."""
    x = np.sort(sample)
    true = cdf(x)
    steps = np.arange(len(x) + 1) / len(x)
    return max(np.max(steps[1:] - true), np.max(true - steps[:-1]))


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


def test_normal_numbers_are_normal():
    tf.random.set_seed(1)
    x = tf.random.normal([1_000_000]).numpy().astype(np.float64)
    assert abs(x.mean()) < 4e-3 and abs(x.std() - 1) < 3e-3
    assert abs((x**3).mean()) < 2e-2 and abs((x**4).mean() - 3) < 5e-2
    assert ks_distance(x[:20_000], normal_cdf) < 1.95 / math.sqrt(20_000)
    y = tf.random.normal([100_000], mean=5.0, stddev=2.0).numpy()
    assert abs(y.mean() - 5) < 0.05 and abs(y.std() - 2) < 0.03
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 4e-3


def test_uniform_numbers_are_even():
    tf.random.set_seed(2)
    x = tf.random.uniform([1_000_000], 2.0, 5.0).numpy()
    assert x.min() >= 2 and x.max() < 5 and abs(x.mean() - 3.5) < 5e-3
    assert ks_distance(x[:20_000].astype("f8"), lambda v: (v - 2) / 3) < 1.95 / math.sqrt(20_000)
    for dtype in (tf.int32, tf.int64):
        i = tf.random.uniform([100_000], -3, 4, dtype).numpy()
        values, counts = np.unique(i, return_counts=True)
        assert values.tolist() == list(range(-3, 4))
        assert abs(counts / 100_000 - 1 / 7).max() < 0.01


def test_truncated_normal_numbers():
    x = tf.random.truncated_normal([200_000]).numpy()
    assert abs(x).max() <= 2 and abs(x.std() - 0.8796) < 5e-3 and abs(x.mean()) < 1e-2


def test_shuffle():
    x = tf.reshape(tf.range(200), [100, 2])
    y = tf.random.shuffle(x, seed=1).numpy()
    assert sorted(y[:, 0]) == list(range(0, 200, 2)) and (y[:, 1] == y[:, 0] + 1).all()
    assert (y != x.numpy()).any()
    assert tf.random.shuffle(5).numpy() == 5 and tf.random.shuffle(tf.zeros([0])).shape == (0,)
    places = [tf.random.shuffle(tf.range(4)).numpy().tolist().index(0) for _ in range(2000)]
    assert abs(np.bincount(places, minlength=4) / 2000 - 0.25).max() < 0.05


def test_bounds_and_means_as_tensors():
    x = tf.random.normal([2, 2], mean=[1.0, 100.0], stddev=[0.0, 0.0])
    assert x.numpy().tolist() == [[1, 100], [1, 100]]
    u = tf.random.uniform([1000, 2], minval=[1.0, 2.0], maxval=[5.0, 6.0]).numpy()
    assert u[:, 0].min() >= 1 and u[:, 1].max() < 6


def test_stateless():
    for make in (
        tf.random.stateless_normal,
        tf.random.stateless_uniform,
        tf.random.stateless_truncated_normal,
    ):
        a, b, c = make([50], [1, 2]), make([50], [1, 2]), make([50], [1, 3])
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert (a.numpy() != c.numpy()).any()
        np.testing.assert_array_equal(
            make([5], tf.constant([1, 2])).numpy(), make([5], [1, 2]).numpy()
        )
    ints = tf.random.stateless_uniform([1000], [1, 2], minval=None, maxval=None, dtype=tf.int32)
    assert ints.numpy().min() < -(2**29) and ints.numpy().max() > 2**29
    a = tf.random.experimental.stateless_shuffle(tf.range(20), [1, 2]).numpy()
    assert sorted(a) == list(range(20))
    with pytest.raises(tf.errors.InvalidArgumentError, match="seed must have shape"):
        tf.random.stateless_normal([2], [1, 2, 3])
    with pytest.raises(ValueError, match="must be both None or not None"):
        tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)


def test_a_larger_draw_starts_with_the_smaller_one():
    small = tf.random.stateless_uniform([1000], [5, 6]).numpy()
    large = tf.random.stateless_uniform([100_000], [5, 6]).numpy()
    np.testing.assert_array_equal(large[:1000], small)


def test_threads_do_not_matter():
    results = []
    try:
        for threads in (1, 2):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            results.append(tf.random.stateless_normal([1_000_003], [1, 2]).numpy())
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    np.testing.assert_array_equal(*results)


def test_split_and_fold_in():
    seeds = tf.random.split([1, 2], 3)
    assert seeds.shape == (3, 2) and seeds.dtype is tf.int32
    assert len({tuple(s) for s in seeds.numpy().tolist()}) == 3
    np.testing.assert_array_equal(seeds.numpy(), tf.random.split([1, 2], 3).numpy())
    folded = tf.random.fold_in([1, 2], 3)
    assert folded.shape == (2,) and (folded.numpy() != tf.random.fold_in([1, 2], 4).numpy()).any()


def test_generators():
    g, h = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    a = g.normal([5]).numpy()
    np.testing.assert_array_equal(a, h.normal([5]).numpy())
    assert (g.normal([5]).numpy() != a).all()
    copy = tf.random.Generator.from_state(g.state, alg="philox")
    np.testing.assert_array_equal(copy.uniform([3]).numpy(), g.uniform([3]).numpy())
    g.reset_from_seed(1)
    np.testing.assert_array_equal(g.normal([5]).numpy(), a)
    h.reset_from_seed(1)
    h.skip(1)
    np.testing.assert_array_equal(h.normal([5]).numpy(), g.normal([5]).numpy())
    one, two = g.split(2)
    assert (one.normal([5]).numpy() != two.normal([5]).numpy()).all()
    assert g.make_seeds(3).shape == (2, 3) and g.state.shape == (3,) and g.algorithm == 1
    assert g.uniform_full_int([2]).dtype is tf.uint64
    assert g.uniform([9], maxval=5, dtype=tf.int64).numpy().max() < 5
    other = tf.random.Generator.from_non_deterministic_state()
    assert (other.normal([5]).numpy() != a).any()
    assert tf.random.get_global_generator() is tf.random.get_global_generator()
    with pytest.raises(ValueError, match="Unsupported algorithm"):
        tf.random.Generator.from_seed(1, alg="dice")


@pytest.mark.parametrize(
    ("ask", "errors"),
    [
        (lambda: tf.random.normal([-1]), tf.errors.InvalidArgumentError),
        (lambda: tf.random.normal([2], dtype=tf.int32), TypeError),
        (lambda: tf.random.uniform([2], dtype=tf.int32), ValueError),
        (lambda: tf.random.uniform([2], maxval=5, dtype=tf.int8), ValueError),
        (lambda: tf.random.uniform([2], 5, 5, tf.int32), tf.errors.InvalidArgumentError),
        (lambda: tf.random.normal([2**62]),
         (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)),
        (lambda: tf.random.normal("a"), TypeError),
    ],
)  # fmt: skip
def test_bad_input(ask, errors):
    with pytest.raises(errors):
        ask()


def test_dropout():
    x = tf.ones([10_000])
    dropped = tf.nn.dropout(x, 0.25, seed=1).numpy()
    assert set(np.unique(dropped).round(4)) == {0, np.float32(1.3333)}
    assert abs((dropped == 0).mean() - 0.25) < 0.03
    assert tf.nn.dropout(x, 0.0).numpy().min() == 1
    rows = tf.nn.dropout(tf.ones([50, 4]), 0.5, noise_shape=[50, 1]).numpy()
    assert (rows == rows[:, :1]).all()
    with pytest.raises(ValueError, match="`rate` must be a scalar tensor or a float in"):
        tf.nn.dropout(x, 1.5)
