"""The models of models.py in JAX: one jitted function of parameters and moments, all donated."""

from __future__ import annotations

from models import RESNET_STAGES, images_and_labels


def training_step(jax, name):
    """A function that takes one step, keeping the state between calls."""
    import jax.numpy as jnp

    parameters, loss = MODELS[name](jax, jnp)
    rate, beta1, beta2, epsilon = 1e-3, 0.9, 0.999, 1e-8

    def new_state(parameters, means, squares, steps):
        steps = steps + 1
        value, gradients = jax.value_and_grad(loss)(parameters)
        alpha = rate * (1 - beta2**steps) ** 0.5 / (1 - beta1**steps)
        map_all = jax.tree.map
        means = map_all(lambda m, g: m + (g - m) * (1 - beta1), means, gradients)
        squares = map_all(lambda s, g: s + (g * g - s) * (1 - beta2), squares, gradients)
        parameters = map_all(
            lambda p, m, s: p - m * alpha / (jnp.sqrt(s) + epsilon), parameters, means, squares
        )
        return value, (parameters, means, squares, steps)

    compiled = jax.jit(new_state, donate_argnums=(0, 1, 2, 3))
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = (parameters, zeros, jax.tree.map(jnp.zeros_like, parameters), jnp.float32(0))
    del parameters, zeros

    def step():
        nonlocal state
        value, state = compiled(*state)
        return jax.block_until_ready(value)

    return step


def dense(rng, inputs, outputs):
    import jax.numpy as jnp
    import numpy

    w = rng.standard_normal((inputs, outputs), dtype=numpy.float32) * inputs**-0.5
    return jnp.asarray(w), jnp.zeros(outputs)


def mean_cross_entropy(jax, labels, logits):
    import jax.numpy as jnp

    picked = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def mlp(jax, jnp):
    import numpy

    images, labels = images_and_labels((128, 784), 10)
    x, y, rng = jnp.asarray(images), jnp.asarray(labels), numpy.random.default_rng(1)
    parameters = [dense(rng, 784, 512), dense(rng, 512, 512), dense(rng, 512, 10)]

    def loss(layers):
        h = x
        for w, b in layers[:-1]:
            h = jax.nn.relu(h @ w + b)
        return mean_cross_entropy(jax, y, h @ layers[-1][0] + layers[-1][1])

    return parameters, loss


def cnn(jax, jnp):
    import numpy

    images, labels = images_and_labels((64, 28, 28, 1), 10)
    x, y, rng = jnp.asarray(images), jnp.asarray(labels), numpy.random.default_rng(1)

    def filters(*shape):
        w = rng.standard_normal(shape, dtype=numpy.float32)
        return jnp.asarray(w / (9 * shape[2]) ** 0.5), jnp.zeros(shape[3])

    parameters = [filters(3, 3, 1, 32), filters(3, 3, 32, 64)]
    parameters += [dense(rng, 144 * 64, 128), dense(rng, 128, 10)]
    layout = ("NHWC", "HWIO", "NHWC")

    def loss(layers):
        h = x
        for w, b in layers[:2]:
            h = jax.lax.conv_general_dilated(h, w, (1, 1), "VALID", dimension_numbers=layout) + b
            h = jax.nn.relu(h)
        window = (1, 2, 2, 1)
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, window, window, "VALID")
        h = jax.nn.relu(h.reshape(64, -1) @ layers[2][0] + layers[2][1])
        return mean_cross_entropy(jax, y, h @ layers[3][0] + layers[3][1])

    return parameters, loss


