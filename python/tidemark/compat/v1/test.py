"""``tf.compat.v1.test``: gradients of graphs against differences."""

from __future__ import annotations

import os as _os
from unittest import mock

import numpy as _np

from tidemark import test as _test
from tidemark._v1.gradients import gradients as _gradients
from tidemark._v1.session import default_session as _default_session
from tidemark.test._case import get_temp_dir

__all__ = ["get_temp_dir", "mock"]


def test_src_dir_path(relative_path):
    """Where a file lies below the folder the tests run in."""
    return _os.path.join(_os.getcwd(), relative_path)


def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """Raises AssertionError unless two graphs have the same nodes."""
    ours, theirs = ({node.name: node for node in graph.node} for graph in (actual, expected))
    if ours != theirs:
        names = [name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)]
        raise AssertionError(f"the graphs differ in the nodes {sorted(names)}")


def _listed(value, is_many):
    return list(value) if is_many else [value]


def _jacobians(x, value, y, shape, delta, feeds):
    """dy/dx by the graph's gradients and by differences: a row each element of x; ``shape``: that y
    has in the run."""
    session = _default_session()
    size = int(_np.prod(shape))
    by_graph = _np.zeros((value.size, size), value.dtype)
    for column in range(size):
        seed = _np.zeros(shape, y.dtype.as_numpy_dtype)
        seed.flat[column] = 1
        (gradient,) = _gradients(y, x, grad_ys=[seed])
        if gradient is not None:
            by_graph[:, column] = _np.ravel(session.run(gradient, {**feeds, x: value}))
    by_difference = _np.zeros_like(by_graph)
    for row in range(value.size):
        ends = []
        for step in (delta, -delta):
            moved = value.copy()
            moved.flat[row] += step
            ends.append(_np.ravel(session.run(y, {**feeds, x: moved})))
        by_difference[row] = (ends[0] - ends[1]) / (2 * delta)
    return by_graph, by_difference


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None,
                     extra_feed_dict=None):  # fmt: skip
    """The Jacobians of ``y`` by ``x`` in the default session, computed and by differences: a pair,
    or a list of pairs for a list of tensors."""
    many = isinstance(x, list)
    if init_targets is not None:
        _default_session().run(init_targets)
    shapes = _listed(x_shape, many)
    values = [None] * len(shapes) if x_init_value is None else _listed(x_init_value, many)
    out = []
    for tensor, shape, value in zip(_listed(x, many), shapes, values, strict=True):
        dtype = tensor.dtype.as_numpy_dtype
        given = _np.random.random_sample(shape) if value is None else value
        given = _np.array(given, dtype)
        out.append(_jacobians(tensor, given, y, y_shape, delta, extra_feed_dict or {}))
    return out if many else out[0]


def compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3,
                           init_targets=None, extra_feed_dict=None):  # fmt: skip
    """The largest difference between the two Jacobians that ``compute_gradient`` gives."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(x, list) else [found]
    return max((float(_np.fabs(a - b).max()) for a, b in pairs if a.size), default=0.0)


def __getattr__(name):
    return getattr(_test, name)
