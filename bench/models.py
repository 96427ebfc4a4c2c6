"""Three small models, their losses and Adam in plain tensor ops, for any library with tf's names.

``MODELS[name](tf)`` gives (variables, loss): call ``loss()`` under a tape, then what
``adam(tf, variables)`` gives.
"""

from __future__ import annotations


def images_and_labels(shape, classes):
    import numpy

    rng = numpy.random.default_rng(0)
    return rng.standard_normal(shape, dtype=numpy.float32), rng.integers(0, classes, shape[0])


class Weights:
    """Makes variables and remembers them."""

    def __init__(self, tf):
        self.tf, self.all = tf, []

    def normal(self, *shape, fan_in):
        return self._keep(self.tf.random.normal(shape) * fan_in**-0.5)

    def zeros(self, *shape):
        return self._keep(self.tf.zeros(shape))

    def ones(self, *shape):
        return self._keep(self.tf.ones(shape))

    def _keep(self, value):
        self.all.append(self.tf.Variable(value))
        return self.all[-1]

    def dense(self, inputs, outputs):
        return self.normal(inputs, outputs, fan_in=inputs), self.zeros(outputs)

    def norm(self, width):
        return self.ones(width), self.zeros(width)


def mean_cross_entropy(tf, labels, logits):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def mlp(tf):
    images, labels = images_and_labels((128, 784), 10)
    x, y = tf.constant(images), tf.constant(labels)
    weights = Weights(tf)
    layers = [weights.dense(784, 512), weights.dense(512, 512), weights.dense(512, 10)]

    def loss():
        h = x
        for w, b in layers[:-1]:
            h = tf.nn.relu(tf.matmul(h, w) + b)
        w, b = layers[-1]
        return mean_cross_entropy(tf, y, tf.matmul(h, w) + b)

    return weights.all, loss


def cnn(tf):
    images, labels = images_and_labels((64, 28, 28, 1), 10)
    x, y = tf.constant(images), tf.constant(labels)
    weights = Weights(tf)
    first = weights.normal(3, 3, 1, 32, fan_in=9), weights.zeros(32)
    second = weights.normal(3, 3, 32, 64, fan_in=288), weights.zeros(64)
    hidden, last = weights.dense(144 * 64, 128), weights.dense(128, 10)

    def loss():
        h = x
        for w, b in (first, second):
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, w, 1, "VALID"), b))
        h = tf.reshape(tf.nn.max_pool2d(h, 2, 2, "VALID"), [64, -1])
        h = tf.nn.relu(tf.matmul(h, hidden[0]) + hidden[1])
        return mean_cross_entropy(tf, y, tf.matmul(h, last[0]) + last[1])

    return weights.all, loss


def attention_and_norm(tf):
    """The library's own where it has them, else in its ops."""
    own = tf.nn.experimental
    if hasattr(own, "scaled_dot_product_attention"):
        return own.scaled_dot_product_attention, own.layer_norm

    def attend(q, k, v, is_causal):
        scores = tf.matmul(q, k, transpose_b=True) * q.shape[-1] ** -0.5
        if is_causal:
            seen = tf.linalg.band_part(tf.ones(scores.shape[-2:], tf.bool), -1, 0)
            scores = tf.where(seen, scores, -1e9)
        return tf.matmul(tf.nn.softmax(scores), v)

    def norm(h, scale, shift):
        mean, variance = tf.nn.moments(h, [-1], keepdims=True)
        return tf.nn.batch_normalization(h, mean, variance, shift, scale, 1e-5)

    return attend, norm


def gpt(tf, vocabulary=1000, length=128, batch=8, width=256, heads=4, blocks=4):
    import numpy

    rng = numpy.random.default_rng(0)
    tokens, following = rng.integers(0, vocabulary, (2, batch, length))
    x, y = tf.constant(tokens), tf.constant(following.reshape(-1))
    weights = Weights(tf)
    embedding = weights.normal(vocabulary, width, fan_in=1)
    layers = []
    for _ in range(blocks):
        layers.append(
            {
                "norm1": weights.norm(width),
                "qkv": weights.dense(width, 3 * width),
                "out": weights.dense(width, width),
                "norm2": weights.norm(width),
                "up": weights.dense(width, 4 * width),
                "down": weights.dense(4 * width, width),
            }
        )
    last_norm, head = weights.norm(width), weights.dense(width, vocabulary)
    attend, norm = attention_and_norm(tf)

    def dense(h, layer):
        return tf.matmul(h, layer[0]) + layer[1]

    def attention(h, layer):
        parts = tf.reshape(dense(h, layer["qkv"]), [batch, length, 3, heads, width // heads])
        q, k, v = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]))
        seen = attend(q, k, v, is_causal=True)
        joined = tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [batch * length, width])
        return dense(joined, layer["out"])

    def loss():
        h = tf.reshape(tf.gather(embedding, x), [batch * length, width])
        for layer in layers:
            h = h + attention(norm(h, *layer["norm1"]), layer)
            up = tf.nn.gelu(dense(norm(h, *layer["norm2"]), layer["up"]))
            h = h + dense(up, layer["down"])
        return mean_cross_entropy(tf, y, dense(norm(h, *last_norm), head))

    return weights.all, loss


