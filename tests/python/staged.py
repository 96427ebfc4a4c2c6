"""Staged statements without a graph.

Tracing a condition runs both branches, tracing a loop runs its body once whatever its condition
says; then the statement computes. This does the same with known tensors, so that what AutoGraph
makes of a program is seen in eager mode.
"""

import numpy as np
from tidemark.autograph import _staging
from tidemark.autograph._impl import converted

import tidemark as tf


class Stage:
    """Every tensor counts as not known yet."""

    def is_staged(self, value):
        return True

    def cond(self, pred, true_fn, false_fn):
        taken = 0 if bool(pred) else 1
        ends = []
        for which, branch in enumerate((true_fn, false_fn)):
            try:
                ends.append(branch())
            except tf.errors.InvalidArgumentError:
                if which == taken:
                    raise
                return (true_fn, false_fn)[taken]()  # the other cannot be computed with this value
        tf.nest.assert_same_structure(*ends)
        for first, second in zip(*map(tf.nest.flatten, ends), strict=True):
            assert type(first) is type(second)
            assert getattr(first, "dtype", None) == getattr(second, "dtype", None)
        return ends[taken]

    def while_loop(self, test, body, loop_vars, maximum_iterations=None, **options):
        variables, count = tuple(loop_vars), 0
        try:
            bool(test(*variables)), body(*variables)
        except (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError):
            # the element of an empty tensor, for example
            if bool(test(*variables)):
                raise
        while bool(test(*variables)) and (maximum_iterations is None or count < maximum_iterations):
            after = body(*variables)
            assert len(after) == len(variables)
            assert [type(v) for v in after] == [type(v) for v in variables]
            variables, count = tuple(after), count + 1
        return variables


def copy_of(array):
    made = tf.TensorArray(
        array.dtype,
        size=len(array._tensors),
        dynamic_size=array.dynamic_size,
        clear_after_read=False,
        element_shape=array.element_shape,
        infer_shape=False,
    )
    made._tensors = list(array._tensors)
    return made


_write = tf.TensorArray.write


def _write_into_copy(array, index, value, name=None):
    """In a graph a write leaves the array that it is given as it was."""
    inside = getattr(_staging._thread, "stage", None) is not None
    return _write(copy_of(array) if inside else array, index, value)


def staged():
    """A context in which tensors are treated as if they were not known yet."""
    tf.TensorArray.write = _write_into_copy
    return _staging.staged_by(Stage())


def run(function, *args):
    """What the function gives when its statements over tensors are staged."""
    with staged():
        return converted(function)(*args)


def _in_graphs(program):
    """Whether a graph can hold what the program uses yet."""
    try:
        tf.function(program)(tf.constant(2))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return False
    return True


def _writes_array(n):
    array = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        array = array.write(i, i)
    return array.stack()


def _asserts(n):
    tf.debugging.Assert(n > 0, [n])


def _changes_shape(n):
    return tf.while_loop(
        lambda i, x: i < n,
        lambda i, x: (i + 1, tf.concat([x, x], 0)),
        (0, tf.zeros([1])),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )


ARRAYS_IN_GRAPHS = _in_graphs(_writes_array)
ASSERTIONS_IN_GRAPHS = _in_graphs(_asserts)
INVARIANTS_IN_GRAPHS = _in_graphs(_changes_shape)


def run_both(function, *args):
    """As ``run``, after making sure that a traced function gives the same."""
    result = run(function, *args)
    if ARRAYS_IN_GRAPHS:
        traced = tf.function(function)(*args)
        tf.nest.map_structure(
            lambda a, b: np.testing.assert_array_equal(np.asarray(a), np.asarray(b)), traced, result
        )
    return result
