"""More of them: when functions are traced again, what they keep, what variables they may make."""

import gc
import weakref

import numpy as np
from function_programs import error_of, program, tf


def counted(function=None, **options):
    """(the tf.function, how many times its code ran)."""
    runs = []

    def wrap(inner):
        @tf.function(**options)
        def traced(*args, **kwargs):
            runs.append(1)
            return inner(*args, **kwargs)

        return traced, lambda: len(runs)

    return wrap(function)


# --- when a function is traced again --------------------------------------------------------------


@program
def one_trace_for_equal_tensors():
    f, runs = counted(lambda x: x + 1)
    for value in (1, 2, 3):
        f(tf.constant(value))
    f(tf.constant([1, 2]))
    f(tf.constant([3, 4]))
    f(tf.constant(1.0))
    return runs()


@program
def bools_and_strings_retrace():
    f, runs = counted(lambda x, flag: x if flag else -x)
    out = [f(tf.constant(2), True), f(tf.constant(2), False), f(tf.constant(3), True)]
    g, strings = counted(lambda x, mode: x * len(mode))
    g(tf.constant(1), "ab"), g(tf.constant(1), "abc"), g(tf.constant(1), "ab")
    return [*out, runs(), strings()]


@program
def structure_retraces():
    f, runs = counted(lambda x: tf.add_n(tf.nest.flatten(x)))
    one = tf.constant(1)
    f([one]), f([one, one]), f((one, one)), f({"a": one, "b": one}), f([one, one])
    return runs()


@program
def keywords_and_positions_are_one_trace():
    f, runs = counted(lambda x, y=2: x + y)
    tensors = tf.constant(1), tf.constant(2)
    f(*tensors), f(tensors[0], y=tensors[1])
    return runs() <= 2


@program
def none_and_missing_arguments():
    f, runs = counted(lambda x, y=None: x if y is None else x + y)
    one = tf.constant(1)
    return [f(one), f(one, None), f(one, one), runs() <= 3]


@program
def input_signature_is_one_trace():
    f, runs = counted(
        lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None], tf.float32)]
    )
    out = [f(tf.ones([n])) for n in range(1, 6)]
    return [out, runs(), error_of(f, tf.ones([2, 2])), error_of(f, tf.ones([2], tf.int32))]


@program
def python_numbers_fit_a_signature():
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x):
        return x * 2

    return [f(3.0), f(3), f(np.float32(2)), error_of(f, [1.0, 2.0]), error_of(f, "a")]


@program
def signature_counts_arguments():
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def f(x):
        return x

    return [error_of(f), error_of(f, 1, 2), error_of(f, y=1), f(x=tf.constant(4))]


@program
def a_new_function_is_a_new_trace():
    runs = []

    def code(x):
        runs.append(1)
        return x

    tf.function(code)(tf.constant(1))
    tf.function(code)(tf.constant(1))
    return len(runs)


@program
def instances_have_their_own_traces():
    runs = []

    class Scale(tf.Module):
        def __init__(self, by):
            super().__init__()
            self.by = by

        @tf.function
        def __call__(self, x):
            runs.append(self.by)
            return x * self.by

    two, three = Scale(2), Scale(3)
    x = tf.constant(5)
    return [two(x), three(x), two(x), three(x), runs]


@program
def instances_that_go_take_their_traces():
    class Scale:
        @tf.function
        def by(self, x):
            return x * 2

    one = Scale()
    one.by(tf.constant(1))
    gone = weakref.ref(one)
    del one
    gc.collect()
    return gone() is None


@program
def objects_of_equal_value():
    class Config:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return isinstance(other, Config) and self.value == other.value

        def __hash__(self):
            return hash(self.value)

    f, runs = counted(lambda config, x: x * config.value)
    first, second = Config(2), Config(3)
    one = tf.constant(1)
    return [f(first, one), f(second, one), f(first, one), runs()]


@program
def numpy_arrays_do_not_retrace():
    f, runs = counted(lambda x: tf.reduce_sum(x))
    out = [f(np.full([3], k, np.float32)) for k in range(4)]
    return [out, runs()]


@program
def numpy_scalars_do_not_retrace():
    f, runs = counted(lambda x: x + 1)
    out = [f(np.int32(k)) for k in range(3)]
    return [out, runs()]


@program
def retraced_after_dtype():
    f, runs = counted(lambda x: x)
    for dtype in (tf.int32, tf.int64, tf.float32, tf.int32):
        f(tf.constant(1, dtype))
    return runs()


@program
def relaxed_shapes():
    f, runs = counted(lambda x: tf.reduce_sum(x), reduce_retracing=True)
    out = [f(tf.ones([n])) for n in range(1, 12)]
    return [out, runs() <= 3]


@program
def relaxed_shapes_seen_inside():
    seen = []

    @tf.function(reduce_retracing=True)
    def f(x):
        seen.append(x.shape.as_list())
        return x

    for n in range(1, 6):
        f(tf.ones([n, 2]))
    return [seen[0], seen[-1]]


@program
def tracing_count():
    f = tf.function(lambda x: x)
    counts = [f.experimental_get_tracing_count()]
    f(tf.constant(1))
    f(tf.constant(2))
    f(tf.constant([1]))
    return [*counts, f.experimental_get_tracing_count()]


# --- what happens while tracing only --------------------------------------------------------------


