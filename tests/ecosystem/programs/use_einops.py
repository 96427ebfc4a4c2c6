"""einops: patterns of axes over tensors, eagerly and in a function, with gradients."""

import numpy as np
import tensorflow as tf
from einops import rearrange, reduce, repeat

x = tf.reshape(tf.range(2 * 4 * 4 * 3, dtype=tf.float32), [2, 4, 4, 3])
patches = rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=2)
assert patches.shape == (2, 4, 12)
back = rearrange(patches, "b (h w) (p q c) -> b (h p) (w q) c", h=2, p=2, q=2)
assert np.array_equal(back.numpy(), x.numpy())
assert np.allclose(reduce(x, "b h w c -> b c", "mean"), x.numpy().mean((1, 2)))
assert repeat(x, "b h w c -> (b n) h w c", n=3).shape == (6, 4, 4, 3)


@tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
def pooled(image):
    return reduce(image, "(h 2) (w 2) c -> h w c", "max")


assert np.array_equal(pooled(x[0]), x.numpy()[0].reshape(2, 2, 2, 2, 3).max((1, 3)))
with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(reduce(x, "b h w c -> b", "sum") ** 2)
gradient = tape.gradient(loss, x).numpy()
assert np.allclose(gradient, 2 * x.numpy().sum((1, 2, 3))[:, None, None, None])
