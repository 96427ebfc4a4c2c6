"""Sparse tensors: gradients, operators, printing, specs. Values are in test_tf_results.py."""

import numpy as np
import pytest

import tidemark as tf

PLACES = [[0, 1], [2, 0], [2, 2]]


def sparse(values=(5.0, 6.0, -7.0)):
    return tf.SparseTensor(PLACES, list(values), [3, 3])


def dense(values=(5.0, 6.0, -7.0)):
    array = np.zeros((3, 3), np.float32)
    for (row, column), value in zip(PLACES, values, strict=True):
        array[row, column] = value
    return array


def test_matmul_has_gradients_of_both_sides():
    values = tf.Variable([5.0, 6.0, -7.0])
    right = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    weights = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        product = tf.sparse.sparse_dense_matmul(tf.SparseTensor(PLACES, values, [3, 3]), right)
        loss = tf.reduce_sum(product * weights)
    got = tape.gradient(loss, [values, right])
    full = weights.numpy() @ right.numpy().T
    np.testing.assert_allclose(got[0], [full[r, c] for r, c in PLACES])
    np.testing.assert_allclose(got[1], dense().T @ weights.numpy())


@pytest.mark.parametrize(
    "function",
    [
        lambda s: tf.sparse.to_dense(s),
        lambda s: tf.sparse.reduce_sum(s, axis=1),
        lambda s: tf.sparse.softmax(s).values,
        lambda s: tf.sparse.add(s, s).values,
        lambda s: tf.sparse.transpose(s).values,
        lambda s: tf.sparse.concat(0, [s, s]).values,
        lambda s: (s * tf.constant([[1.0, 2.0, 3.0]])).values,
    ],
)
def test_gradients_reach_the_values(function):
    start = np.array([5.0, 6.0, -7.0])

    def loss_of(values):
        out = function(tf.SparseTensor(PLACES, values, [3, 3]))
        weights = tf.reshape(tf.range(1, tf.size(out) + 1), tf.shape(out))
        return tf.reduce_sum(tf.sin(out) * tf.cast(weights, out.dtype))

    values = tf.constant(start, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(values)
        loss = loss_of(values)
    got = tf.convert_to_tensor(tape.gradient(loss, values)).numpy()
    step = 1e-2
    for i in range(3):
        ends = []
        for sign in (1, -1):
            moved = start.copy()
            moved[i] += sign * step
            ends.append(float(loss_of(tf.constant(moved, tf.float32))))
        np.testing.assert_allclose(got[i], (ends[0] - ends[1]) / (2 * step), atol=2e-3, rtol=2e-3)


def test_batches_of_sparse_matrices_multiply():
    from tidemark.sparse import _products

    rng = np.random.default_rng(1)
    a = (rng.random((2, 4, 5)) * (rng.random((2, 4, 5)) < 0.4)).astype(np.float32)
    b = (rng.random((2, 5, 3)) * (rng.random((2, 5, 3)) < 0.4)).astype(np.float32)
    product = _products.sparse_matrix_sparse_mat_mul(
        tf.sparse.from_dense(a), tf.sparse.from_dense(b), tf.float32
    )
    np.testing.assert_allclose(tf.sparse.to_dense(product), a @ b, rtol=1e-6)


def test_a_sparse_tensor_does_not_become_dense_by_itself():
    with pytest.raises((TypeError, ValueError), match="SparseTensor"):
        tf.convert_to_tensor(sparse())
    with pytest.raises((TypeError, ValueError), match="SparseTensor"):
        tf.matmul(sparse(), tf.ones([3, 2]))


def test_printed_with_its_parts():
    text = repr(sparse())
    assert text.startswith("SparseTensor(indices=tf.Tensor(\n[[0 1]")
    assert "values=tf.Tensor([ 5.  6. -7.], shape=(3,), dtype=float32)" in text


def test_errors_name_what_was_given():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[4, 2\].* with 9 dense values"):
        tf.sparse.reshape(sparse(), [4, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimension of a is 3, of b 2"):
        tf.sparse.sparse_dense_matmul(sparse(), tf.ones([2, 2]))
    with pytest.raises(TypeError, match="Input must be a SparseTensor"):
        tf.sparse.to_dense(tf.ones([2]))


def test_sampled_addmm():
    mat1 = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    mat2 = tf.constant([[5.0, 6.0], [7.0, 8.0]])
    _, values, _ = tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], mat1, mat2)
    full = mat1.numpy() @ mat2.numpy()
    np.testing.assert_allclose(values, [full[0, 1] + 1, full[1, 0] + 2])


def test_memory_goes_with_the_tensor():
    def live():
        return tf.config.experimental.get_memory_info("CPU:0")["current"]

    before = live()
    made = tf.sparse.from_dense(np.eye(300, dtype=np.float32))
    product = tf.sparse.sparse_dense_matmul(made, tf.ones([300, 8]))
    assert live() > before
    del made, product
    assert live() == before


def test_map_fn_goes_over_the_rows_of_sparse_tensors():
    x = tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    y = tf.constant([1.0, 2.0, 3.0])

    def total(pair):
        return tf.sparse.reduce_sum(pair[0]) + pair[1]

    assert tf.map_fn(total, (x, y), fn_output_signature=tf.float32).numpy().tolist() == [4, 2, 6]
    staged = tf.function(lambda x, y: tf.map_fn(total, (x, y), fn_output_signature=tf.float32))
    assert staged(x, y).numpy().tolist() == [4, 2, 6]


@pytest.mark.parametrize("cross", [tf.sparse.cross, lambda x: tf.sparse.cross_hashed(x, 100)])
def test_crosses_inside_of_functions(cross):
    words, numbers = tf.constant([["a"], ["b"]]), tf.constant([[1, 2], [3, 4]])
    direct = tf.sparse.to_dense(cross([words, numbers]))
    staged = tf.function(lambda *x: tf.sparse.to_dense(cross(list(x))))
    assert staged(words, numbers).numpy().tolist() == direct.numpy().tolist()
    sparse = tf.sparse.from_dense(numbers)
    assert staged(words, sparse).numpy().tolist() == direct.numpy().tolist()
