"""Small programs about ``tf.function``, each a function that returns what there is to compare.

They run on TensorFlow, whose results `tools/record_functions.py` writes down, and on Tidemark.
"""

import collections
import dataclasses
import functools
import importlib
import os

import numpy as np

tf = importlib.import_module(os.environ.get("FUNCTION_PROGRAMS_ON", "tidemark"))

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def error_of(function, *args, **kwargs):
    """The kind of error as a user would catch it: a builtin, or one of tf.errors."""
    try:
        function(*args, **kwargs)
        if tf.executing_eagerly():
            tf.test.experimental.sync_devices()  # errors of kernels come with the wait
    except Exception as error:
        for kind in type(error).__mro__:
            if kind.__module__ == "builtins" or getattr(tf.errors, kind.__name__, None) is kind:
                return kind.__name__
    return None


Point = collections.namedtuple("Point", "x y")


# --- making functions -----------------------------------------------------------------------------


@program
def decorator_forms():
    plain = tf.function(lambda x: x + 1)

    @tf.function
    def bare(x):
        return x * 2

    @tf.function()
    def called(x):
        return x * 3

    @tf.function(autograph=False, jit_compile=None, reduce_retracing=True)
    def options(x):
        return x * 4

    one = tf.constant(1)
    return [f(one) for f in (plain, bare, called, options)]


@program
def wraps_its_function():
    @tf.function
    def documented(x):
        """What it does."""
        return x

    return [documented.__name__, documented.__doc__, documented.python_function(3)]


@program
def decorating_twice():
    inner = tf.function(lambda x: x + 1)
    return tf.function(inner)(tf.constant(1))


@program
def methods_keep_their_instances():
    class Counter:
        def __init__(self, step):
            self.step, self.traced = step, 0

        @tf.function
        def add(self, x):
            self.traced += 1
            return x + self.step

    a, b = Counter(1), Counter(10)
    one = tf.constant(1)
    out = [a.add(one), b.add(one), a.add(one), Counter.add(b, one)]
    return [out, a.traced, b.traced]


@program
def class_and_static_methods():
    class Holder:
        scale = 3.0

        @classmethod
        @tf.function
        def scaled(cls, x):
            return x * cls.scale

        @staticmethod
        @tf.function
        def doubled(x):
            return x * 2.0

    return [
        Holder.doubled(tf.constant(2.0)),
        Holder().doubled(tf.constant(3.0)),
        Holder.scaled(tf.constant(2.0)),
    ]


@program
def callable_objects():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return x * self.by

    return tf.function(Scale(4.0))(tf.constant(2.0))


@program
def partials():
    def f(a, b, c=1):
        return a * 100 + b * 10 + c

    bound = functools.partial(f, 1, c=3)
    return [tf.function(bound)(tf.constant(2)), tf.function(functools.partial(f, b=5))(2)]


@program
def module_methods():
    class Dense(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[2.0], [3.0]])
            self.b = None

        @tf.function
        def __call__(self, x):
            if self.b is None:
                self.b = tf.Variable([1.0])
            return x @ self.w + self.b

    d = Dense()
    return [d(tf.constant([[1.0, 1.0]])), len(d.trainable_variables)]


# --- arguments ------------------------------------------------------------------------------------


@program
def keywords_defaults_and_more():
    traced = []

    @tf.function
    def f(a, b=2, *rest, c, d=4, **more):
        traced.append(1)
        return a + b * 10 + c * 100 + d * 1000 + sum(rest) * 10000 + sum(more.values()) * 100000

    one = tf.constant(1)
    out = [f(one, c=3), f(one, 2, c=3, d=4), f(a=one, c=tf.constant(3)), f(one, 2, 5, 6, c=3, e=7)]
    return [out, len(traced)]


@program
def wrong_arguments():
    @tf.function
    def f(a, b=2):
        return a + b

    return [error_of(f), error_of(f, 1, 2, 3), error_of(f, 1, wrong=2), error_of(f, 1, a=2)]


@program
def python_values_retrace_by_value():
    traced = []

    @tf.function
    def f(x, flag):
        traced.append(flag)
        return x + 1 if flag else x - 1

    one = tf.constant(1)
    out = [f(one, True), f(one, False), f(one, True), f(one, "yes"), f(one, None)]
    return [out, traced]


