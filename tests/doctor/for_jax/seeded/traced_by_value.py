# rule: retrace-value
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnums=1)
def scale(x, by):
    return x * by


x = jnp.ones((64, 64))
for step in range(30):
    y = scale(x, step)  # HERE