def gpt12(tf):
    return gpt(tf, blocks=12)


def gpt_small(tf):
    """The same kinds of steps in a hundredth of the time, for what is counted over many of them."""
    return gpt(tf, vocabulary=64, length=16, batch=4, width=32, heads=2, blocks=2)


# Of each stage of ResNet-50: its blocks, their inner width and the stride of the first.
RESNET_STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))


def resnet(tf, batch=8, is_training=True):
    """ResNet-50 on pictures of 224 x 224; the loss of a step, or the classes of pictures."""
    images, labels = images_and_labels((batch, 224, 224, 3), 1000)
    x, y = tf.constant(images), tf.constant(labels)
    weights = Weights(tf)

    def convolution(size, inputs, outputs, stride=1):
        filters = weights.normal(size, size, inputs, outputs, fan_in=size * size * inputs)
        scale, shift = weights.norm(outputs)
        mean, variance = (None, None) if is_training else (tf.zeros(outputs), tf.ones(outputs))

        def apply(h):
            h = tf.nn.conv2d(h, filters, stride, "SAME")
            return tf.compat.v1.nn.fused_batch_norm(
                h, scale, shift, mean, variance, is_training=is_training
            )[0]

        return apply

    def block(inputs, width, stride):
        first, second = convolution(1, inputs, width), convolution(3, width, width, stride)
        third = convolution(1, width, 4 * width)
        needs_own = stride != 1 or inputs != 4 * width
        beside = convolution(1, inputs, 4 * width, stride) if needs_own else lambda h: h

        def apply(h):
            inner = third(tf.nn.relu(second(tf.nn.relu(first(h)))))
            return tf.nn.relu(inner + beside(h))

        return apply

    stem, blocks, inputs = convolution(7, 3, 64, 2), [], 64
    for count, width, stride in RESNET_STAGES:
        for number in range(count):
            blocks.append(block(inputs, width, stride if number == 0 else 1))
            inputs = 4 * width
    last = weights.dense(inputs, 1000)

    def logits():
        h = tf.nn.max_pool2d(tf.nn.relu(stem(x)), 3, 2, "SAME")
        for apply in blocks:
            h = apply(h)
        return tf.matmul(tf.reduce_mean(h, [1, 2]), last[0]) + last[1]

    return weights.all, (lambda: mean_cross_entropy(tf, y, logits())) if is_training else logits


MODELS = {
    "mlp": mlp, "cnn": cnn, "gpt": gpt, "gpt12": gpt12, "gpt_small": gpt_small, "resnet": resnet,
}  # fmt: skip


def adam(tf, variables):
    """A function of gradients and of the step's number that updates each variable in place."""
    means = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]
    squares = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]
    rate, beta1, beta2, epsilon = 1e-3, 0.9, 0.999, 1e-8

    def update(gradients, steps):
        alpha = rate * (1 - beta2**steps) ** 0.5 / (1 - beta1**steps)
        for v, m, s, g in zip(variables, means, squares, gradients, strict=True):
            g = tf.convert_to_tensor(g)
            m.assign_add((g - m) * (1 - beta1))
            s.assign_add((tf.square(g) - s) * (1 - beta2))
            v.assign_sub(m * alpha / (tf.sqrt(s) + epsilon))

    return update


def training_step(tf, name):
    """A function that takes one step of Adam."""
    variables, loss = MODELS[name](tf)
    update = adam(tf, variables)
    steps = 0

    def step():
        nonlocal steps
        steps += 1
        with tf.GradientTape() as tape:
            value = loss()
        update(tape.gradient(value, variables), steps)
        return value

    return step


def compiled_picture(tf, **options):
    """The classes of one picture by ResNet-50, as one function."""
    variables, logits = resnet(tf, batch=1, is_training=False)
    function = tf.function(logits, **options)
    return lambda: (function(), variables)[0]


def compiled_step(tf, name, **options):
    """The same as one function, traced with ``options`` of tf.function."""
    variables, loss = MODELS[name](tf)
    update = adam(tf, variables)
    steps = tf.Variable(0.0, trainable=False)

    @tf.function(**options)
    def step():
        steps.assign_add(1.0)
        with tf.GradientTape() as tape:
            value = loss()
        update(tape.gradient(value, variables), steps)
        return value

    return step