def gpt(jax, jnp, vocabulary=1000, length=128, batch=8, width=256, heads=4, blocks=4):
    import numpy

    rng = numpy.random.default_rng(0)
    tokens, following = rng.integers(0, vocabulary, (2, batch, length))
    x, y = jnp.asarray(tokens), jnp.asarray(following.reshape(-1))

    def new_norm():
        return jnp.ones(width), jnp.zeros(width)

    layers = [
        {
            "norm1": new_norm(),
            "qkv": dense(rng, width, 3 * width),
            "out": dense(rng, width, width),
            "norm2": new_norm(),
            "up": dense(rng, width, 4 * width),
            "down": dense(rng, 4 * width, width),
        }
        for _ in range(blocks)
    ]
    embedding = jnp.asarray(rng.standard_normal((vocabulary, width), dtype=numpy.float32))
    parameters = {
        "embedding": embedding,
        "layers": layers,
        "norm": new_norm(),
        "head": dense(rng, width, vocabulary),
    }

    def norm(h, layer):
        mean, variance = h.mean(-1, keepdims=True), h.var(-1, keepdims=True)
        return (h - mean) * jax.lax.rsqrt(variance + 1e-5) * layer[0] + layer[1]

    def apply(h, layer):
        return h @ layer[0] + layer[1]

    def attention(h, layer):
        parts = apply(h, layer["qkv"]).reshape(batch, length, 3, heads, width // heads)
        q, k, v = parts.transpose(2, 0, 1, 3, 4)
        seen = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return apply(seen.reshape(batch * length, width), layer["out"])

    def loss(p):
        h = p["embedding"][x].reshape(batch * length, width)
        for layer in p["layers"]:
            h = h + attention(norm(h, layer["norm1"]), layer)
            up = jax.nn.gelu(apply(norm(h, layer["norm2"]), layer["up"]), approximate=False)
            h = h + apply(up, layer["down"])
        return mean_cross_entropy(jax, y, apply(norm(h, p["norm"]), p["head"]))

    return parameters, loss


def gpt12(jax, jnp):
    return gpt(jax, jnp, blocks=12)


def resnet(jax, jnp, batch=8, is_training=True):
    import numpy

    images, labels = images_and_labels((batch, 224, 224, 3), 1000)
    x, y, rng = jnp.asarray(images), jnp.asarray(labels), numpy.random.default_rng(1)

    def convolution(size, inputs, outputs):
        w = rng.standard_normal((size, size, inputs, outputs), dtype=numpy.float32)
        w = jnp.asarray(w / (size * size * inputs) ** 0.5)
        return w, jnp.ones(outputs), jnp.zeros(outputs)

    def apply(h, layer, stride=1):
        layout = ("NHWC", "HWIO", "NHWC")
        h = jax.lax.conv_general_dilated(
            h, layer[0], (stride, stride), "SAME", dimension_numbers=layout
        )
        if is_training:
            h = (h - h.mean((0, 1, 2))) * jax.lax.rsqrt(h.var((0, 1, 2)) + 1e-3)
        return h * layer[1] + layer[2]

    def make_block(inputs, width, stride):
        layers = [convolution(1, inputs, width), convolution(3, width, width)]
        layers.append(convolution(1, width, 4 * width))
        needs_own = stride != 1 or inputs != 4 * width
        return [*layers, *([convolution(1, inputs, 4 * width)] if needs_own else [])]

    blocks, strides, inputs = [], [], 64
    for count, width, stride in RESNET_STAGES:
        for number in range(count):
            strides.append(stride if number == 0 else 1)
            blocks.append(make_block(inputs, width, strides[-1]))
            inputs = 4 * width
    parameters = {
        "stem": convolution(7, 3, 64), "blocks": blocks, "last": dense(rng, inputs, 1000),
    }  # fmt: skip

    def logits(p):
        h = jax.nn.relu(apply(x, p["stem"], 2))
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for layers, stride in zip(p["blocks"], strides, strict=True):
            inner = jax.nn.relu(apply(h, layers[0]))
            inner = apply(jax.nn.relu(apply(inner, layers[1], stride)), layers[2])
            h = jax.nn.relu(inner + (apply(h, layers[3], stride) if layers[3:] else h))
        return h.mean((1, 2)) @ p["last"][0] + p["last"][1]

    if not is_training:
        return parameters, logits
    return parameters, lambda p: mean_cross_entropy(jax, y, logits(p))


def picture(jax):
    """A function that gives the classes of one picture."""
    import jax.numpy as jnp

    parameters, logits = resnet(jax, jnp, batch=1, is_training=False)
    compiled = jax.jit(logits)
    return lambda: jax.block_until_ready(compiled(parameters))


MODELS = {"mlp": mlp, "cnn": cnn, "gpt": gpt, "gpt12": gpt12, "resnet": resnet}
