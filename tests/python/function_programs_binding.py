"""More of them: how calls bind to functions and their traces, and what is said if they do not."""

import copy
import pickle

from function_programs import program, tf


def plus_one(x):
    return x + 1


def told(function, *args, **kwargs):
    """The kind of error and its first line, as far as that is the same in every process and under
    every Python: from 3.12 on `inspect` says which arguments are keyword-only."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        line = (
            str(error).split("\n")[0].replace("required keyword-only argument", "required argument")
        )
        return [type(error).__name__, line]
    return None


@program
def functions_pickled_and_cloned():
    spec = (tf.TensorSpec([]),)
    f = tf.function(plus_one, spec, autograph=False, jit_compile=False, reduce_retracing=True)
    out = []
    for one in (pickle.loads(pickle.dumps(f)), f._clone(plus_one), copy.copy(f), f._clone(abs)):
        out += [one(2.0), one._name, one.input_signature == spec, one._autograph]
        out += [one._jit_compile, one._reduce_retracing, one.experimental_get_tracing_count()]
    return out


@program
def functions_decorated_in_place():
    f = tf.function(plus_one)
    f._decorate(lambda inner: lambda x: inner(x) * 10)
    return [f(tf.constant(2)), told(f._decorate, lambda inner: inner)]


@program
def arguments_changed_while_tracing():
    def grow(values, other=None):
        values.append(tf.constant(1.0))

    def forget(values):
        values["a"].pop("b")

    def replace(*rows):
        rows[1][0] = rows[1][0] + 1.0
        return rows[1][0]

    def shrink(**rows):
        rows["x"].clear()

    def copies(values):
        values = list(values)
        values.append(tf.constant(1.0))
        return values

    one = tf.constant(1.0)
    given = [one]
    return [
        told(tf.function(grow), given),
        len(given),
        told(tf.function(forget), {"a": {"b": one}}),
        told(tf.function(replace), [one], [one]),
        told(tf.function(shrink), x=[one]),
        tf.function(copies)(given),
    ]


@program
def calls_that_do_not_bind():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def one(a):
        return a

    @tf.function(input_signature=[tf.TensorSpec([])])
    def with_default(a, b=3):
        return a + b

    def two(a, b):
        return a

    number = tf.constant(1.0)
    return [
        told(one, number),
        told(one, tf.constant([1])),
        told(one),
        told(one, tf.constant([1.0]), tf.constant([1.0])),
        told(tf.function, two, input_signature=[tf.TensorSpec([])]),
        with_default(1.0),
        told(with_default, 1.0, 4.0)[0],
        [
            told(tf.function(two), *args, **kwargs)[0]
            for args, kwargs in (((), {}), ((1,), {"c": 2}))
        ],
    ]


def _traced_and_called():
    one, half = tf.constant(1), tf.constant(1.0)
    return [
        ((1, one), {}, (1,), {}),
        ((1, 2, half), {}, (1, 2), {}),
        ((1, 2), {}, (1, 2, 3), {}),
        ((1, 2), {"c": half}, (1, 2), {}),
        ((1, 2), {}, (1, 2), {"c": half}),
        (({"a": one, "b": one},), {}, (one, 5), {}),
        (((one, one),), {}, (one, 5), {}),
        (([one, one],), {}, (one, 5), {}),
        ((one,), {}, (half, 5), {}),
        ((5,), {}, (8, 5), {}),
        ((5,), {}, (one, 5), {}),
        ((1, 2), {}, (1, 2), {"x": 3}),
        ((one, one), {}, (one,), {}),
        ((one, one), {}, (one, one), {"x": one}),
    ]


@program
def calls_that_do_not_bind_to_a_trace():
    @tf.function
    def func(x, y=5, *varargs, **kwargs):
        return x

    out = []
    for args, kwargs, given, by_name in _traced_and_called():
        concrete = func.get_concrete_function(*args, **kwargs)
        out.append(told(concrete, *given, **by_name))
        out.append(told(concrete._call_with_flat_signature, given, by_name))
    ragged = func.get_concrete_function(tf.ragged.constant([[1, 2], [3]]))
    out += [
        told(ragged, {"a": tf.constant([1])}, 5)[0],
        told(ragged, tf.ragged.constant([[[1]]]))[0],
    ]
    return [*out, told(ragged, tf.ragged.constant([[1.0]]), 5)[0]]


@program
def calls_by_parameters_come_first():
    @tf.function
    def f(x, y):
        return x * 10 + y

    swapped = f.get_concrete_function(
        tf.TensorSpec(None, tf.int32, "y"), tf.TensorSpec(None, tf.int32, "x")
    )
    five, six = tf.constant(5), tf.constant(6)
    traced = f.get_concrete_function(tf.TensorSpec([], tf.int32), 3)
    return [swapped(five, six), swapped(x=five, y=six), traced(five), traced(five, 3)]


@program
def signatures_in_words():
    @tf.function
    def many(x, y=5, *rest, **named):
        return x

    @tf.function
    def few(x, y=5):
        return {"r": x, "l": [1, 2]}

    one = tf.constant(1)
    out = []
    for concrete in (
        many.get_concrete_function({"a": one, "b": [tf.constant(2.0)]}, one, one, k=one),
        few.get_concrete_function([one, one]),
        few.get_concrete_function(tf.ragged.constant([[1]]), "q"),
        few.get_concrete_function(tf.TensorSpec(None, tf.int32, "z"), (1,)),
    ):
        out.append(repr(concrete.structured_input_signature))
        out += [concrete.pretty_printed_signature(verbose) for verbose in (False, True)]
        out.append(str(concrete))
    return [*out, few.pretty_printed_concrete_signatures(verbose=False)]
