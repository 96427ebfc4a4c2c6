"""More of them: conditions, loops, gradients, concrete functions and errors."""

import copy
import pickle

import numpy as np
from function_programs import error_of, program, tf

# --- tf.cond, tf.case, tf.switch_case -------------------------------------------------------------


@program
def cond_inside_and_outside():
    def f(x):
        return tf.cond(x > 0, lambda: x * 2, lambda: -x)

    return [f(tf.constant(3)), f(tf.constant(-3)), tf.function(f)(tf.constant(-4))]


@program
def cond_of_structures():
    @tf.function
    def f(flag):
        return tf.cond(flag, lambda: {"a": 1, "b": (2.0, 3)}, lambda: {"a": 4, "b": (5.0, 6)})

    return f(tf.constant(False))


@program
def cond_branches_that_do_not_match():
    def run(first, second):
        return error_of(tf.function(lambda p: tf.cond(p, first, second)), tf.constant(True))

    return [
        run(lambda: 1, lambda: 2.0),
        run(lambda: (1, 2), lambda: 1),
        run(lambda: [1], lambda: (1,)),
        run(lambda: {"a": 1}, lambda: {"b": 1}),
        run(lambda: None, lambda: 1),
        error_of(lambda: tf.cond(tf.constant(True), 1, lambda: 2)),
    ]


@program
def cond_of_shapes():
    @tf.function
    def f(flag):
        y = tf.cond(flag, lambda: tf.ones([2, 3]), lambda: tf.ones([4, 3]))
        return y.shape.as_list(), tf.shape(y)

    shape, sizes = f(tf.constant(False))
    return [str(shape), sizes]


@program
def cond_needs_a_scalar():
    f = tf.function(lambda p: tf.cond(p, lambda: 1, lambda: 2))
    return [error_of(f, tf.constant([True, False])), f(tf.constant(True))]


@program
def switch_cases():
    @tf.function
    def f(i):
        return tf.switch_case(i, [lambda: 10, lambda: 20, lambda: 30])

    return [f(tf.constant(k)) for k in (0, 1, 2, 5, -1)]


@program
def switch_case_with_default():
    @tf.function
    def f(i):
        return tf.switch_case(i, {0: lambda: 10, 1: lambda: 20}, default=lambda: 99)

    return [f(tf.constant(k)) for k in (0, 1, 7)]


@program
def cases():
    @tf.function
    def f(x):
        return tf.case(
            [(x < 0, lambda: tf.constant(-1)), (x > 10, lambda: tf.constant(1))],
            default=lambda: tf.constant(0),
        )

    return [f(tf.constant(k)) for k in (-5, 5, 50)]


@program
def cases_that_exclude():
    @tf.function
    def f(x):
        return tf.case(
            [(x > 0, lambda: tf.constant(1)), (x > 10, lambda: tf.constant(2))], exclusive=True
        )

    return [f(tf.constant(5)), error_of(f, tf.constant(50))]


# --- tf.while_loop --------------------------------------------------------------------------------


@program
def while_loops():
    @tf.function
    def f(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))

    return [f(tf.constant(5)), f(tf.constant(0))]


@program
def while_loop_limits():
    @tf.function
    def f(most):
        return tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=most)

    return [f(tf.constant(4)), f(3)]


@program
def while_loop_shapes_must_hold():
    def grow(x):
        return tf.concat([x, x], 0)

    def run(**options):
        return tf.while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, grow(x)), (0, tf.ones([1])), **options
        )

    bad = tf.function(lambda: run())
    shapes = (tf.TensorShape([]), tf.TensorShape([None]))
    good = tf.function(lambda: run(shape_invariants=shapes))
    wrong = (tf.TensorShape([]), tf.TensorShape([3]))
    return [
        error_of(bad),
        good(),
        error_of(tf.function(lambda: run(shape_invariants=wrong))),
        run(),
    ]


@program
def while_loop_types_must_hold():
    @tf.function
    def dtype():
        return tf.while_loop(lambda i: i < 2, lambda i: tf.cast(i, tf.float32), [tf.constant(0)])

    @tf.function
    def count():
        return tf.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1,), (0, 0))

    return [error_of(dtype), error_of(count) is not None]


@program
def while_loops_nest():
    @tf.function
    def f(n):
        def outer(i, total):
            _, inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (0, 0))
            return i + 1, total + inner

        return tf.while_loop(lambda i, t: i < n, outer, (0, 0))[1]

    return f(tf.constant(6))


