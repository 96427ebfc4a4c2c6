"""tf.Variable: creation, reading, updates in place, operators, slices, copies."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
import this_device

import tidemark as tf


def test_is_made_from_values_tensors_and_callables():
    assert tf.Variable([1.0, 2.0]).numpy().tolist() == [1, 2]
    assert tf.Variable(lambda: tf.ones([2])).numpy().tolist() == [1, 1]
    assert tf.Variable(3).dtype == tf.int32
    assert tf.Variable(3, dtype=tf.float64).dtype == tf.float64
    assert tf.Variable("a").numpy() == b"a"
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()
    with pytest.raises(ValueError, match="initial_value: Tensor conversion requested"):
        tf.Variable(tf.constant(1.0), dtype=tf.float64)
    with pytest.raises(ValueError, match="not compatible with the explicitly supplied"):
        tf.Variable([1.0, 2.0], shape=[3])


def test_prints_as_tensorflow_does():
    v = tf.Variable([1.0, 2.0], name="w")
    wanted = "<tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert repr(v) == str(v) == wanted
    assert repr(tf.Variable(3)) == "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=3>"
    open_shape = tf.Variable([[1]], shape=tf.TensorShape(None))
    assert "shape=<unknown>" in repr(open_shape)
    with tf.name_scope("a"):
        assert tf.Variable(1.0, name="b").name == "a/b:0"


def test_array_given_may_change_afterwards():
    array = np.ones(4, np.float32)
    v = tf.Variable(array)
    w = tf.Variable(np.zeros(4, np.float32))
    w.assign(array)
    array[:] = 7
    assert v.numpy().tolist() == w.numpy().tolist() == [1, 1, 1, 1]


def test_updates_return_the_variable_and_leave_readings_alone():
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    assert v.assign([3.0, 4.0]) is v
    assert v.assign_add([1.0, 1.0]).numpy().tolist() == [4, 5]
    assert v.assign_sub([1.0, 1.0], read_value=False) is None
    assert v.numpy().tolist() == [3, 4]
    assert before.numpy().tolist() == [1, 2]


def test_refuses_what_does_not_fit():
    v = tf.Variable([1.0, 2.0], name="w")
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="requested dtype float32"):
        v.assign(tf.constant([1, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.assign_add([1.0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)
    assert v.numpy().tolist() == [1, 2]


def test_update_holds_no_second_copy():
    v = tf.Variable(tf.zeros([1 << 18]))
    delta = tf.ones([1 << 18])
    this_device.reset_peak()
    live = this_device.stats().live
    address = v._operand()._data_address
    for _ in range(5):
        v.assign_sub(delta)
    assert this_device.stats().peak == live
    assert v._operand()._data_address == address
    assert v.numpy()[9] == -5


def test_is_released_when_dropped():
    before = this_device.stats().live
    v = tf.Variable(tf.zeros([1 << 18]))
    assert this_device.stats().live >= before + (1 << 20)
    del v
    assert this_device.stats().live == before


def test_is_used_wherever_a_tensor_is():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    t = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal((v @ t).numpy(), v.numpy())
    np.testing.assert_array_equal((t @ v).numpy(), v.numpy())
    np.testing.assert_array_equal((1 - v).numpy(), 1 - v.numpy())
    np.testing.assert_array_equal((np.ones((2, 2), np.float32) + v).numpy(), 1 + v.numpy())
    np.testing.assert_array_equal((v**2).numpy(), v.numpy() ** 2)
    np.testing.assert_array_equal((-v).numpy(), -v.numpy())
    np.testing.assert_array_equal((v > 2).numpy(), v.numpy() > 2)
    np.testing.assert_array_equal((v == v).numpy(), np.ones((2, 2), bool))
    assert tf.concat([v, v], 0).shape == (4, 2)
    assert tf.stack([v, t]).shape == (2, 2, 2)
    assert tf.reduce_sum(v).numpy() == 10
    assert tf.reshape(v, [4]).shape == (4,)
    assert tf.convert_to_tensor(v).dtype == tf.float32
    assert tf.is_tensor(v)
    assert np.asarray(v).sum() == 10
    assert float(tf.Variable(2.0)) == 2 and int(tf.Variable(2)) == 2 and bool(tf.Variable(1))
    assert [row.numpy().tolist() for row in v] == [[1, 2], [3, 4]]
    assert list(range(5))[tf.Variable(3)] == 3


def test_slices_are_read_and_assigned():
    v = tf.Variable(np.arange(12.0).reshape(3, 4))
    address = v._operand()._data_address
    assert v[1, 2].numpy() == 6
    assert v[...].shape == (3, 4)
    v[1, 2].assign(100.0)
    v[0].assign([9.0, 8.0, 7.0, 6.0])
    v[:, 3].assign([1.0, 2.0, 3.0])
    wanted = np.arange(12.0).reshape(3, 4)
    wanted[1, 2] = 100
    wanted[0] = [9, 8, 7, 6]
    wanted[:, 3] = [1, 2, 3]
    np.testing.assert_array_equal(v.numpy(), wanted)
    assert v._operand()._data_address == address


def test_scatter_updates():
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v.scatter_nd_update([[0], [2]], [10.0, 30.0])
    v.scatter_nd_add([[1]], [5.0])
    v.scatter_nd_sub([[3]], [1.0])
    assert v.numpy().tolist() == [10, 7, 30, 3]
    rows = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 0]))
    assert v.scatter_add(rows) is v
    assert v.numpy()[0] == 13
    v.scatter_sub(rows)
    v.scatter_mul(rows)
    assert v.numpy()[0] == 20
    v.scatter_div(rows)
    v.scatter_max(tf.IndexedSlices(tf.constant([50.0]), tf.constant([1])))
    v.scatter_min(tf.IndexedSlices(tf.constant([-1.0]), tf.constant([2])))
    v.scatter_update(tf.IndexedSlices(tf.constant([8.0]), tf.constant([3])))
    assert v.numpy().tolist() == [10, 50, -1, 8]
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_update([1], 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_nd_update([[9]], [1.0])
        tf.test.experimental.sync_devices()
    m = tf.Variable(tf.zeros([2, 3]))
    m.batch_scatter_update(tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([[2], [0]])))
    assert m.numpy().tolist() == [[0, 0, 1], [2, 0, 0]]
    assert m.sparse_read([1]).numpy().tolist() == [[2, 0, 0]]
    assert m.gather_nd([[0, 2]]).numpy().tolist() == [1]


def test_sizes_left_open():
    v = tf.Variable([1.0], shape=[None])
    assert v.shape.as_list() == [None]
    v.assign([1.0, 2.0, 3.0])
    assert tf.reduce_sum(v).numpy() == 6
    with pytest.raises(ValueError):
        v.assign([[1.0]])
    tf.Variable([1.0], shape=tf.TensorShape(None)).assign([[1.0]])


def test_copies_are_apart():
    v = tf.Variable([1.0, 2.0], name="w", trainable=False)
    for copied in (copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))):
        other = copied(v)
        assert other.name == "w:0" and not other.trainable
        v.assign_add([1.0, 1.0])
        assert other.numpy().tolist() == (v.numpy() - 1).tolist()
    assert copy.deepcopy([v, v])[0].ref() != v.ref()
    assert v.ref() == v.ref() and v.ref().deref() is v


def test_creator_scopes_are_asked():
    names = []

    def creator(next_creator, **kwargs):
        names.append(kwargs["name"])
        kwargs["trainable"] = False
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        v = tf.Variable([1.0], name="w")
    assert names == ["w"] and not v.trainable
    assert tf.Variable([1.0]).trainable


def test_updates_of_threads_are_not_lost():
    v = tf.Variable(tf.zeros([20000]))
    one = tf.ones([20000])
    torn = []

    def work():
        for _ in range(50):
            v.assign_add(one)
            seen = v.numpy()
            if seen.min() != seen.max():
                torn.append(seen)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not torn
    assert v.numpy()[3] == 200


def test_nothing_stays_behind():
    gc.collect()
    live = this_device.stats().live
    for _ in range(300):
        v = tf.Variable([1.0, 2.0])
        v.assign_add([1.0, 1.0])
        v[0].assign(3.0)
        _ = v * v
    del v, _
    assert this_device.stats().live == live
