"""Functions of the library that need sizes or values which only a run tells: what is traced all the
same, what becomes a step in Python, and that mistakes do not."""

import inspect
import json

import numpy as np
import pytest
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.static import known_size, sizes_of, static_ints

import tidemark as tf


def traced(function, *shapes):
    specs = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
    return tf.function(function, input_signature=specs, autograph=False)


def steps_of(function):
    function.get_concrete_function()
    return [step.function for trace in function.traces() for step in trace.python_steps]


# --- mistakes -------------------------------------------------------------------------------------


def test_a_misspelt_attribute_is_an_error():
    @sized_when_run
    def misspelt(x):
        return x.no_such_attribute

    with pytest.raises(AttributeError, match="no_such_attribute"):
        traced(misspelt, [None]).get_concrete_function()


def test_a_mistake_after_an_unknown_size_is_an_error():
    @sized_when_run
    def misspelt(x):
        return x * no_such_name(known_size(x, 0))  # noqa: F821

    with pytest.raises(NameError, match="no_such_name"):
        traced(misspelt, [None]).get_concrete_function()


@pytest.mark.parametrize("kind", [TypeError, ValueError, NotImplementedError])
def test_errors_of_other_kinds_are_raised(kind):
    calls = []

    @sized_when_run
    def refusing(x):
        calls.append(x)
        raise kind("not this one")

    with pytest.raises(kind, match="not this one"):
        traced(refusing, [None]).get_concrete_function()
    assert len(calls) == 1  # it was not tried on imagined sizes


def test_what_no_size_makes_possible_is_raised():
    with pytest.raises(ValueError, match="select_range"):
        traced(
            lambda a, b: tf.linalg.eigh_tridiagonal(a, b, select="v", select_range=(3, 1)),
            [4],
            [3],
        ).get_concrete_function()


# --- the one error --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda x: x.numpy(), AttributeError),
        (lambda x: int(x), TypeError),
        (lambda x: range(x), TypeError),
        (lambda x: bool(x > 0), tf.errors.OperatorNotAllowedInGraphError),
        (lambda x: np.asarray(x), NotImplementedError),
        (lambda x: static_ints(x, "n"), ValueError),
        (lambda x: known_size(tf.reshape(x, [-1]), 0) and known_size(tf.range(x), 0), ValueError),
    ],
)
def test_asking_for_a_value_that_is_not_there_yet(ask, kind):
    def f(n):
        with pytest.raises(kind) as caught:
            ask(n)
        assert isinstance(caught.value, tf.errors.ValueUnknownError)
        return n

    tf.function(f, input_signature=[tf.TensorSpec([], tf.int32)], autograph=False)(3)


def test_sizes_of_gives_numbers_and_scalars():
    def f(x):
        rows, columns = sizes_of(x)
        assert columns == 3 and rows.dtype == tf.int32 and rows.shape == ()
        return rows * columns

    assert traced(f, [None, 3])(tf.ones([5, 3])) == 15
    assert sizes_of(tf.ones([2, 4])) == (2, 4)


# --- what is shown --------------------------------------------------------------------------------


def test_steps_are_shown_in_traces_and_plans():
    def transform(x):
        return tf.signal.dct(x) * 2.0  # the line of the step

    line = inspect.getsourcelines(transform)[1] + 1
    f = traced(transform, [None])
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_allclose(f(x), tf.signal.dct(x) * 2.0)
    (step,) = f.traces()[0].python_steps
    assert step.function == "tf.signal.dct"
    assert step.line == f"test_python_steps.py:{line} in transform"
    assert f"in Python: tf.signal.dct at test_python_steps.py:{line}" in repr(f.traces()[0])
    plan = f.plan(x)
    assert plan.python_steps == [step]
    assert json.loads(plan.to_json())["python_steps"] == [step._asdict()]
    assert "1 steps in Python" in str(plan) and f"tf.signal.dct at {step.line}" in str(plan)
    assert "tf.signal.dct" in str(f.get_concrete_function().graph)
    assert "tf.signal.dct" in f.graph(x, compiled=False).to_dot()


