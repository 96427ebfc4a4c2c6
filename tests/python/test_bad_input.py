"""Input nobody should give: each gets a typed error or the documented result, and nothing leaks."""

import gc

import numpy as np
import pytest

import tidemark as tf

HUGE = 2**62
WRONG = (tf.errors.OpError, ValueError, TypeError, OverflowError)
X = tf.ones([3, 4])

SIZES = [
    lambda n: tf.zeros([n]),
    lambda n: tf.ones([2, n]),
    lambda n: tf.fill([n, n], 1.0),
    lambda n: tf.tile(X, [n, 1]),
    lambda n: tf.tile(X, [n, n]),
    lambda n: tf.broadcast_to(1.0, [n]),
    lambda n: tf.broadcast_to(X, [n, 3, 4]),
    lambda n: tf.pad(X, [[n, n], [0, 0]]),
    lambda n: tf.pad(X, [[0, 0], [0, n]]),
    lambda n: tf.one_hot([0, 1], n),
    lambda n: tf.linspace(0.0, 1.0, n),
    lambda n: tf.range(n),
    lambda n: tf.range(0, n, 1),
    lambda n: tf.repeat(X, n, axis=0),
    lambda n: tf.eye(n),
    lambda n: tf.scatter_nd([[0]], [1.0], [n]),
    lambda n: tf.math.unsorted_segment_sum(X, [0, 1, 2], n),
    lambda n: tf.reshape(X, [n, 12]),
    lambda n: tf.reshape(X, [n, n]),
    lambda n: tf.math.top_k(X, n),
    lambda n: tf.slice(X, [0, 0], [n, 1]),
    lambda n: tf.slice(X, [n, 0], [1, 1]),
    lambda n: tf.gather(X, [n]),
    lambda n: tf.gather_nd(X, [[n, 0]]),
    lambda n: X[n],
    lambda n: tf.expand_dims(X, n),
    lambda n: tf.squeeze(X, [n]),
    lambda n: tf.concat([X, X], n),
    lambda n: tf.stack([X, X], n),
    lambda n: tf.split(X, n),
    lambda n: tf.split(X, [n, 3]),
    lambda n: tf.unstack(X, num=n),
    lambda n: tf.reduce_sum(X, axis=n),
    lambda n: tf.transpose(X, [n, 0]),
    lambda n: tf.reverse(X, [n]),
    lambda n: tf.roll(X, 1, n),
    lambda n: tf.sort(X, axis=n),
    lambda n: tf.linalg.diag(X, k=n),
    lambda n: tf.memory.set_limit(-n if n > 0 else n),
]