@program
def gradients_of_while_loops():
    @tf.function
    def f(x, n):
        y = x
        for _ in tf.range(n):
            y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(3))
    return [y, tape.gradient(y, x)]


@program
def gradients_of_branches():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0, lambda: x * x, lambda: 3 * x)
        return tape.gradient(y, x)

    return [f(tf.constant(2.0)), f(tf.constant(-2.0))]


@program
def arrays_in_loops():
    @tf.function
    def f(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, i * i)
        return array.stack(), array.size()

    return f(tf.constant(4))


@program
def arrays_split_unstack_scatter():
    @tf.function
    def f(x):
        rows = tf.TensorArray(tf.float32, 3).unstack(x)
        cut = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x[:, 0], [1, 2])
        put = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], x)
        return rows.read(1), cut.read(1), put.stack(), rows.gather([2, 0]), cut.concat()

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


@program
def arrays_of_unequal_elements():
    @tf.function
    def f(n):
        array = tf.TensorArray(tf.int32, size=n, infer_shape=False)
        for i in tf.range(n):
            array = array.write(i, tf.fill([i + 1], i))
        return array.concat(), array.read(2)

    return f(tf.constant(3))


@program
def array_errors():
    @tf.function
    def outside(i):
        return tf.TensorArray(tf.float32, 2).write(i, 1.0).stack()

    @tf.function
    def shapes():
        return tf.TensorArray(tf.float32, 2).write(0, [1.0]).write(1, [1.0, 2.0]).stack()

    @tf.function
    def dtypes():
        return tf.TensorArray(tf.float32, 2).write(0, tf.constant(1)).stack()

    return [error_of(outside, tf.constant(5)), error_of(shapes), error_of(dtypes)]


@program
def folds_and_scans():
    @tf.function
    def f(x):
        return (
            tf.foldl(lambda a, b: a * 2 + b, x),
            tf.foldr(lambda a, b: a * 2 + b, x),
            tf.scan(lambda a, b: a + b, x),
            tf.scan(lambda a, b: a + b, x, reverse=True),
            tf.scan(lambda a, b: a + b, x, initializer=10),
        )

    return f(tf.constant([1, 2, 3]))


@program
def maps_with_structures():
    @tf.function
    def f(x, y):
        return tf.map_fn(
            lambda pair: (pair[0] + pair[1], pair[0] > pair[1]),
            (x, y),
            fn_output_signature=(tf.int32, tf.bool),
        )

    return f(tf.constant([1, 5]), tf.constant([2, 3]))


@program
def vectorized():
    @tf.function
    def f(x, w):
        return tf.vectorized_map(lambda row: tf.tensordot(w, row, 1) + tf.reduce_max(row), x)

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 0.0], [2.0, 1.0]]))


# --- AutoGraph ------------------------------------------------------------------------------------


@program
def branches_must_define_the_same():
    @tf.function
    def one(x):
        if x > 0:
            y = 1
        return y

    @tf.function
    def other(x):
        if x > 0:  # noqa: SIM108
            y = 1
        else:
            y = None
        return y

    @tf.function
    def both(x):
        y = x * 1.0 if x > 0 else tf.constant(1)
        return y

    return [error_of(f, tf.constant(1)) for f in (one, other, both)]


@program
def loops_must_keep_types():
    @tf.function
    def dtype(x):
        y = tf.constant(1)
        while x > 0:
            y = tf.cast(y, tf.float32)
            x -= 1
        return y

    @tf.function
    def shape(x):
        y = tf.ones([1])
        while x > 0:
            y = tf.concat([y, y], 0)
            x -= 1
        return y

    @tf.function
    def undefined(x):
        while x > 0:
            z = x
            x -= 1
        return z

    one, none = tf.constant(1), tf.constant(0)
    return [error_of(dtype, one), error_of(shape, one), undefined(one), error_of(undefined, none)]


@program
def loop_options():
    @tf.function
    def f(n):
        x = tf.zeros([1])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))], maximum_iterations=3
            )
            x = tf.concat([x, [tf.cast(i, tf.float32)]], 0)
        return x

    return f(tf.constant(10))


@program
def loops_over_datasets_and_iterators():
    data = tf.data.Dataset.range(6)

    @tf.function
    def over(data):
        total = tf.constant(0, tf.int64)
        for x in data:
            if x == 4:
                break
            total += x
        return total

    @tf.function
    def started():
        total = tf.constant(0, tf.int64)
        for x in iter(data):
            total += x
        return total

    iterator = iter(data)
    return [over(data), over(iterator), next(iterator), started(), started()]


