"""opt_einsum: a contraction in the best order, over tensors and with gradients."""

import numpy as np
import opt_einsum
import tensorflow as tf

draw = np.random.default_rng(0)
a, b, c = (draw.normal(size=size).astype("float32") for size in ((3, 20), (20, 30), (30, 2)))
tensors = [tf.constant(one) for one in (a, b, c)]
made = opt_einsum.contract("ij,jk,kl->il", *tensors, backend="tensorflow")
assert np.allclose(made, a @ b @ c, atol=1e-3)
expression = opt_einsum.contract_expression("ij,jk,kl->il", a.shape, b.shape, c.shape)
assert np.allclose(expression(*tensors, backend="tensorflow"), a @ b @ c, atol=1e-3)
with tf.GradientTape() as tape:
    tape.watch(tensors[0])
    loss = tf.reduce_sum(opt_einsum.contract("ij,jk,kl->il", *tensors, backend="tensorflow"))
assert np.allclose(tape.gradient(loss, tensors[0]), np.ones((3, 2)) @ (b @ c).T, atol=1e-3)