@program
def dtypes_and_ranks_retrace():
    traced = []

    @tf.function
    def f(x):
        traced.append((x.dtype.name, x.shape.rank))
        return x + x

    f(tf.constant(1)), f(tf.constant(1.0)), f(tf.constant([1.0])), f(tf.constant(2))
    return traced


@program
def arrays_are_tensors():
    seen = []

    @tf.function
    def f(x, y):
        seen.append([tf.is_tensor(x), tf.is_tensor(y)])
        return x + tf.cast(y, tf.float64)

    return [f(np.array([1.0, 2.0]), np.int64(3)), f(np.array([2.0, 2.0]), np.int64(4)), seen]


@program
def structures_of_arguments():
    @tf.function
    def f(pair, named, table):
        return {
            "sum": pair[0] + pair[1][0],
            "point": Point(named.y, named.x),
            "z": [table["k"], None],
        }

    out = f((tf.constant(1), [tf.constant(2)]), Point(tf.constant(3), 4), {"k": tf.constant(5)})
    return [out["sum"], type(out["point"]).__name__, out["point"].x, out["point"].y, out["z"]]


@program
def results_of_all_kinds():
    v = tf.Variable(3.0)
    results = [None, 1, 2.5, "text", True, np.float64(1.5), np.arange(3), [], {}, (1, [2.0])]
    out = []
    for result in results:
        value = tf.function(lambda result=result: result)()
        out.append([type(value).__name__ if not tf.is_tensor(value) else value.dtype.name, value])
    returned = tf.function(lambda: v)()
    out.append([tf.is_tensor(returned), isinstance(returned, tf.Variable)])
    out.append(error_of(tf.function(lambda: object())))
    return out


@program
def input_signatures():
    traced = []

    @tf.function(
        input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32)]
    )
    def f(x, n):
        traced.append(x.shape.as_list())
        return tf.reduce_sum(x) * tf.cast(n, tf.float32)

    out = [
        f(tf.ones([3, 2]), tf.constant(2)),
        f([[1.0, 2.0]], 3),
        f(tf.ones([5, 2]), n=tf.constant(1)),
    ]
    errors = [
        error_of(f, tf.ones([3, 3]), 1),
        error_of(f, tf.ones([3, 2])),
        error_of(f, tf.ones([3, 2], tf.float64), 1),
        error_of(f, tf.ones([3, 2]), 1, 2),
        error_of(f, tf.ones([2]), 1),
    ]
    return [out, traced, errors]


@program
def input_signature_of_structures():
    spec = {"a": tf.TensorSpec([None], tf.float32), "b": (tf.TensorSpec([], tf.float32),)}

    @tf.function(input_signature=[spec])
    def f(table):
        return table["a"] + table["b"][0]

    out = f({"a": tf.constant([1.0, 2.0]), "b": (tf.constant(3.0),)})
    return [out, error_of(f, {"a": tf.constant([1.0])}), error_of(f, [tf.constant([1.0])])]


@program
def bad_signatures():
    return [
        error_of(tf.function, lambda x: x, input_signature=3),
        error_of(lambda: tf.function(lambda x: x, input_signature=[3])(1)),
        error_of(lambda: tf.function(lambda: 1, input_signature=[tf.TensorSpec([], tf.int32)])(1)),
    ]


@program
def signature_with_defaults():
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x, scale=2.0):
        return x * scale

    return [f(tf.constant(3.0)), error_of(f, tf.constant(3.0), 5.0)]


@program
def variables_as_arguments():
    traced = []

    @tf.function
    def f(v, x):
        traced.append(1)
        v.assign_add(x)
        return v * 2.0

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    out = [f(a, 1.0), f(b, 1.0), f(a, 1.0)]
    return [out, a, b]


@program
def composite_arguments():
    @tf.function
    def rows(r):
        return tf.reduce_sum(r, axis=1), r * 2.0

    sums, doubled = rows(tf.ragged.constant([[1.0, 2.0], [], [3.0]]))
    again, _ = rows(tf.ragged.constant([[1.0], [2.0, 3.0, 4.0]]))

    @tf.function
    def product(s, x):
        return tf.sparse.sparse_dense_matmul(s, x), s

    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    out, same = product(sparse, tf.constant([[1.0], [2.0]]))
    return [sums, again, doubled.to_list(), out, tf.sparse.to_dense(same)]


