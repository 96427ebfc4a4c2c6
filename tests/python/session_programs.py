"""Small programs about graphs, sessions and what both share with functions; each returns what there
is to compare.

They run on TensorFlow, whose results `tools/record_functions.py` writes down, and on Tidemark.
"""

import contextlib
import importlib
import os

import numpy as np

tf = importlib.import_module(os.environ.get("FUNCTION_PROGRAMS_ON", "tidemark"))
v1 = tf.compat.v1

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def error_of(function, *args, **kwargs):
    """The kind of error as a user would catch it: a builtin, or one of tf.errors."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        for kind in type(error).__mro__:
            if kind.__module__ == "builtins" or getattr(tf.errors, kind.__name__, None) is kind:
                return kind.__name__
    return None


@contextlib.contextmanager
def session():
    """A graph of its own, and a session that runs it."""
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as sess:
        yield sess


def initialized(sess):
    sess.run(v1.global_variables_initializer())


# --- control dependencies -------------------------------------------------------------------------


@program
def control_dependencies_on_eager_tensors():
    def name_after(item):
        with session(), tf.control_dependencies([item]):
            return tf.constant(2.0).name

    return [error_of(name_after, tf.constant(1.0)), error_of(name_after, tf.Variable(2.0))]


@program
def control_dependencies_keep_their_order():
    with session() as sess:
        v = v1.get_variable("v", initializer=1.0)
        initialized(sess)
        first = v.assign_add(1.0)
        with tf.control_dependencies([first]):
            second = v.read_value() * 10.0
            with tf.control_dependencies(None):
                free = tf.constant(3.0) * 2.0
        return [sess.run(second), sess.run(second), sess.run(free), sess.run(v)]


@program
def an_optimizer_used_eagerly_then_in_a_graph():
    optimizer = v1.train.AdamOptimizer(0.1)
    w = tf.Variable([1.0, 2.0])
    optimizer.minimize(lambda: tf.reduce_sum(w * w), var_list=[w])
    eager = w.numpy()
    with session() as sess:
        u = v1.get_variable("u", initializer=[1.0, 2.0])
        step = optimizer.minimize(tf.reduce_sum(u * u))
        initialized(sess)
        sess.run(step)
        return [eager, sess.run(u)]


@program
def branches_and_loops_run_after_what_is_outside():
    with session() as sess:
        v = v1.get_variable("v", initializer=1.0)
        initialized(sess)
        p = v1.placeholder(tf.bool, [])
        with tf.control_dependencies([v.assign_add(1.0)]):
            around = tf.cond(p, lambda: v.read_value(), lambda: tf.constant(0.0))

        def after(op, value):
            with tf.control_dependencies([op]):
                return value()

        first, second, third = v.assign_add(10.0), v.assign_add(100.0), v.assign_add(1000.0)
        chosen = tf.cond(p, lambda: after(first, lambda: v * 10.0), lambda: tf.constant(0.0))
        looped = tf.while_loop(lambda i: i < 3, lambda i: after(second, lambda: i + 1), [0])
        called = tf.function(lambda x: after(third, lambda: x * 2.0))(tf.constant(1.0))
        out = [sess.run(around, {p: True}), sess.run(v)]
        out += [sess.run(chosen, {p: True}), sess.run(v), sess.run(chosen, {p: False}), sess.run(v)]
        return [*out, sess.run(looped), sess.run(v), sess.run(called), sess.run(v)]


@program
def dependencies_inside_a_branch():
    with session() as sess:
        v = v1.get_variable("v", initializer=1.0)
        initialized(sess)
        p = v1.placeholder(tf.bool, [])

        def counted():
            with tf.control_dependencies([v.assign_add(5.0)]):
                return tf.constant(1.0)

        y = v1.cond(p, counted, lambda: tf.constant(2.0))
        return [sess.run(y, {p: True}), sess.run(v), sess.run(y, {p: False}), sess.run(v)]


# --- functions in graphs of sessions --------------------------------------------------------------


@program
def a_function_with_effects_in_a_graph():
    with session() as sess:
        v = tf.Variable(1.0)
        initialized(sess)

        @tf.function
        def inc(x):
            v.assign_add(x)
            return v * 2.0

        y = inc(3.0)
        return [sess.run(y), sess.run(v), sess.run(y), sess.run(v)]


@program
def an_effect_whose_value_nobody_needs():
    with session() as sess:
        v = tf.Variable(1.0)
        initialized(sess)

        @tf.function
        def inc(x):
            v.assign_add(x)
            return x + 1.0

        y = inc(tf.constant(3.0))
        z = y * 2.0
        return [sess.run(y), sess.run(v), sess.run(z), sess.run(v)]


@program
def a_function_that_returns_nothing_in_a_graph():
    with session() as sess:
        v = tf.Variable(1.0)
        initialized(sess)

        @tf.function
        def inc():
            v.assign_add(1.0)

        return [inc(), sess.run(v)]


@program
def a_function_in_a_function_in_a_graph():
    with session() as sess:
        v = tf.Variable(1.0)
        initialized(sess)

        @tf.function
        def inner(x):
            v.assign_add(x)
            return x

        @tf.function
        def outer(x):
            if x > 0.0:
                inner(x)
            return x * 2.0

        y = outer(tf.constant(4.0))
        return [sess.run(y), sess.run(v)]


# --- random numbers -------------------------------------------------------------------------------


@program
def a_generator_reset_in_a_function():
    g = tf.random.Generator.from_seed(1)

    @tf.function
    def reset_and_draw():
        g.reset_from_seed(7)
        return g.uniform([3])

    @tf.function
    def only_reset():
        g.reset_from_seed(7)

    @tf.function
    def reset_by_state():
        g.reset(tf.constant([7, 0, 0], tf.int64))
        return g.uniform([3])

    @tf.function
    def reset_by_key():
        g.reset_from_key_counter(5, [0, 0])
        return g.normal([2])

    first = reset_and_draw().numpy().tolist()
    out = [reset_and_draw().numpy().tolist() == first]
    only_reset()
    out += [g.state.numpy(), g.uniform([3]).numpy().tolist() == first]
    only_reset()
    out += [g.state.numpy(), g.uniform([3]).numpy().tolist() == first]
    out += [reset_by_state().numpy().tolist() == first, reset_by_state().numpy().tolist() == first]
    drawn = [reset_by_key().numpy().tolist() for _ in range(3)]
    g.reset_from_key_counter(5, [0, 0])
    return [*out, drawn[0] == drawn[1] == drawn[2], g.normal([2]).numpy().tolist() == drawn[0]]


@program
def seeds_in_sessions():
    def draws(graph_seed):
        with tf.Graph().as_default() as graph:
            if graph_seed is not None:
                v1.set_random_seed(graph_seed)
            free, other = v1.random_uniform([4]), v1.random_uniform([4])
            seeded, twin = v1.random_uniform([4], seed=3), v1.random_uniform([4], seed=3)
            normal, shuffled = v1.random_normal([4], seed=4), v1.random_shuffle(range(9), seed=2)
            w = v1.get_variable("w", [4], initializer=v1.random_normal_initializer(seed=3))
            kinds = [free, other, seeded, twin, normal, shuffled]
            out = []
            for _ in range(2):
                with v1.Session(graph=graph) as sess:
                    initialized(sess)
                    rounds = [sess.run(kinds) for _ in range(2)]
                    out.append([[r.tolist() for r in row] for row in [*rounds, [sess.run(w)]]])
        return out

    first, second = draws(1)
    (one, two, weights), (alone, alone_again, _) = first, draws(None)[0]
    again = draws(None)
    return [
        first == second,  # each session starts anew
        draws(1)[0] == first,  # and so does each graph
        draws(2)[0][0] != one,
        one[0] != one[1],  # operations without a seed differ
        one[2] == one[3] and two[2] == two[3],  # those with one seed do not
        [a != b for a, b in zip(one, two, strict=True)],  # and go on from run to run
        [a == b for a, b in zip(alone, again[0][0], strict=True)],  # an op's seed is enough
        [a == b for a, b in zip(again[0][1], again[1][1], strict=True)],
        alone[2] != one[2],  # but the graph's matters
        len(weights[0]), alone_again[2] != alone[2],
    ]  # fmt: skip


# --- gradients ------------------------------------------------------------------------------------


@program
def gradients_stop_where_they_are_told():
    with session() as sess:
        x = tf.constant(3.0)
        mid = x * x
        y = mid * x
        parts = tf.split(tf.stack([x, mid]), 2)
        z = parts[0] * parts[1]
        return sess.run(
            [
                tf.gradients(y, x, stop_gradients=[mid]),
                tf.gradients(y, [x, mid], stop_gradients=[mid]),
                tf.gradients(y, x),
                tf.gradients(z, [parts[0], parts[1]], stop_gradients=[parts[1]]),
                tf.gradients(z, [x], stop_gradients=[parts[1]], unconnected_gradients="zero"),
            ]
        )


@program
def gradients_that_the_run_tells_stop_too():
    with session() as sess:
        x = v1.placeholder(tf.float32, [None])
        mid = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), (0, x))[1]
        y = tf.reduce_sum(mid * x)
        asked = [
            tf.gradients(y, x),
            tf.gradients(y, x, stop_gradients=[mid]),
            tf.gradients(y, [mid, x], stop_gradients=[mid]),
            tf.gradients(y, [mid, x]),
        ]
        return sess.run(asked, {x: [2.0, 3.0]})


@program
def gradients_that_are_all_stopped():
    with session() as sess:
        a = tf.constant(0.0)
        b = 2.0 * a
        partial = tf.gradients(a + b, [a, b], stop_gradients=[a, b])
        total = tf.gradients(a + b, [a, b])
        none = tf.gradients(b * 2.0, [a], stop_gradients=[b])
        zero = tf.gradients(b * 2.0, [a], stop_gradients=[b], unconnected_gradients="zero")
        return [sess.run([partial, total]), none, sess.run(zero)]


@program
def gradients_by_variables_in_functions():
    v = tf.Variable(3.0)

    @tf.function
    def square():
        return tf.gradients(v * v, v)

    @tf.function
    def looped(x):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.constant(1.0)))[1]
        return tf.gradients(y, x)

    @tf.function
    def looped_variable():
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), (0, tf.constant(1.0)))[1]
        return tf.gradients(y, v)

    @tf.function
    def stopped(x):
        mid = x * x
        return tf.gradients(mid * x, x, stop_gradients=[mid])

    return [square(), looped(tf.constant(2.0)), looped_variable(), stopped(tf.constant(3.0))]


@program
def gradients_through_loops_in_graphs():
    with session() as sess:
        x = v1.placeholder(tf.float32, [])
        v = v1.get_variable("v", initializer=2.0)
        initialized(sess)
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, 1.0))
        _, z = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), (0, 1.0))
        w = tf.cond(x > 0.0, lambda: x * v, lambda: x)
        return sess.run([tf.gradients(y, x), tf.gradients(z, v), tf.gradients(w, [x, v])], {x: 3.0})


@program
def a_tape_in_a_graph():
    with session() as sess:
        v = tf.Variable(3.0)
        u = v1.get_variable("u", initializer=2.0)
        initialized(sess)
        with tf.GradientTape() as tape:
            y = v * v * u
        by_variables = tape.gradient(y, [v, u])
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = x * x * v
        return sess.run([by_variables, tape.gradient(z, x)])


@program
def second_order_tapes_in_a_graph():
    with session() as sess:
        v = tf.Variable(3.0)
        initialized(sess)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = v * v * v
            first = inner.gradient(y, v)
        return sess.run([first, outer.gradient(first, v)])


@program
def batch_jacobians_of_nothing():
    x, other = tf.zeros([2, 0]), tf.zeros([2, 3])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return [tape.batch_jacobian(y, x).shape.as_list(), tape.jacobian(y, x).shape.as_list(),
            tape.jacobian(y, other)]  # fmt: skip


# --- checks ---------------------------------------------------------------------------------------


@program
def checks_in_graphs():
    with session() as sess:
        x = v1.placeholder(tf.float32, [None])
        checks = [
            tf.debugging.assert_positive(x),
            tf.debugging.assert_less(x, 10.0),
            v1.assert_greater(x, 0.0),
            v1.Assert(tf.reduce_all(x > 0.0), [x]),
            tf.debugging.Assert(tf.reduce_all(x > 0.0), [x]),
            tf.debugging.assert_equal(x, x),
            v1.assert_rank(x, 1),
            v1.assert_near(x, x),
            v1.assert_non_negative(x),
        ]
        out = [isinstance(check, tf.Operation) for check in checks]
        for check in checks:
            with tf.control_dependencies([check]):
                y = tf.identity(x)
            out.append(sess.run(y, {x: [1.0, 2.0]}))
            out.append(error_of(sess.run, y, {x: [-1.0, 20.0]}))
            out.append(error_of(sess.run, check, {x: [-1.0, 20.0]}))
        return out


@program
def checks_that_fail_while_building():
    with session():
        return [
            error_of(v1.assert_positive, tf.constant([-1.0])),
            error_of(v1.assert_equal, tf.constant(1), tf.constant(2)),
            error_of(v1.assert_rank, tf.constant([1.0]), 2),
            error_of(v1.Assert, False, ["no"]),
            error_of(v1.assert_type, tf.constant(1), tf.float32),
        ]


@program
def checks_in_functions():
    @tf.function
    def checked(x):
        with tf.control_dependencies([tf.debugging.assert_positive(x)]):
            return x * 2.0

    return [checked(tf.constant(1.0)), error_of(checked, tf.constant(-1.0)),
            tf.debugging.assert_positive(tf.constant(1.0))]  # fmt: skip


# --- what is known while a graph is built ---------------------------------------------------------


@program
def static_values_in_functions():
    out = []

    @tf.function
    def look():
        for value in (1.5, "text", [1.5, 2.5], ["a", "b"], 3, True, [[1, 2], [3, 4]], 1 + 2j):
            known = tf.get_static_value(tf.constant(value))
            out.append(None if known is None else str(np.asarray(known).tolist()))
        out.append(tf.get_static_value(tf.constant(1.5) + tf.constant(1.0)))
        out.append(tf.get_static_value(tf.zeros([2])).tolist())
        out.append(str(tf.get_static_value(tf.stack([tf.constant(1), tf.constant(2)]))))
        return tf.constant(0)

    look()
    return out


@program
def static_values_in_graphs():
    with tf.Graph().as_default():
        found = [tf.get_static_value(tf.constant(v)) for v in (1.5, "text", [1.0, 2.0], 7)]
        return [str(np.asarray(f).tolist()) for f in found]


@program
def shapes_of_slices():
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([8, 4, 3]), tf.TensorSpec([], tf.int32)])
    def look(x, at):
        shapes.append(tf.slice(x, [at, 0, 0], [2, 3, 1]).shape.as_list())
        shapes.append(tf.slice(x, tf.stack([at, at, at]), [2, -1, 0]).shape.as_list())
        shapes.append(tf.slice(x, tf.stack([at, at, at]), [at, at, at]).shape.as_list())
        shapes.append(x[at : at + 2].shape.as_list())
        return tf.slice(x, [at, 0, 0], [2, 3, -1])

    return [look(tf.zeros([8, 4, 3]), 1).shape.as_list(), shapes]


@program
def the_graph_being_built():
    out = []

    def look(x):
        graph = v1.get_default_graph()
        out.append([graph is x.graph, (x + 1.0).graph is graph, graph.building_function])

        def branch():
            inner = v1.get_default_graph()
            out.append([inner is graph, tf.constant(1.0).graph is inner])
            return tf.constant(1.0)

        return tf.cond(x > 0.0, branch, branch)

    tf.function(look)(tf.constant(1.0))
    with tf.Graph().as_default() as graph:
        out.append(v1.get_default_graph() is graph)
        tf.function(look)(tf.constant(1.0))
        out.append(v1.get_default_graph() is graph)
    return out
