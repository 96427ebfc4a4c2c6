"""Random programs: the same Python code runs eagerly, step by step, planned and fused.

A program is drawn from a seed: a list of instructions over a growing pool of tensors, with
branches, loops, variables and gradients among them. Values are kept small, so that results can be
compared.
"""

from __future__ import annotations

import random

import numpy as np

import tidemark as tf

SHAPES = [(), (3,), (4, 3), (3, 4), (2, 4, 3), (1, 3), (4, 1), (0, 3), (17, 5)]
BATCHES = [(240, 3), (240, 12), (240, 2, 3), (240, 1), (120, 3), (1, 3), (3,)]


class Program:
    """Draws its instructions once; ``run`` repeats them on any tensors."""

    def __init__(self, seed, length=14, depth=0, shapes=SHAPES):
        rng = random.Random(seed)
        self.seed, self.depth = seed, depth
        self.inputs = [rng.choice(shapes) for _ in range(rng.randint(1, 3))]
        self.steps = [
            (rng.choice(self._kinds(depth)), rng.randrange(1 << 30)) for _ in range(length)
        ]
        self.num_results = rng.randint(1, 4)
        self.picks = [rng.randrange(1 << 30) for _ in range(self.num_results)]

    @staticmethod
    def _kinds(depth):
        kinds = [unary] * 5 + [binary] * 6 + [reduction] * 3 + [movement] * 4 + [product] * 2
        kinds += [choice] * 2 + [joining] * 2 + [normalising] * 2 + [casting]
        kinds += [dense] * 2 + [filtering]
        if depth < 2:
            kinds += [branch, loop, update, slope]
        return kinds

    def values(self):
        rng = np.random.default_rng(self.seed)
        return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in self.inputs]

    def variables(self):
        rng = np.random.default_rng(self.seed + 1)
        return [
            tf.Variable(rng.uniform(-1, 1, shape).astype(np.float32)) for shape in ((3,), (4, 3))
        ]

    def run(self, tensors, variables):
        pool = list(tensors)
        for kind, seed in self.steps:
            made = kind(random.Random(seed), pool, variables, self.depth)
            pool.extend(made)
            del pool[:-8]
        return [pool[pick % len(pool)] for pick in self.picks]


def pick(rng, pool, rank=None):
    fitting = [t for t in pool if rank is None or len(t.shape) == rank]
    return rng.choice(fitting or pool)


def calm(t):
    """Keeps values where float32 can be compared."""
    return tf.clip_by_value(t, -4.0, 4.0)


def unary(rng, pool, _variables, _depth):
    f = rng.choice(
        [tf.tanh, tf.sigmoid, tf.nn.relu, tf.square, tf.abs, tf.sin, tf.negative, tf.nn.gelu,
         tf.exp, lambda x: tf.sqrt(tf.abs(x) + 1.0), lambda x: tf.math.log(tf.abs(x) + 0.5),
         lambda x: x * 1.0, lambda x: x - 0.0, tf.identity, tf.stop_gradient]
    )  # fmt: skip
    return [calm(f(pick(rng, pool)))]


def fitting_pair(rng, pool):
    a = pick(rng, pool)
    for _ in range(6):
        b = pick(rng, pool)
        try:
            np.broadcast_shapes(tuple(a.shape), tuple(b.shape))
            return a, b
        except ValueError:
            continue
    return a, tf.constant(rng.uniform(-2, 2))


def binary(rng, pool, _variables, _depth):
    a, b = fitting_pair(rng, pool)
    f = rng.choice(
        [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum,
         lambda x, y: x / (tf.abs(y) + 1.0), tf.math.squared_difference]
    )  # fmt: skip
    return [calm(f(a, b))]


def reduction(rng, pool, _variables, _depth):
    x = pick(rng, pool)
    f = rng.choice([tf.reduce_sum, tf.reduce_mean, tf.reduce_max])
    if 0 in x.shape:
        f = tf.reduce_sum
    rank = len(x.shape)
    axis = rng.choice([None, *range(rank)]) if rank else None
    return [calm(f(x, axis=axis, keepdims=rng.random() < 0.5))]