@program
def indexed_slices_out():
    table = tf.Variable([[1.0], [2.0], [3.0]])

    @tf.function
    def gradient(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
        return tape.gradient(loss, table)

    g = gradient(tf.constant([2, 0, 2]))
    return [isinstance(g, tf.IndexedSlices), tf.convert_to_tensor(g)]


# --- variables and state --------------------------------------------------------------------------


@program
def variables_made_once():
    class Model:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(1.0)
            return self.v.assign_add(x)

    m = Model()
    out = [m(tf.constant(1.0)), m(tf.constant(1.0)), m(tf.constant([1.0])[0])]

    @tf.function
    def always():
        return tf.Variable(1.0)

    return [out, error_of(always)]


@program
def order_of_updates():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a = v.read_value()
        v.assign(5.0)
        b = v + 0.0
        v.assign_add(2.0)
        v.assign_sub(1.0)
        return a, b, v

    return [f(), f(), v]


@program
def updates_nobody_looks_at():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(flag):
        v.scatter_nd_update([[1]], [20.0])
        v.assign(v * 2.0)
        if flag:
            v.assign_add([1.0, 1.0, 1.0])

    return [f(tf.constant(True)), v.numpy().tolist(), f(tf.constant(False)), v]


@program
def closures_over_tensors_and_variables():
    t = tf.constant([1.0, 2.0])
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        return x * v + t

    first = f(1.0)
    v.assign(10.0)
    return [first, f(1.0)]


@program
def python_side_effects_once():
    seen = []

    @tf.function
    def f(x):
        seen.append("traced")
        return x

    for i in range(3):
        f(tf.constant(i))
    return seen


@program
def init_scope_and_modes():
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
            seen.append(int(tf.constant(2) + 3))
        seen.append(tf.inside_function())
        return x

    f(tf.constant(1))
    return [seen, tf.executing_eagerly(), tf.inside_function()]


@program
def running_eagerly():
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x + 1

    tf.config.run_functions_eagerly(True)
    out = [f(tf.constant(1)), f(tf.constant(1)), tf.config.functions_run_eagerly()]
    tf.config.run_functions_eagerly(False)
    return [out, f(tf.constant(1)), seen]


@program
def random_numbers_are_fresh():
    @tf.function
    def f():
        return tf.random.uniform([3]), tf.random.normal([3])

    a, b = f(), f()
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def g():
        return generator.normal([2])

    c, d = g(), g()
    return [bool(np.any(a[0] != b[0])), bool(np.any(a[1] != b[1])), bool(np.any(c != d))]


@program
def stateless_random():
    f = tf.function(lambda seed: tf.random.stateless_uniform([2], seed))
    return bool(np.all(f([1, 2]) == f([1, 2])))


# --- nesting --------------------------------------------------------------------------------------


@program
def nested_functions():
    traced = []

    @tf.function
    def inner(x):
        traced.append("inner")
        return x * 2

    @tf.function
    def outer(x):
        traced.append("outer")
        return inner(x) + inner(x + 1)

    return [outer(tf.constant(1)), outer(tf.constant(2)), inner(tf.constant(3)), traced]


@program
def functions_made_inside():
    @tf.function
    def outer(x):
        @tf.function
        def inner(y):
            return x + y

        return inner(x * 10) * 2

    return [outer(tf.constant(1)), outer(tf.constant(2))]


@program
def recursion_over_python_numbers():
    @tf.function
    def factorial(n):
        if n <= 1:
            return tf.constant(1)
        return n * factorial(n - 1)

    return factorial(5)


@program
def functions_as_arguments():
    traced = []

    @tf.function
    def apply(f, x):
        traced.append(1)
        return f(x)

    double, square = (lambda x: x * 2), (lambda x: x * x)
    three = tf.constant(3)
    return [apply(double, three), apply(square, three), apply(double, three), len(traced)]


@program
def objects_as_arguments():
    class Config:
        def __init__(self, scale):
            self.scale = scale

    traced = []

    @tf.function
    def f(config, x):
        traced.append(1)
        return x * config.scale

    a, b = Config(2.0), Config(3.0)
    return [f(a, tf.constant(1.0)), f(b, tf.constant(1.0)), f(a, tf.constant(1.0)), len(traced)]


@program
def dataclasses_as_arguments():
    @dataclasses.dataclass(frozen=True)
    class Options:
        scale: float = 2.0

    traced = []

    @tf.function
    def f(options, x):
        traced.append(1)
        return x * options.scale

    x = tf.constant(1.0)
    return [f(Options(), x), f(Options(), x), f(Options(3.0), x)]
