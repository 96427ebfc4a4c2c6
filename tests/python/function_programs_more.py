"""More programs about ``tf.function``: gradients, checks, printing, symbolic tensors."""

import contextlib
import os
import sys
import tempfile

import numpy as np
from function_programs import error_of, program, tf


@contextlib.contextmanager
def written(name):
    """What a stream of the process gets, also from C++."""
    stream = getattr(sys, name)
    stream.flush()
    number = {"stdout": 1, "stderr": 2}[name]
    kept = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        lines = []
        old = getattr(sys, name)
        setattr(sys, name, os.fdopen(os.dup(number), "w"))
        try:
            yield lines
        finally:
            getattr(sys, name).flush()
            setattr(sys, name, old)
            os.dup2(kept, number)
            os.close(kept)
            file.seek(0)
            lines.extend(file.read().decode().splitlines())


# --- concrete functions ---------------------------------------------------------------------------


@program
def concrete_functions():
    @tf.function
    def f(x, y=2.0):
        return x * y, {"twice": x + x}

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    d = f.get_concrete_function(
        tf.TensorSpec([2], tf.float32, name="a"), tf.TensorSpec([], tf.float32)
    )
    out = c(tf.constant([1.0, 2.0]))
    return [
        out[0], out[1]["twice"],
        d(tf.constant([1.0, 2.0]), tf.constant(5.0))[0],
        [s.shape.as_list() for s in tf.nest.flatten(c.structured_outputs)],
    ]  # fmt: skip


@program
def concrete_signature():
    @tf.function
    def f(x, pair, flag=True):
        return x

    c = f.get_concrete_function(
        tf.TensorSpec([None, 3], tf.float32),
        [tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.int32)],
    )
    args, kwargs = c.structured_input_signature
    flat = [s for s in tf.nest.flatten((args, kwargs)) if isinstance(s, tf.TensorSpec)]
    return [[s.shape.as_list(), s.dtype.name] for s in flat]


@program
def concrete_from_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return x + 1

    c = f.get_concrete_function()
    return [
        c(tf.constant([1.0])),
        c.inputs[0].shape.as_list(),
        c.output_shapes.as_list(),
        c.output_dtypes.name,
    ]


@program
def concrete_by_names():
    @tf.function
    def f(a, b):
        return a - b

    c = f.get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))
    return [
        c(tf.constant(5.0), tf.constant(3.0)),
        c(a=tf.constant(5.0), b=tf.constant(3.0)),
        c(b=tf.constant(5.0), a=tf.constant(3.0)),
    ]


@program
def concrete_variables():
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)

    @tf.function
    def f(x):
        return x * v + w

    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    return [len(c.variables), len(c.trainable_variables), c(tf.constant(2.0))]


@program
def graph_of_a_function():
    @tf.function
    def f(x):
        return tf.nn.relu(x) @ tf.ones([2, 2])

    c = f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    names = [op.type.lower() for op in c.graph.get_operations()]
    return [
        "relu" in names,
        any("matmul" in n for n in names),
        c.graph.outputs[0].shape.as_list(),
        bool(str(c.graph.as_graph_def())),
    ]


# --- symbolic tensors -----------------------------------------------------------------------------


@program
def symbolic_attributes():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        y = x + 1.0
        seen.append(
            [
                repr(y),
                y.name,
                y.shape.as_list(),
                y.get_shape().as_list(),
                y.dtype.name,
                y.shape.rank,
                tf.rank(x).dtype.name,
                y.op.type.startswith("Add"),
                y.graph is x.graph,
            ]
        )
        y.set_shape([2, None])
        seen.append(y.shape.as_list())
        z = tf.ensure_shape(x, [4, None])
        seen.append(z.shape.as_list())
        seen.append(tf.is_symbolic_tensor(y))
        return y

    f(tf.ones([2, 3]))
    return seen


@program
def python_uses_of_symbolic_tensors():
    seen = []

    @tf.function(autograph=False)
    def f(x):
        seen.append(error_of(bool, x[0] > 0))
        seen.append(error_of(int, x[0]))
        seen.append(error_of(float, x[0]))
        seen.append(error_of(lambda: x.numpy()))
        seen.append(error_of(lambda: np.array(x)))
        seen.append(error_of(lambda: list(range(x[0]))))
        seen.append((x == x).dtype.name)
        seen.append(x is x)
        seen.append(isinstance(x.ref(), object))
        return x

    f(tf.constant([1, 2]))
    return seen


@program
def operator_not_allowed():
    @tf.function(autograph=False)
    def f(x):
        if x > 0:
            return x
        return -x

    return error_of(f, tf.constant(1))