@program
def side_effects_happen_once():
    log = []

    @tf.function
    def f(x):
        log.append("traced")
        return x

    f(tf.constant(1)), f(tf.constant(2))
    f("a"), f("a"), f("b")
    return log


@program
def python_state_is_baked_in():
    state = {"rate": 2}
    f = tf.function(lambda x: x * state["rate"])
    first = f(tf.constant(3))
    state["rate"] = 5
    return [first, f(tf.constant(3)), f(tf.constant(3.0))]


@program
def globals_are_read_when_traced():
    holder = type("Holder", (), {"x": 1})
    f = tf.function(lambda y: y + holder.x)
    out = [f(tf.constant(1))]
    holder.x = 10
    out.append(f(tf.constant(1)))
    return out


@program
def lists_that_leak_tensors():
    kept = []

    @tf.function
    def f(x):
        kept.append(x * 2)
        return x

    f(tf.constant(1.0))
    return [len(kept), error_of(lambda: kept[0].numpy()), error_of(lambda: kept[0] + 1)]


@program
def iterators_advance_while_tracing():
    numbers = iter(range(10))
    f = tf.function(lambda x: x + next(numbers))
    return [f(tf.constant(0)), f(tf.constant(0)), f(tf.constant(0.0))]


@program
def defaults_are_those_of_the_definition():
    default = 3

    @tf.function
    def f(x, y=default):
        return x + y

    default = 7
    return [f(tf.constant(1)), f(tf.constant(1), 1), default]


# --- variables ------------------------------------------------------------------------------------


@program
def a_variable_made_each_time_is_refused():
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        return x + v

    return error_of(f, tf.constant(1.0))


@program
def a_variable_made_once():
    class Count:
        def __init__(self):
            self.count = None

        @tf.function
        def __call__(self):
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    c = Count()
    return [c(), c(), c()]


@program
def a_variable_made_on_a_later_trace_is_refused():
    made = []

    @tf.function
    def f(x, again):
        if not made or again:
            made.append(tf.Variable(1.0))
        return x + made[-1]

    first = f(tf.constant(1.0), False)
    return [first, error_of(f, tf.constant(1.0), True)]


@program
def variables_keep_dtype_and_shape():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def wrong_shape(x):
        v.assign(x)

    @tf.function
    def wrong_dtype(x):
        v.assign(x)

    return [error_of(wrong_shape, tf.ones([3])), error_of(wrong_dtype, tf.constant([1, 2]))]


@program
def variables_of_open_shape():
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))

    @tf.function
    def grow():
        v.assign(tf.concat([v, v], 0))
        return tf.shape(v)

    return [grow(), grow(), v]


@program
def variables_read_after_each_update():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v.read_value()
        v.assign(5.0)
        between = v + 0.0
        v.assign_sub(2.0)
        return before, between, v.read_value()

    return [f(), v]


@program
def variables_updated_in_branches_and_loops():
    v = tf.Variable(0)

    @tf.function
    def f(n):
        for i in tf.range(n):
            if i % 2 == 0:
                v.assign_add(i)
            else:
                v.assign_sub(1)
        return v.read_value()

    return [f(tf.constant(5)), f(tf.constant(0)), v]


@program
def variables_captured_are_listed():
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    f = tf.function(lambda x: x * v + w)
    c = f.get_concrete_function(tf.constant(1.0))
    return [len(c.variables), len(c.trainable_variables), c(tf.constant(3.0))]


@program
def a_variable_that_goes_is_missed():
    v = tf.Variable(2.0)
    f = tf.function(lambda x: x * v)
    first = f(tf.constant(1.0))
    v.assign(4.0)
    return [first, f(tf.constant(1.0))]


@program
def init_scope_lifts_out():
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
            y = tf.constant(3) + 1
        seen.append(tf.executing_eagerly())
        return x + y

    return [f(tf.constant(1)), seen]


@program
def init_scope_makes_variables():
    held = []

    @tf.function
    def f(x):
        if not held:
            with tf.init_scope():
                held.append(tf.Variable(2.0))
        return x * held[0]

    return [f(tf.constant(3.0)), f(tf.constant(4.0)), held[0]]


# --- order ----------------------------------------------------------------------------------------


@program
def prints_and_updates_keep_their_order():
    v = tf.Variable([0])

    @tf.function
    def f():
        for k in range(3):
            v.assign(tf.concat([v[:1] * 10 + k], 0))
        return v.read_value()

    return [f(), v]


@program
def effects_of_inner_functions():
    v = tf.Variable(1)

    @tf.function
    def inner():
        v.assign(v * 2)

    @tf.function
    def outer():
        inner()
        v.assign_add(1)
        inner()
        return v.read_value()

    return [outer(), outer()]


@program
def python_functions_keep_their_order():
    log = []

    @tf.function
    def f():
        tf.py_function(lambda: log.append("a"), [], [])
        tf.py_function(lambda: log.append("b"), [], [])

    f(), f()
    return log


@program
def unused_pure_work_is_left_out():
    calls = []

    @tf.function
    def f(x):
        tf.numpy_function(lambda v: calls.append(1) or v, [x], tf.int32)
        return x

    f(tf.constant(1))
    return len(calls)


@program
def asserts_run_though_nobody_looks():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, message="must be above 0")
        return tf.constant(1)

    return [f(tf.constant(1)), error_of(f, tf.constant(-1))]
