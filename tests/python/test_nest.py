"""tf.nest: order, types kept, errors worded as TensorFlow's."""

import collections
from dataclasses import dataclass

import numpy as np
import pytest

import tidemark as tf

P = collections.namedtuple("P", "x y")
Q = collections.namedtuple("Q", "x y")


def test_flatten():
    assert tf.nest.flatten({"b": 1, "a": [2, (3, None)]}) == [2, 3, None, 1]
    assert tf.nest.flatten(5) == [5] and tf.nest.flatten(None) == [None]
    assert tf.nest.flatten([]) == [] and tf.nest.flatten("abc") == ["abc"]
    assert tf.nest.flatten({1, 2}) == [{1, 2}]
    assert tf.nest.flatten(collections.OrderedDict([("b", 1), ("a", 2)])) == [2, 1]
    assert tf.nest.flatten(P(1, [2])) == [1, 2] and tf.nest.flatten(range(3)) == [0, 1, 2]
    with pytest.raises(TypeError):
        tf.nest.flatten({1: 1, "a": 2})


def test_tensors_and_arrays_are_leaves():
    t, a = tf.constant([1, 2]), np.array([1, 2])
    assert tf.nest.flatten([t, {"k": a}])[0] is t
    assert tf.nest.flatten([t, {"k": a}])[1] is a


def test_dataclasses_are_leaves():
    @dataclass
    class D:
        x: int

    d = D(1)
    assert tf.nest.flatten([d, 1]) == [d, 1]


def test_attrs_classes_are_structures():
    attr = pytest.importorskip("attr")

    @attr.s
    class A:
        b = attr.ib()
        a = attr.ib()

    assert tf.nest.flatten(A(1, [2])) == [1, 2]
    assert tf.nest.map_structure(lambda x: x + 1, A(1, [2])) == A(2, [3])


def test_is_nested():
    nested = [[1], {}, P(1, 2), {}.keys(), {}.values(), range(3), ()]
    leaves = ["a", {1}, np.array([1]), tf.constant(1), tf.TensorShape([1, 2]), None, 5, b"x"]
    assert all(map(tf.nest.is_nested, nested)) and not any(map(tf.nest.is_nested, leaves))


def test_map_structure():
    assert tf.nest.map_structure(lambda a, b: a + b, P(1, 2), P(3, 4)) == P(4, 6)
    assert tf.nest.map_structure(lambda a: a + 1, {"b": 1, "a": (2,)}) == {"b": 2, "a": (3,)}
    assert tf.nest.map_structure(lambda a: a + 1, 1) == 2
    mapped = tf.nest.map_structure(lambda a: -a, collections.defaultdict(int, {"a": 1}))
    assert mapped == {"a": -1} and mapped["new"] == 0
    add = lambda a, b: a + b  # noqa: E731
    assert tf.nest.map_structure(add, [1, 2], (3, 4), check_types=False) == [4, 6]


def test_pack_sequence_as():
    assert tf.nest.pack_sequence_as({"b": 0, "a": [0, (0,)]}, [1, 2, 3]) == {"b": 3, "a": [1, (2,)]}
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    packed = tf.nest.pack_sequence_as(ordered, [1, 2])
    assert list(packed.items()) == [("b", 2), ("a", 1)]
    assert tf.nest.pack_sequence_as(0, [1]) == 1


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (
            lambda: tf.nest.map_structure(lambda a, b: a, [1, 2], [3]),
            ValueError,
            "The two structures don't have the same nested structure.\n\n"
            "First structure: type=list str=[1, 2]\n\nSecond structure: type=list str=[3]\n\n"
            "More specifically: The two structures don't have the same number of elements. "
            "First structure: type=list str=[1, 2]. Second structure: type=list str=[3]\n"
            "Entire first structure:\n[., .]\nEntire second structure:\n[.]",
        ),
        (
            lambda: tf.nest.assert_same_structure([1, 2], (1, 2)),
            TypeError,
            "The two structures don't have the same nested structure.\n\n"
            "First structure: type=list str=[1, 2]\n\nSecond structure: type=tuple str=(1, 2)\n\n"
            "More specifically: The two namedtuples don't have the same sequence type. First "
            "structure type=list str=[1, 2] has type list, while second structure type=tuple "
            "str=(1, 2) has type tuple\n"
            "Entire first structure:\n[., .]\nEntire second structure:\n(., .)",
        ),
        (
            lambda: tf.nest.assert_same_structure([1, {"a": 2}], [1, {"c": 2}]),
            ValueError,
            "The two structures don't have the same nested structure.\n\n"
            "First structure: type=list str=[1, {'a': 2}]\n\n"
            "Second structure: type=list str=[1, {'c': 2}]\n\n"
            "More specifically: The two dictionaries don't have the same set of keys. First "
            "structure has keys type=list str=['a'], while second structure has keys type=list "
            "str=['c']\n"
            "Entire first structure:\n[., {'a': .}]\nEntire second structure:\n[., {'c': .}]",
        ),
        (
            lambda: tf.nest.assert_same_structure(1, [1]),
            ValueError,
            "The two structures don't have the same nested structure.\n\n"
            "First structure: type=int str=1\n\nSecond structure: type=list str=[1]\n\n"
            'More specifically: Substructure "type=list str=[1]" is a sequence, while '
            'substructure "type=int str=1" is not\n'
            "Entire first structure:\n.\nEntire second structure:\n[.]",
        ),
        (
            lambda: tf.nest.pack_sequence_as([0, 0], [1, 2, 3]),
            ValueError,
            "Could not pack sequence. Structure had 2 atoms, but flat_sequence had 3 items.  "
            "Structure: [0, 0], flat_sequence: [1, 2, 3].",
        ),
        (
            lambda: tf.nest.pack_sequence_as(0, [1, 2]),
            ValueError,
            "The target structure is of type `<class 'int'>`\n  0\nHowever the input is a "
            "sequence (<class 'list'>) of length 2.\n  [1, 2]\nnest cannot guarantee that it is "
            "safe to map one to the other.",
        ),
        (lambda: tf.nest.map_structure(3, [1]), TypeError, "func must be callable, got: 3"),
        (
            lambda: tf.nest.map_structure(lambda a: a),
            ValueError,
            "Must provide at least one structure",
        ),
        (
            lambda: tf.nest.map_structure(lambda a: a, [1], foo=1),
            ValueError,
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: `foo`",
        ),
    ],
)
def test_errors(ask, error, text):
    with pytest.raises(error) as caught:
        ask()
    assert str(caught.value) == text


def test_namedtuples_of_other_types_differ():
    with pytest.raises(TypeError, match="has type P, while second structure"):
        tf.nest.assert_same_structure(P(1, 2), Q(1, 2))
    with pytest.raises(TypeError):
        tf.nest.assert_same_structure(P(1, 2), (1, 2))
    tf.nest.assert_same_structure(P(1, 2), (1, 2), check_types=False)