@program
def leaked_tensors():
    kept = []

    @tf.function
    def leaks(x):
        kept.append(x + 1)
        return x

    leaks(tf.constant(1))

    @tf.function
    def uses(x):
        return x + kept[0]

    return [
        error_of(uses, tf.constant(1)),
        error_of(lambda: kept[0] + 1),
        error_of(lambda: kept[0].numpy()),
    ]


@program
def unknown_sizes():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, None, 4], tf.float32)])
    def f(x):
        shape = tf.shape(x)
        flat = tf.reshape(x, [shape[0] * shape[1], 4])
        seen.append(flat.shape.as_list())
        seen.append(tf.reshape(x, [-1, 4]).shape.as_list())
        seen.append(tf.reshape(x, [shape[0], -1]).shape.as_list())
        seen.append(tf.transpose(x, [2, 0, 1]).shape.as_list())
        seen.append(tf.concat([x, x], 1).shape.as_list())
        seen.append(tf.concat([x, x], 2).shape.as_list())
        seen.append(tf.stack([x, x]).shape.as_list())
        seen.append(x[:, 0].shape.as_list())
        seen.append(x[0].shape.as_list())
        seen.append(tf.reduce_sum(x, 1).shape.as_list())
        seen.append(tf.matmul(x, tf.ones([4, 5])).shape.as_list())
        seen.append(tf.zeros(shape).shape.as_list())
        seen.append(tf.zeros_like(x).shape.as_list())
        seen.append(tf.tile(x, [2, 1, 3]).shape.as_list())
        seen.append(tf.pad(x, [[0, 0], [1, 1], [0, 2]]).shape.as_list())
        seen.append(tf.one_hot(tf.cast(x[:, :, 0], tf.int32), 7).shape.as_list())
        seen.append(tf.expand_dims(x, 1).shape.as_list())
        seen.append(tf.where(x > 0, x, 0.0).shape.as_list())
        seen.append(tf.where(x > 0).shape.as_list())
        seen.append(tf.boolean_mask(x, x[:, :, 0] > 0).shape.as_list())
        seen.append(tf.broadcast_to(x[:, :1], shape).shape.as_list())
        seen.append((x + tf.ones([3, 1])).shape.as_list())
        seen.append(tf.einsum("bij,jk->bik", x, tf.ones([4, 2])).shape.as_list())
        seen.append(tf.argmax(x, -1).shape.as_list())
        seen.append(tf.nn.softmax(x).shape.as_list())
        seen.append(tf.unstack(x, axis=2)[0].shape.as_list())
        seen.append(tf.split(x, 2, axis=2)[0].shape.as_list())
        seen.append(tf.range(shape[0]).shape.as_list())
        return flat

    return [f(tf.ones([2, 3, 4])), seen]


@program
def unknown_ranks():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def f(x):
        seen.append([x.shape.rank, str(x.shape), error_of(len, x.shape), error_of(x.shape.as_list)])
        return tf.reduce_sum(x + 1.0), tf.rank(x), tf.shape(x)

    return [f(tf.ones([2, 3])), f(tf.constant(1.0)), seen]


@program
def shape_errors_while_tracing():
    @tf.function
    def add(a, b):
        return a + b

    @tf.function
    def product(a, b):
        return a @ b

    return [
        error_of(add, tf.ones([2]), tf.ones([3])),
        error_of(product, tf.ones([2, 3]), tf.ones([2, 3])),
        error_of(tf.function(lambda x: tf.reshape(x, [5])), tf.ones([4])),
    ]


@program
def errors_when_running():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
    def add(a, b):
        return a + b

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def pick(i):
        return tf.gather(tf.constant([1, 2, 3]), i)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def shaped(x):
        return tf.reshape(x, [2, 2])

    return [
        error_of(add, [1.0, 2.0], [1.0, 2.0, 3.0]),
        error_of(pick, [7]),
        error_of(shaped, [1.0, 2.0]),
    ]


@program
def python_errors_pass():
    @tf.function
    def f(x):
        raise KeyError("mine")

    return error_of(f, tf.constant(1))


# --- gradients ------------------------------------------------------------------------------------


@program
def gradients_of_functions():
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.tanh(w * x) ** 2)

    x = tf.constant([0.5, 0.25])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = loss(x)
    return [tape.gradient(y, w), tape.gradient(y, x), tape.gradient(y, [w, x])]


