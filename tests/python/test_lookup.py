"""tf.lookup against Python's dict."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemark as tf

Table = tf.lookup.experimental.MutableHashTable
names = st.text(alphabet="abcdef", max_size=3)


def static(keys, values, default=-1, **dtypes):
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, values, **dtypes), default
    )


def test_static_table():
    table = static(["a", "b"], [1, 2], value_dtype=tf.int64)
    found = table.lookup(tf.constant([["a", "c"], ["b", ""]]))
    assert found.dtype == tf.int64
    np.testing.assert_array_equal(found.numpy(), [[1, -1], [2, -1]])
    assert table[tf.constant("b")].numpy() == 2
    assert table.size().numpy() == 2
    assert table.lookup(tf.zeros([0, 3], tf.string)).shape == (0, 3)


def test_static_table_takes_one_value_a_key():
    assert static(["a", "a"], [1, 1]).size().numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="different value for same key"):
        static(["a", "a"], [1, 2])


def test_wrong_dtypes():
    table = static(["a"], [1], value_dtype=tf.int64)
    with pytest.raises(TypeError, match="must be"):
        table.lookup(tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="keys of a table"):
        Table(tf.float32, tf.int64, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape"):
        Table(tf.string, tf.int64, 0).insert(["a", "b"], [1])


@given(st.lists(st.tuples(st.booleans(), st.lists(names, max_size=12)), max_size=12))
def test_strings_to_strings(steps):
    table, model = Table(tf.string, tf.string, "none"), {}
    for number, (is_removal, keys) in enumerate(steps):
        given_keys = tf.constant(keys, dtype=tf.string, shape=[len(keys)])
        if is_removal:
            table.remove(given_keys)
            for key in keys:
                model.pop(key, None)
        else:
            values = [f"{key}{number}" for key in keys]
            table.insert(given_keys, tf.constant(values, tf.string, shape=[len(keys)]))
            model.update(zip(keys, values, strict=True))
        assert table.size().numpy() == len(model)
        found = [v.decode() for v in table.lookup(given_keys).numpy()]
        assert found == [model.get(key, "none") for key in keys]
    exported = [[v.decode() for v in part.numpy()] for part in table.export()]
    assert dict(zip(*exported, strict=True)) == model


@given(st.lists(st.tuples(st.booleans(), st.integers(-40, 40)), max_size=200))
def test_integers_to_rows(steps):
    table, model = Table(tf.int64, tf.float32, [0.0, 0.5]), {}
    for number, (is_removal, key) in enumerate(steps):
        if is_removal:
            table.remove(tf.constant([key], tf.int64))
            model.pop(key, None)
        else:
            table.insert([key], [[float(number), 1.0]])
            model[key] = [float(number), 1.0]
    keys = list(range(-45, 45))
    found = table.lookup(tf.constant(keys, tf.int64)).numpy()
    np.testing.assert_array_equal(found, [model.get(key, [0.0, 0.5]) for key in keys])


def test_dynamic_default_values():
    table = Table(tf.string, tf.int64, -1)
    table.insert(["a"], [1])
    found = table.lookup(tf.constant(["a", "b"]), dynamic_default_values=[7, 8])
    assert list(found.numpy()) == [1, 8]


def test_vocabulary_table_as_tensorflow():
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype=tf.int64)
    table = tf.lookup.StaticVocabularyTable(init, 3)
    found = table.lookup(tf.constant(["a", "b", "zz", "q", ""])).numpy()
    assert list(found) == VOCABULARY
    assert table.size().numpy() == 5
    numbers = tf.lookup.KeyValueTensorInitializer([5, 6], [0, 1], tf.int64, tf.int64)
    found = tf.lookup.StaticVocabularyTable(numbers, 4).lookup(
        tf.constant([5, 6, 7, 1000], tf.int64)
    )
    assert list(found.numpy()) == NUMBERS


VOCABULARY, NUMBERS = [0, 1, 3, 4, 4], [0, 1, 2, 3]


def test_dense_table_refuses_its_own_keys():
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -9)
    table.insert([1, 2], [10, 20])
    assert list(table.lookup(tf.constant([2, 3], tf.int64)).numpy()) == [20, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        table.insert([0], [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="deleted_key"):
        table.remove(tf.constant([-9], tf.int64))


def test_text_files(tmp_path):
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(b"emerson 10\nlake 20\r\npalmer 30\n")
    index = tf.lookup.TextFileIndex
    lines = tf.lookup.TextFileInitializer(
        str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, value_index_offset=5
    )
    assert tf.lookup.StaticHashTable(lines, -1).lookup(tf.constant("lake 20")).numpy() == 6
    columns = tf.lookup.TextFileInitializer(
        str(path), tf.string, 0, tf.int64, 1, delimiter=" ", vocab_size=2
    )
    found = tf.lookup.StaticHashTable(columns, -1).lookup(tf.constant(["lake", "palmer"]))
    assert list(found.numpy()) == [20, -1]
    missing = tf.lookup.TextFileInitializer(
        str(tmp_path / "none"), tf.string, 0, tf.int64, index.LINE_NUMBER
    )
    with pytest.raises(tf.errors.NotFoundError):
        tf.lookup.StaticHashTable(missing, -1)


def test_tables_are_counted_and_go_with_their_object():
    gc.collect()
    before = tf.memory.stats()["live"]
    table = Table(tf.int64, tf.int64, -1)
    table.insert(tf.range(10000, dtype=tf.int64), tf.range(10000, dtype=tf.int64))
    held = tf.memory.stats()["live"] - before
    assert table.resource_handle.nbytes <= held <= table.resource_handle.nbytes + 20000
    number = table.resource_handle.number
    del table
    assert tf.memory.stats()["live"] == before
    with pytest.raises(tf.errors.NotFoundError, match="no table"):
        tf._tidemark.call("table_size", (), {"table": number})


def test_replaced_strings_do_not_pile_up():
    table = Table(tf.string, tf.string, "")
    for i in range(2000):
        table.insert(["a", "b"], [f"{i:04}" * 10, "x"])
    assert table.resource_handle.nbytes < 4000
