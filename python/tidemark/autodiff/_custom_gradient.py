"""``tf.custom_gradient`` and ``tf.recompute_grad``: steps whose gradient the user writes."""

from __future__ import annotations

import functools
import inspect

from tidemark import _tidemark, nest
from tidemark._export import export
from tidemark._graph.tracing import building
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call
from tidemark.autodiff._tape import GradientTape
from tidemark.tensor_shape import sizes_of


class Bind:
    """Decorates functions and methods alike."""

    @classmethod
    def decorator(cls, d):
        return lambda f: cls(f, d)

    def __init__(self, f, d):
        self._f, self._d = f, d
        functools.update_wrapper(self, f)

    @property
    def __signature__(self):
        return inspect.signature(self._f)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return type(self)(self._f.__get__(instance, owner), self._d)

    def __call__(self, *args, **kwargs):
        return self._d(self._f, args, kwargs)


@export("tf.custom_gradient")
def custom_gradient(f=None):
    """Gives a function, which returns (result, grad_fn), the gradient grad_fn."""
    if f is None:
        return custom_gradient
    return Bind(f, _call_with_gradient)


def _identity(value):
    return call("identity", (value,), {})


def _takes_variables(function):
    spec = inspect.getfullargspec(function)
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None


def _call_with_gradient(f, args, kwargs):
    flat_args = nest.flatten(args)
    values = [convert_to_tensor(value) for value in flat_args]
    with _tidemark.RecordingPause(), GradientTape(_only_variables=True) as watcher:
        result, grad_fn = f(*nest.pack_sequence_as(args, values), **kwargs)
        # Results of their own, told apart from arguments that f returns as they are.
        flat_result = [_identity(value) for value in nest.flatten(result)]
    variables = list(watcher.watched_variables())
    variables_inside = variables and _takes_variables(grad_fn)
    if variables and not variables_inside:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )

    def backward(*dy):
        if variables_inside:
            input_grads, variable_grads = grad_fn(*dy, variables=variables)
            if len(variable_grads) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            input_grads, variable_grads = grad_fn(*dy), ()
        input_grads = nest.flatten(input_grads)
        if len(input_grads) != len(values):
            raise ValueError(
                "custom_gradient function expected to return "
                f"{len(values)} gradients, but returned {len(input_grads)} instead."
            )
        return [*input_grads, *variable_grads]

    if _tidemark.is_tracing():
        flat_result = _attached(values, variables, flat_result, backward)
    _tidemark.record_custom([*values, *variables], flat_result, backward)
    return nest.pack_sequence_as(result, flat_result)


def _attached(values, variables, results, backward):
    """The results as tensors of the graph whose gradient tapes around its run will see."""
    inputs = [*values, *(v._operand() for v in variables)]
    try:
        captures, graph = _traced(backward, inputs, results)
    except Exception as error:  # it matters to nobody unless a tape asks for the gradient
        captures, graph = _traced(_raising(error, inputs), inputs, results)
    return _tidemark.with_gradient(inputs, results, captures, graph)


def _traced(backward, inputs, results):
    """What the gradients' graph captures, and the graph."""
    with building("gradient") as builder:
        dy = [builder.add_input(t.dtype, t.shape) for t in results]
        found = [
            call("zeros_like", (source,), {}) if grad is None else convert_to_tensor(grad)
            for source, grad in zip(inputs, backward(*dy), strict=True)
        ]
        found = [builder.own(t) for t in found]
    graph = builder.finish(found)
    return builder.captures, graph


def _raising(error, inputs):
    """A gradient that raises, when it is run, what tracing the user's did."""
    error = error.with_traceback(None)  # whose frames hold tensors
    error.__context__ = error.__cause__ = None
    types = [(t.dtype, sizes_of(t.shape)) for t in inputs]

    def fail(*_):
        raise _copied(error)

    return lambda *dy: _tidemark.python_call(fail, list(dy), types, False)


def _copied(error):
    """Another error that says the same: one that is raised gets frames, which hold tensors."""
    import copy  # only where a gradient failed

    try:
        return copy.copy(error)
    except Exception:  # of a class that is made in its own way
        return RuntimeError(f"{type(error).__name__}: {error}")


@export("tf.recompute_grad")
def recompute_grad(f):
    """The function, whose values on the way are computed again for the gradient, not kept."""

    @custom_gradient
    def recomputed(*args, **kwargs):
        result = f(*args, **kwargs)

        def grad(*dy, variables=None):
            inputs = [_identity(value) for value in nest.flatten(args)]
            with GradientTape() as tape:
                tape.watch(inputs)
                again = f(*nest.pack_sequence_as(args, inputs), **kwargs)
            sources = [*inputs, *(variables or ())]
            found = tape.gradient(again, sources, output_gradients=list(dy))
            in_args, in_variables = found[: len(inputs)], found[len(inputs) :]
            return (in_args, in_variables) if variables else in_args

        return result, grad

    return functools.wraps(f)(recomputed)


@export("tf.grad_pass_through")
def grad_pass_through(f):
    """The function with the identity's gradient."""

    @custom_gradient
    def passing(*args, **kwargs):
        def grad(*dy, variables=None):
            return (dy, [None] * len(variables)) if variables else dy

        return f(*args, **kwargs), grad

    return functools.wraps(f)(passing)
