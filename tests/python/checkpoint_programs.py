"""Objects to save: made alike by TensorFlow and by this package, each with values of its own.

A program takes ``tf`` and gives the parts of a ``tf.train.Checkpoint``, and everything in them that
has a value, in one order.
"""

import numpy as np


def value_of(at, shape, dtype):
    """What the variable at this place holds in recorded files."""
    numbers = np.arange(int(np.prod(shape)), dtype=np.float64) % 50 + at + 1
    if dtype == "string":
        return np.array([f"{n:.0f} é" for n in numbers], object).reshape(shape)
    return (numbers % 2 if dtype == "bool" else numbers).astype(dtype).reshape(shape)


def modules(tf):
    """Modules, lists, dictionaries and tuples in each other; a variable in two places."""
    net, inner = tf.Module(), tf.Module()
    inner.w = tf.Variable(tf.zeros([2, 3]), name="kernel")
    net.layers = [inner, tf.Variable(0), [tf.Variable([0.0])]]
    net.named = {"a.b/c": tf.Variable(0.0), "deep": {"x": tf.Variable([0, 0])}}
    net.pair = (tf.Variable(0.0), inner)
    net.empty, net.numbers = [], [1, 2]
    net.again = net.layers[1]
    every = [inner.w, net.layers[1], net.layers[2][0], net.named["a.b/c"], net.named["deep"]["x"],
             net.pair[0]]  # fmt: skip
    return {"net": net, "step": (step := tf.Variable(0, dtype=tf.int64))}, [*every, step]


def dtypes(tf):
    """A variable of every dtype."""
    names = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
             "uint32", "uint64", "bool", "complex64", "complex128", "string"]  # fmt: skip
    found = []
    for name in names:
        first = [[""] * 3] * 2 if name == "string" else np.zeros([2, 3], name)
        found.append(tf.Variable(first, dtype=name))
    return {"all": found, "half": (half := tf.Variable(tf.zeros([3], tf.bfloat16)))}, [*found, half]


def many(tf):
    """More entries than a block of the index holds."""
    found = [tf.Variable(0.0) for _ in range(6000)]
    holder = tf.Module()
    holder.a_name_that_takes_a_while_to_write_and_is_the_same_for_all_of_them = found
    return {"holder": holder}, found


def states(tf):
    """A generator; what else has state has no values to compare here."""
    generator = tf.random.Generator.from_state([7, 0, 9], alg="philox")
    return {"generator": generator, "v": (v := tf.Variable(0.0))}, [v]


def slots(tf):
    """What optimizers of TensorFlow 1 keep beside variables, and beside none."""
    v1 = tf.compat.v1.train
    net = tf.Module()
    net.w, net.b = tf.Variable(tf.zeros([2, 3]), name="w"), tf.Variable(tf.zeros([3]), name="b")
    adam, momentum = v1.AdamOptimizer(0.1), v1.MomentumOptimizer(0.1, 0.9)
    for optimizer in (adam, momentum):
        optimizer.minimize(
            lambda: tf.reduce_sum(net.w) + tf.reduce_sum(net.b), var_list=[net.w, net.b]
        )
    kept = [adam.get_slot(v, name) for name in ("m", "v") for v in (net.w, net.b)]
    kept += [momentum.get_slot(v, "momentum") for v in (net.w, net.b)]
    parts = {"net": net, "adam": adam, "momentum": momentum}
    return parts, [net.w, net.b, *kept, *adam._get_beta_accumulators()]


def _model(tf):
    layers = tf.keras.layers
    tf.keras.backend.clear_session()
    return tf.keras.Sequential([
        tf.keras.Input((4,)), layers.Dense(3, activation="relu"), layers.BatchNormalization(),
        layers.Dropout(0.1), layers.Dense(2),
    ])  # fmt: skip


def sequential(tf):
    """A model of Keras, trained, with its optimizer."""
    model = _model(tf)
    model.compile(tf.keras.optimizers.Adam(), "mse")
    model.optimizer.build(model.trainable_variables)
    every = [*model.weights, *model.optimizer.variables]
    return {"model": model, "optimizer": model.optimizer}, every


def functional(tf):
    """A model with two roads."""
    layers = tf.keras.layers
    tf.keras.backend.clear_session()
    x = tf.keras.Input((6, 6, 2))
    y = layers.Conv2D(3, 3, padding="same")(x)
    y = layers.Add()([y, layers.Conv2D(3, 1)(x)])
    model = tf.keras.Model(x, layers.Dense(2)(layers.Flatten()(y)))
    return {"model": model}, model.weights


def recurrent(tf):
    """Layers inside of layers."""
    layers = tf.keras.layers
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([
        tf.keras.Input((None,), dtype="int32"), layers.Embedding(50, 8),
        layers.Bidirectional(layers.LSTM(6)), layers.LayerNormalization(), layers.Dense(4),
    ])  # fmt: skip
    return {"model": model}, model.weights


def subclassed(tf):
    """A class of layers, and an optimizer with momentum."""
    tf.keras.backend.clear_session()

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)
            self.scale = self.add_weight(shape=(2,), name="scale")

        def call(self, x):
            return self.second(self.first(x))

    net = Net()
    net(np.zeros((1, 4), np.float32))
    optimizer = tf.keras.optimizers.SGD(momentum=0.9)
    optimizer.build(net.trainable_variables)
    return {"net": net, "optimizer": optimizer}, [*net.weights, *optimizer.variables]


PROGRAMS = {f.__name__: f for f in (modules, dtypes, many, states, slots)}
KERAS_PROGRAMS = {f.__name__: f for f in (sequential, functional, recurrent, subclassed)}


def fill(every):
    """Gives everything its value."""
    for at, variable in enumerate(every):
        dtype = getattr(variable.dtype, "name", variable.dtype)
        shape = tuple(variable.shape)
        if dtype == "bfloat16":
            variable.assign(np.full(shape, at, np.float32))
        elif dtype == "string":
            variable.assign(value_of(at, shape, dtype).tolist())
        else:
            variable.assign(value_of(at, shape, dtype))


def held(every):
    """The values now."""
    return [np.asarray(variable.numpy()).tolist() for variable in every]