@program
def taking_from_iterators():
    @tf.function
    def two(iterator):
        return next(iterator) + next(iterator)

    iterator = iter(tf.data.Dataset.range(5))
    out = [two(iterator), two(iterator)]
    return [*out, error_of(two, iterator)]


@program
def without_autograph():
    @tf.function(autograph=False)
    def f(x):
        if x > 0:
            return x
        return -x

    @tf.function(autograph=False)
    def g(x):
        for row in x:
            x += row
        return x

    return [error_of(f, tf.constant(1)), error_of(g, tf.constant([1]))]


@program
def not_converted():
    @tf.autograph.experimental.do_not_convert
    def inner(x):
        if x > 0:
            return x
        return -x

    return error_of(tf.function(lambda x: inner(x)), tf.constant(1))


# --- gradients ------------------------------------------------------------------------------------


@program
def custom_gradients_with_variables():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        y = x * v

        def grad(dy, variables=None):
            return dy * 10.0, [dy * 100.0 for _ in variables]

        return y, grad

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, v])

    return step(tf.constant(2.0))


@program
def python_functions_have_gradients():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda v: v * v * v, [x], tf.float32)
        return y, tape.gradient(y, x)

    return f(tf.constant(2.0))


@program
def numpy_functions_have_none():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.numpy_function(lambda v: v * v, [x], tf.float32)
        return tape.gradient(y, x)

    return f(tf.constant(2.0)) is None


@program
def tapes_around_and_inside():
    x = tf.Variable(3.0)

    @tf.function
    def f():
        with tf.GradientTape() as inner:
            y = x * x * x
        return inner.gradient(y, x)

    with tf.GradientTape() as outer:
        slope = f()
    return [slope, outer.gradient(slope, x)]


@program
def gradients_of_unconnected():
    @tf.function
    def f(x, z):
        with tf.GradientTape() as tape:
            tape.watch([x, z])
            y = x * 2.0
        return tape.gradient(y, z, unconnected_gradients="zero")

    return f(tf.constant(1.0), tf.constant([1.0, 2.0]))


@program
def symbolic_gradients():
    @tf.function
    def f(x):
        y = x * x
        return tf.gradients(y, x)[0], tf.gradients(y, x, grad_ys=tf.constant(3.0))[0]

    return f(tf.constant(4.0))


# --- concrete functions ---------------------------------------------------------------------------


@program
def concrete_function_calls():
    f = tf.function(lambda x, y: x + y)
    c = f.get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
    return [
        c(tf.constant(1), tf.constant(2)),
        c(tf.constant(1), y=tf.constant(5)),
        error_of(c, tf.constant(1)),
        error_of(c, tf.constant(1.0), tf.constant(2.0)),
        error_of(c, tf.constant([1]), tf.constant([2])),
        error_of(c, tf.constant(1), tf.constant(2), tf.constant(3)),
    ]


@program
def concrete_functions_bake_python_values():
    f = tf.function(lambda x, n: x * n)
    c = f.get_concrete_function(tf.TensorSpec([], tf.int32), 3)
    return [c(tf.constant(2)), error_of(c, tf.constant(2), 4)]


@program
def concrete_keywords():
    f = tf.function(lambda x, scale=1, shift=0: x * scale + shift)
    c = f.get_concrete_function(
        x=tf.TensorSpec([None], tf.int32), shift=tf.TensorSpec([], tf.int32)
    )
    return [c(x=tf.constant([1, 2]), shift=tf.constant(5)), len(c.inputs)]


@program
def concrete_structures():
    f = tf.function(lambda pair: {"sum": pair["a"] + pair["b"]})
    spec = {"a": tf.TensorSpec([None], tf.float32), "b": tf.TensorSpec([], tf.float32)}
    c = f.get_concrete_function(spec)
    args, kwargs = c.structured_input_signature
    shapes = [str(s.shape) for s in tf.nest.flatten(args)]
    outputs = tf.nest.map_structure(lambda s: str(s.shape), c.structured_outputs)
    return [shapes, kwargs, outputs, c({"a": tf.constant([1.0]), "b": tf.constant(2.0)})]