def test_steps_in_branches_and_loops_are_shown():
    def f(x):
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.signal.dct(x), lambda: x)
        return tf.while_loop(lambda y: tf.reduce_sum(y) > 1e9, lambda y: (tf.signal.dct(y),), [y])

    assert steps_of(traced(f, [None])) == ["tf.signal.dct"] * 2


def test_code_of_the_user_is_shown_as_such():
    f = traced(lambda x: tf.py_function(lambda v: v + 1, [x], tf.float32), [4])
    assert steps_of(f) == ["py_function"]


def test_a_part_of_a_function_is_shown_as_the_function():
    assert steps_of(traced(tf.nn.isotonic_regression, [4])) == ["tf.nn.isotonic_regression"]


def test_known_sizes_need_no_step():
    f = traced(lambda x: tf.signal.dct(x), [8])
    assert steps_of(f) == [] and f.plan(np.ones(8, np.float32)).python_steps == []


# --- what is traced though sizes are unknown ------------------------------------------------------

IMAGE = [None, None, None, 3]
CALLS = {
    "central_crop": (lambda x: tf.image.central_crop(x, 0.5), IMAGE),
    "crop": (lambda x: tf.image.crop_to_bounding_box(x, 1, 0, 4, 3), IMAGE),
    "crop_or_pad": (lambda x: tf.image.resize_with_crop_or_pad(x, 5, 9), IMAGE),
    "gray": (tf.image.rgb_to_grayscale, [None] * 4),
    "nearest": (lambda x: tf.image.resize(x, [4, 5], method="nearest"), IMAGE),
    "pad": (lambda x: tf.image.pad_to_bounding_box(x, 1, 0, 9, 9), IMAGE),
    "patches": (lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1],
                                                   "SAME"), IMAGE),
    "resize_to_another": (lambda x: tf.image.resize(x, tf.shape(x)[1:3] * 2), IMAGE),
    "sobel": (tf.image.sobel_edges, IMAGE),
    "ssim": (lambda x: tf.image.ssim(x, x * 0.9, 1.0, filter_size=3), IMAGE),
    "standardization": (tf.image.per_image_standardization, IMAGE),
    "variation": (tf.image.total_variation, IMAGE),
    "yuv": (tf.image.rgb_to_yuv, IMAGE),
}  # fmt: skip
MATRIX_CALLS = {
    "diag": lambda x: tf.linalg.diag(x, k=1, padding_value=2.0),
    "fftshift": tf.signal.fftshift,
    "layer_norm": tf.nn.experimental.layer_norm,
    "meshgrid": lambda x: tf.meshgrid(x[0], x[:, 0]),
    "moments": lambda x: tf.nn.moments(x, [0]),
    "overlap": lambda x: tf.signal.overlap_and_add(x, 2),
    "pinv": tf.linalg.pinv,
    "rank": tf.linalg.matrix_rank,
    "rfft": lambda x: tf.abs(tf.signal.rfft(x, [8])),
    "sparse_add": lambda x: tf.sparse.to_dense(
        tf.sparse.add(tf.sparse.from_dense(x), tf.sparse.from_dense(x))
    ),
    "statistics": lambda x: tf.nn.sufficient_statistics(x, [0])[:3],
}


@pytest.mark.parametrize("name", [*CALLS, *MATRIX_CALLS])
def test_is_traced_for_unknown_sizes(name):
    function, shape = CALLS[name] if name in CALLS else (MATRIX_CALLS[name], [None, None])
    sizes = [2, 7, 6, 3] if len(shape) == 4 else [5, 6]
    x = np.random.default_rng(0).random(sizes, dtype=np.float32)
    f = traced(function, shape)
    assert set(steps_of(f)) <= {"py_function"}  # those that report a failed check
    expected = tf.nest.flatten(function(tf.constant(x)))
    for mine, other in zip(tf.nest.flatten(f(x)), expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


def test_checks_of_unknown_sizes_are_made_when_it_runs():
    f = traced(lambda x: tf.image.pad_to_bounding_box(x, 0, 0, 4, 4), IMAGE)
    assert f(np.ones([1, 3, 4, 3], np.float32)).shape == (1, 4, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="height must be <= target"):
        f(np.ones([1, 5, 4, 3], np.float32))