def movement(rng, pool, _variables, _depth):
    x = pick(rng, pool)
    rank = len(x.shape)
    if rank == 0:
        return [tf.reshape(x, [1, 1]), tf.fill([3], x)]
    which = rng.randrange(6)
    if which == 0:
        perm = list(range(rank))
        rng.shuffle(perm)
        return [tf.transpose(x, perm)]
    if which == 1:
        return [tf.reshape(x, [-1])]
    if which == 2:
        return [x[: max(1, x.shape[0] // 2)], tf.reverse(x, [0])]
    if which == 3:
        return [tf.expand_dims(x, rng.randrange(rank + 1))]
    if which == 4 and x.shape[0]:
        return [tf.gather(x, [rng.randrange(x.shape[0]) for _ in range(3)])]
    return [tf.pad(x, [[0, 1]] * rank)]


def product(rng, pool, _variables, _depth):
    x = pick(rng, pool, 2)
    if len(x.shape) != 2:
        return [x]
    return [calm(tf.matmul(x, x, transpose_b=True)), calm(tf.matmul(x, x, transpose_a=True))]


def weights(rng, *shape):
    values = np.random.default_rng(rng.randrange(1 << 30)).uniform(-1, 1, shape)
    return tf.constant(values.astype(np.float32))


def followed(rng, made, pool):
    """What comes after a product: a bias, a residual, an activation, a sum, in any order."""
    columns = made.shape[-1]
    out = [made]
    for _ in range(rng.randint(1, 4)):
        which = rng.randrange(6)
        if which == 0:
            made = made + weights(rng, columns)
        elif which == 1:
            same = [t for t in pool if t.shape == made.shape]
            made = made + (rng.choice(same) if same else weights(rng, *made.shape))
        elif which == 2:
            made = made * weights(rng, *made.shape[:-1], 1)
        elif which == 3:
            made = rng.choice([tf.nn.relu, tf.tanh, tf.nn.gelu, tf.sigmoid])(made)
        elif which == 4 and rng.random() < 0.5:
            made = made - tf.reduce_mean(made, axis=-1, keepdims=True)
        elif rng.random() < 0.5:
            out.append(made)
    return [calm(t) for t in rng.sample([*out, made], rng.randint(1, 2))]


def dense(rng, pool, _variables, _depth):
    x = pick(rng, pool, 2)
    if len(x.shape) not in (2, 3):
        return [x]
    columns = rng.choice([1, 3, 5, 64])
    swap = rng.random() < 0.3
    w = weights(rng, *((columns, x.shape[-1]) if swap else (x.shape[-1], columns)))
    if len(x.shape) == 3 and rng.random() < 0.5:
        rows = tf.matmul(tf.reshape(x, [-1, x.shape[-1]]), w, transpose_b=swap)
        return followed(rng, tf.reshape(rows, [*x.shape[:-1], columns]), pool)
    return followed(rng, tf.matmul(x, w, transpose_b=swap), pool)


def filtering(rng, pool, _variables, _depth):
    x = pick(rng, pool, 3)
    if len(x.shape) != 3 or 0 in x.shape:
        return [x]
    channels = rng.choice([1, 2, 8])
    size = rng.choice([1, 3])
    images = tf.expand_dims(x, 0)
    filters = weights(rng, size, size, x.shape[-1], channels)
    return followed(rng, tf.nn.conv2d(images, filters, 1, "SAME"), pool)


def choice(rng, pool, _variables, _depth):
    a, b = fitting_pair(rng, pool)
    return [tf.where(tf.broadcast_to(a, tf.shape(a + b)) > 0.1, a, b)]


def joining(rng, pool, _variables, _depth):
    x = pick(rng, pool)
    if len(x.shape) == 0:
        return [tf.stack([x, x + 1.0])]
    return [tf.concat([x, tf.tanh(x)], axis=rng.randrange(len(x.shape)))]


def normalising(rng, pool, _variables, _depth):
    x = pick(rng, pool)
    if len(x.shape) == 0 or 0 in x.shape:
        return [x]
    which = rng.randrange(4)
    if which == 0:
        return [tf.nn.softmax(x)]
    if which == 1:
        return [calm(tf.nn.log_softmax(x))]
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return [calm((x - mean) * tf.math.rsqrt(variance + 0.1))]


def casting(rng, pool, _variables, _depth):
    x = pick(rng, pool)
    whole = tf.cast(tf.round(x * 10.0), tf.int32)
    return [tf.cast(whole % 7, tf.float32) * 0.5, tf.cast(tf.cast(x, tf.float64), tf.float32)]


def branch(rng, pool, variables, depth):
    x = pick(rng, pool)
    yes, no = (Program(rng.randrange(1 << 30), 4, depth + 1) for _ in range(2))

    def arm(program):
        return lambda: tf.reduce_sum(sum(tf.reduce_sum(t) for t in program.run([x], variables)))

    # Nothing that rounding decides: the sum of what was normalised is about 0.
    return [calm(tf.cond(tf.reduce_sum(x) > 0.37, arm(yes), arm(no)))]


def loop(rng, pool, variables, depth):
    x = pick(rng, pool)
    body = Program(rng.randrange(1 << 30), 3, depth + 1)

    def again(i, value):
        extra = sum(tf.reduce_mean(tf.pad(tf.reshape(t, [-1]), [[0, 1]]))
                    for t in body.run([value], variables))  # fmt: skip
        return i + 1, calm(value * 0.5 + extra)

    return [tf.while_loop(lambda i, _: i < 3, again, [tf.constant(0), x])[1]]


def update(rng, _pool, variables, _depth):
    v = rng.choice(variables)
    before = v * 2.0
    rng.choice([v.assign, v.assign_add, v.assign_sub])(tf.tanh(v.read_value() * 0.7 + 0.1))
    return [calm(before), calm(v + 0.0)]


def slope(rng, pool, variables, depth):
    x = pick(rng, pool)
    inner = Program(rng.randrange(1 << 30), 4, 2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = sum(tf.reduce_sum(t * t) for t in inner.run([x * 1.5], variables))
    dx = tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [calm(tf.convert_to_tensor(dx))]


def compare(seed, rounds=3, length=14):
    """Runs the program eagerly and as a function, some times over."""
    program = Program(seed, length)
    mine, theirs = program.variables(), program.variables()

    @tf.function(autograph=False)
    def traced(*tensors):
        return program.run(tensors, mine)

    for _ in range(rounds):
        values = program.values()
        expected = program.run([tf.constant(v) for v in values], theirs)
        found = traced(*[tf.constant(v) for v in values])
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(
                a.numpy(), b.numpy(), rtol=2e-3, atol=2e-3, err_msg=f"program {seed}"
            )
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(
                a.numpy(), b.numpy(), rtol=2e-3, atol=2e-3, err_msg=f"variables of {seed}"
            )