@program
def concrete_functions_are_kept():
    f = tf.function(lambda x: x + 1)
    spec = tf.TensorSpec([], tf.float32)
    first, second = f.get_concrete_function(spec), f.get_concrete_function(spec)
    f(tf.constant(1.0))
    return [first(tf.constant(1.0)), second(tf.constant(2.0)), f.experimental_get_tracing_count()]


@program
def concrete_from_values():
    f = tf.function(lambda x: tf.reduce_sum(x))
    c = f.get_concrete_function(tf.constant([1.0, 2.0]))
    return [c(tf.constant([3.0, 4.0])), error_of(c, tf.constant([1.0]))]


@program
def concrete_gradients():
    f = tf.function(lambda x: x * x)
    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = c(x)
    return tape.gradient(y, x)


@program
def names_of_inputs():
    @tf.function
    def f(first, second):
        return first + second

    c = f.get_concrete_function(
        tf.TensorSpec([], tf.int32, name="a"), tf.TensorSpec([], tf.int32, name="b")
    )
    return c(a=tf.constant(1), b=tf.constant(2))


@program
def signatures_as_text():
    f = tf.function(lambda x, y: x)
    f(tf.constant([1.0]), 2)
    text = f.pretty_printed_concrete_signatures()
    return ["float32" in text, "x" in text]


# --- errors ---------------------------------------------------------------------------------------


@program
def copies_and_pickles():
    f = tf.function(lambda x: x + 1)
    return [error_of(lambda: pickle.dumps(f)) is not None, copy.copy(f)(tf.constant(1))]


@program
def wrong_numbers_of_arguments():
    f = tf.function(lambda x, y: x)
    one = tf.constant(1)
    return [error_of(f), error_of(f, one), error_of(f, one, one, one), error_of(f, one, z=one)]


@program
def results_that_cannot_be():
    class Thing:
        pass

    return [
        error_of(tf.function(lambda: Thing())),
        error_of(tf.function(lambda: {1, 2})),
        tf.function(lambda: None)(),
        tf.function(lambda: [1, "a", 2.0])(),
    ]


@program
def arguments_that_cannot_be():
    f = tf.function(lambda x: 1)
    return [f([1, [2]]), f({"a": None}), f(object())]


@program
def asking_values_while_tracing():
    def uses(code):
        return error_of(tf.function(code, autograph=False), tf.constant([1, 2]))

    return [
        uses(lambda x: bool(x[0])),
        uses(lambda x: int(x[0])),
        uses(lambda x: float(x[0])),
        uses(lambda x: x.numpy()),
        uses(lambda x: list(x)) is None or "OperatorNotAllowed",
        uses(lambda x: range(x[0])),
        uses(lambda x: np.zeros(3)[x[0]]),
        uses(lambda x: "text" in x),
    ]


@program
def errors_at_run_time():
    @tf.function
    def divided(x, y):
        return x // y

    @tf.function
    def gathered(x, i):
        return tf.gather(x, i)

    @tf.function
    def added(x, y):
        return x + y

    unknown = added.get_concrete_function(*[tf.TensorSpec([None], tf.float32)] * 2)
    return [
        error_of(divided, tf.constant(1), tf.constant(0)),
        error_of(gathered, tf.constant([1, 2]), tf.constant(5)),
        error_of(unknown, tf.ones([2]), tf.ones([3])),
        error_of(added, tf.ones([2]), tf.ones([3])),
    ]


@program
def errors_leave_the_function_usable():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x)
        return x + 1

    out = [f(tf.constant(1))]
    out.append(error_of(f, tf.constant(-1)))
    return [*out, f(tf.constant(2))]


@program
def compiler_ir_needs_a_compiled_function():
    f = tf.function(lambda x: x + 1)
    return error_of(lambda: f.experimental_get_compiler_ir(tf.constant(1.0))(stage="hlo"))


@program
def functions_and_devices():
    with tf.device("/CPU:0"):
        f = tf.function(lambda x: tf.identity(x) + 1)

        @tf.function
        def g(x):
            with tf.device("/CPU:0"):
                return f(x) * 2

        return [g(tf.constant(3)), f(tf.constant(1))]


@program
def name_scopes_in_functions():
    @tf.function
    def f(x):
        with tf.name_scope("outer"), tf.name_scope("inner"):
            return tf.add(x, 1, name="sum")

    names = [
        op.name
        for op in f.get_concrete_function(tf.TensorSpec([], tf.int32)).graph.get_operations()
    ]
    return [f(tf.constant(1)), any("outer/inner" in name for name in names)]