@pytest.mark.parametrize("size", [HUGE, -HUGE, 2**63 - 1, -(2**63), -1, 2**63, 2**64, -(2**70)])
def test_sizes_and_axes_beyond_all_bounds(size):
    gc.collect()
    live = tf.memory.stats().live
    for position, ask in enumerate(SIZES):
        try:
            result = ask(size)
        except WRONG:
            continue
        # -1 is the last axis or "what is left"; the result must then be a sound tensor.
        assert size == -1, f"case {position} took {size}"
        for tensor in tf.nest.flatten(result):
            assert np.asarray(tensor).size >= 0
        del result, tensor
    gc.collect()
    assert tf.memory.stats().live == live


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tf.zeros([2]) + tf.zeros([3]),
        lambda: tf.zeros([2, 3]) * tf.zeros([3, 2]),
        lambda: tf.add(tf.constant("a"), 1),
        lambda: tf.matmul(X, X),
        lambda: tf.matmul(X, tf.constant("a")),
        lambda: tf.where(X > 0, X, tf.zeros([5])),
        lambda: tf.where(X, X, X),
        lambda: tf.concat([X, tf.constant(["a"])], 0),
        lambda: tf.concat(X, 0, 0, 0),
        lambda: tf.stack([X, tf.zeros([3])]),
        lambda: tf.cast(X, tf.string),
        lambda: tf.cast(X, tf.resource),
        lambda: tf.bitwise.left_shift(X, 1),
        lambda: tf.gather(X, [0.5]),
        lambda: tf.one_hot([0.5], 3),
        lambda: tf.reshape(X, "ab"),
        lambda: tf.reshape(X, [None, 12]),
        lambda: tf.reduce_sum(X, axis="a"),
        lambda: tf.reduce_sum(X, axis=1.5),
        lambda: tf.reduce_sum(X, keepdims="maybe", axis=[0, 0]),
        lambda: tf.transpose(X, [[0, 1]]),
        lambda: tf.pad(X, [1, 2]),
        lambda: tf.range("a"),
        lambda: tf.constant(np.array([object()])),
        lambda: tf.constant(np.zeros(3, "datetime64[s]")),
        lambda: tf.constant(np.zeros(3, [("a", "f4")])),
        lambda: tf.constant(np.zeros(3, np.longdouble)) if np.longdouble != np.float64 else 1 / 0,
        lambda: tf.constant({"a": 1}),
        lambda: tf.constant({1, 2}),
        lambda: tf.constant(x for x in [1]),
        lambda: tf.add(X, X, None, X),
        lambda: tf.nest.map_structure(tf.add, [X], [X, X]),
        lambda: tf.load_op_library("/no/such/library.so"),
        lambda: tf.broadcast_to(X, [3]),
        lambda: tf.tensor_scatter_nd_update(X, [[0, 9]], [1.0]),
        lambda: tf.tensor_scatter_nd_update(X, [[0]], [1.0]),
        lambda: tf.math.segment_sum(X, [2, 1, 0]),
        lambda: tf.boolean_mask(X, [[True]]),
        lambda: tf.ones([1] * 300),
        lambda: tf.experimental.dlpack.from_dlpack(5),
    ],
)
def test_wrong_types_and_shapes(ask):
    gc.collect()
    live = tf.memory.stats().live
    with pytest.raises((*WRONG, ZeroDivisionError)) as caught:
        ask()
    assert str(caught.value)
    del caught
    gc.collect()
    assert tf.memory.stats().live == live


def test_empty_everything():
    for shape in ([0], [0, 3], [3, 0], [2, 0, 4]):
        x = tf.zeros(shape)
        assert (x + x).shape == shape and tf.exp(x).shape == shape
        assert tf.concat([x, x], 0).shape[0] == 2 * shape[0]
        assert tf.transpose(x).shape == shape[::-1] and tf.reduce_sum(x).numpy() == 0
        assert tf.sort(x).shape == shape and tf.cast(x, tf.int8).shape == shape
        assert tf.reshape(x, [-1, 1]).shape == (0, 1) and tf.tile(x, [2] * len(shape)).ndim
        assert x[:0].shape[0] == 0 and tf.reverse(x, [0]).shape == shape
        assert tf.stack([x, x]).shape == [2, *shape] and np.asarray(x).shape == tuple(shape)
    assert tf.matmul(tf.zeros([2, 0]), tf.zeros([0, 3])).numpy().tolist() == [[0] * 3] * 2
    assert tf.gather(X, tf.zeros([0], tf.int32)).shape == (0, 4)


def test_arrays_of_odd_layout():
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    views = [base.T, base[::2, ::-1], base[:, 1:2], base[None, :, ::3], base[::-1], base[:0],
             np.broadcast_to(base, (2, 4, 6)), np.asfortranarray(base)]  # fmt: skip
    for view in views:
        for make in (tf.constant, tf.convert_to_tensor):
            np.testing.assert_array_equal(make(view).numpy(), view)
        np.testing.assert_array_equal((tf.convert_to_tensor(view) * 2).numpy(), view * 2)
    unaligned = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float32)
    np.testing.assert_array_equal(tf.convert_to_tensor(unaligned).numpy(), base.ravel())
    read_only = base.copy()
    read_only.setflags(write=False)
    total = tf.convert_to_tensor(read_only) + 1
    np.testing.assert_array_equal(total.numpy(), base + 1)
    np.testing.assert_array_equal(read_only, base)  # not written in place


def test_results_never_write_into_arrays_they_share():
    shared = np.ones(1 << 16, np.float32)
    y = tf.nn.relu(-(tf.convert_to_tensor(shared) * 2.0) + 1.0)
    assert y.numpy().max() == 0 and (shared == 1).all()
