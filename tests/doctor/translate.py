"""Planted programs for TensorFlow in the words of other libraries, as far as they have those."""

from __future__ import annotations

import re

_SAME = "exp sin cos tanh sqrt abs square matmul"
_WORDS = {
    "torch": {
        "import tensorflow as tf": "import torch",
        **{f"tf.{name}(": f"torch.{name}(" for name in _SAME.split()},
        "tf.reduce_mean(": "torch.mean(", "tf.reduce_sum(": "torch.sum(",
        "tf.reduce_max(": "torch.max(",
        "tf.random.normal(": "torch.randn(", "tf.random.uniform(": "torch.rand(",
        "tf.ones(": "torch.ones(", "tf.zeros(": "torch.zeros(", "tf.identity(": "torch.clone(",
        "tf.nn.elu(": "torch.nn.functional.elu(", "tf.nn.relu(": "torch.relu(",
    },
    "jax": {
        "import tensorflow as tf": "import jax\nimport jax.numpy as jnp",
        **{f"tf.{name}(": f"jnp.{name}(" for name in _SAME.split()},
        "tf.reduce_mean(": "jnp.mean(", "tf.reduce_sum(": "jnp.sum(",
        "tf.reduce_max(": "jnp.max(",
        "tf.random.normal(": "jax.random.normal(jax.random.key(0), ",
        "tf.random.uniform(": "jax.random.uniform(jax.random.key(0), ",
        "tf.ones(": "jnp.ones(", "tf.zeros(": "jnp.zeros(", "tf.identity(": "jnp.array(",
        "tf.nn.elu(": "jax.nn.elu(", "tf.nn.relu(": "jax.nn.relu(",
    },
}  # fmt: skip


def to(library, text):
    """The program; None: there is no word for something it says. Lines keep their numbers but for
    the one that JAX's second import takes."""
    for word, other in _WORDS[library].items():
        text = text.replace(word, other)
    return None if re.search(r"\b(tf|keras|tensorflow)\b|\.ref\(\)", text) else text