@program
def second_order():
    @tf.function
    def cube(x):
        return x**3

    @tf.function
    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = cube(x)
            dy = inner.gradient(y, x)
        return dy, outer.gradient(dy, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        dy = inner.gradient(y, x)
    return [second(x), outer.gradient(dy, x)]


@program
def jacobians():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * tf.constant([1.0, 2.0, 3.0])
        return tape.jacobian(y, x)

    @tf.function
    def batched(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x[:, ::-1]
        return tape.batch_jacobian(y, x)

    return [f(tf.constant([1.0, 2.0, 3.0])), batched(tf.constant([[1.0, 2.0], [3.0, 4.0]]))]


@program
def gradients_with_respect_to_nothing():
    v, unused = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def f():
        with tf.GradientTape() as tape:
            y = v * 2.0
        return tape.gradient(y, [v, unused])

    @tf.function
    def zero():
        with tf.GradientTape() as tape:
            y = v * 2.0
        return tape.gradient(y, unused, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    return [f(), zero()]


@program
def custom_gradients():
    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda dy: tf.clip_by_value(dy * 2.0 * x, -1.0, 1.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clipped(x) * 3.0
        return tape.gradient(y, x)

    return [f(tf.constant(5.0)), f(tf.constant(0.1))]


@program
def recomputed_gradients():
    w = tf.Variable(3.0)

    @tf.function
    def f(x):
        block = tf.recompute_grad(lambda x: tf.tanh(x * w))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = block(x) * 2.0
        return tape.gradient(y, [x, w])

    return f(tf.constant(0.25))


@program
def stopped_gradients():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.stop_gradient(x) + tf.stop_gradient(x * x)
        return tape.gradient(y, x)

    return f(tf.constant(3.0))


@program
def gradients_across_branches_and_loops():
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                if y > 10.0:  # noqa: SIM108
                    y = y + x
                else:
                    y = y * x
        return y, tape.gradient(y, x)

    return [f(tf.constant(3.0), tf.constant(2)), f(tf.constant(3.0), tf.constant(5))]


@program
def forward_mode():
    @tf.function
    def f(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = tf.sin(x) * x
        return acc.jvp(y)

    return f(tf.constant([0.5, 1.0]))


@program
def training_step():
    w, b = tf.Variable([[0.5]]), tf.Variable([0.0])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    x = tf.constant([[1.0], [2.0], [3.0]])
    return [[step(x, 2.0 * x + 1.0) for _ in range(5)], w, b]


# --- printing, checks, Python calls ---------------------------------------------------------------


@program
def printing_in_order():
    @tf.function
    def f(n):
        tf.print("start", n)
        for i in tf.range(n):
            tf.print("round", i, [i * 2, "x"], sep="|")
        if n > 1:
            tf.print("many", end="!\n")
        tf.print({"a": n}, output_stream=sys.stdout)
        return n

    with written("stderr") as errors, written("stdout") as lines:
        f(tf.constant(2))
        f(tf.constant(1))
    return [errors, lines]


@program
def printing_large():
    @tf.function
    def f():
        tf.print(tf.range(100), tf.ones([2, 2]), summarize=2)
        tf.print("text", tf.constant("bytes"), True, None, 1.5)

    with written("stderr") as errors:
        f()
    return errors


@program
def assertions():
    @tf.function
    def f(x):
        tf.Assert(x > 0, ["must be positive", x])
        return x + 1

    @tf.function
    def g(x):
        tf.debugging.assert_equal(x, 3, message="not three")
        return x

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def k(x):
        tf.debugging.assert_greater(tf.size(x), 1)
        tf.debugging.assert_non_negative(x)
        return x

    one, minus = tf.constant(1), tf.constant(-1)
    return [
        f(one),
        error_of(f, minus),
        error_of(g, one),
        g(tf.constant(3)),
        error_of(k, [1]),
        error_of(k, [1, -1]),
        k([1, 2]),
    ]


@program
def checks_while_tracing():
    @tf.function
    def rank(x):
        tf.debugging.assert_rank(x, 2)
        return x

    @tf.function
    def shapes(x, y):
        tf.debugging.assert_shapes([(x, ("N", 2)), (y, ("N",))])
        return x

    @tf.function
    def static():
        tf.debugging.assert_equal(1, 2)

    @tf.function
    def kind(x):
        tf.debugging.assert_type(x, tf.float32)
        return x

    return [
        error_of(rank, tf.ones([2])),
        error_of(shapes, tf.ones([3, 2]), tf.ones([4])),
        error_of(shapes, tf.ones([3, 2]), tf.ones([3])),
        error_of(static),
        error_of(kind, tf.constant(1)),
    ]


@program
def check_numerics():
    f = tf.function(lambda x: tf.debugging.check_numerics(tf.math.log(x), "bad"))
    return [f(tf.constant(1.0)), error_of(f, tf.constant(-1.0))]


@program
def python_functions():
    seen = []

    def host(x, y):
        seen.append(type(x).__name__ if not tf.is_tensor(x) else "tensor")
        return x * 2 + y

    @tf.function
    def by_array(x):
        return tf.numpy_function(host, [x, np.float32(1.0)], tf.float32)

    @tf.function
    def by_tensor(x):
        return tf.py_function(host, [x, 1.0], tf.float32)

    @tf.function
    def several(x):
        a, b = tf.py_function(lambda v: (v + 1, v > 0), [x], [tf.float32, tf.bool])
        return a, b, a.shape.rank

    @tf.function
    def fails(x):
        return tf.py_function(lambda v: 1 / 0, [x], tf.float32)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = by_tensor(x)
    return [by_array(x), y, tape.gradient(y, x), several(x), by_array(x).shape.as_list(), seen]


@program
def python_functions_are_called_each_time():
    count = []
    f = tf.function(lambda: tf.py_function(lambda: len(count), [], tf.int64))
    out = []
    for _ in range(3):
        count.append(1)
        out.append(f())
    return out


@program
def vectorized_maps():
    @tf.function
    def f(x, w):
        return tf.vectorized_map(lambda row: tf.linalg.matvec(w, row) + tf.reduce_sum(row), x)

    return f(
        tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([[1.0, 0.0], [1.0, 1.0]])
    )


@program
def conditions_by_functions():
    @tf.function
    def f(x):
        a = tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
        b = tf.case(
            [(x > 5, lambda: tf.constant(1)), (x > 2, lambda: tf.constant(2))],
            default=lambda: tf.constant(3),
        )
        c = tf.switch_case(x % 3, [lambda: x, lambda: x * 10, lambda: x * 100])
        return a, b, c

    return [f(tf.constant(i)) for i in (-1, 3, 7)]


@program
def branches_that_differ():
    @tf.function
    def f(x):
        return tf.cond(x > 0, lambda: x, lambda: tf.cast(x, tf.float32))

    return error_of(f, tf.constant(1))


@program
def loops_by_functions():
    @tf.function
    def f(n):
        return tf.while_loop(
            lambda i, s: i < n,
            lambda i, s: (i + 1, s + tf.cast(i, tf.float32)),
            [tf.constant(0), tf.constant(0.0)],
        )

    @tf.function
    def grows(n):
        return tf.while_loop(
            lambda i, x: i < n,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            [0, tf.ones([1])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]

    @tf.function
    def bad(n):
        return tf.while_loop(
            lambda i, x: i < n, lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, tf.ones([1])]
        )[1]

    @tf.function
    def most(n):
        return tf.while_loop(lambda i: i < n, lambda i: (i + 1,), [0], maximum_iterations=3)[0]

    return [
        f(tf.constant(5)),
        grows(tf.constant(3)),
        error_of(bad, tf.constant(3)),
        most(tf.constant(10)),
        most(tf.constant(2)),
    ]


@program
def name_scopes():
    seen = []

    @tf.function
    def f(x):
        with tf.name_scope("outer"):
            y = tf.add(x, 1, name="mine")
            seen.append(y.name)
        return tf.identity(y, name="out")

    f(tf.constant(1))
    return seen


@program
def control_dependencies():
    v = tf.Variable(1)

    @tf.function
    def f():
        with tf.control_dependencies([v.assign_add(1)]):
            return tf.identity(v)

    return [f(), f(), v]


@program
def grouped():
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.group(v.assign_add(1), v.assign_add(2))
        tf.no_op()

    return [f() is None, v]


@program
def experimental_arguments():
    @tf.function(
        experimental_implements="x.y",
        experimental_autograph_options=None,
        experimental_attributes=None,
    )
    def f(x):
        return x + 1

    @tf.function(jit_compile=True)
    def g(x):
        return x * 2 + 1

    @tf.function(reduce_retracing=True)
    def h(x):
        return tf.reduce_sum(x)

    return [f(tf.constant(1)), g(tf.constant(2.0)), h(tf.ones([2])), h(tf.ones([3]))]


@program
def maps_in_functions():
    @tf.function
    def f(x):
        return tf.map_fn(lambda row: tf.reduce_sum(row) * 2.0, x), tf.scan(lambda a, b: a + b, x)

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


@program
def identical_outputs_and_inputs():
    f = tf.function(lambda x: (x, x, x + 0))
    a, b, c = f(tf.constant([1.0, 2.0]))
    g = tf.function(lambda x, y: y)
    return [a, b, c, g(tf.constant(1), tf.constant(2))]
