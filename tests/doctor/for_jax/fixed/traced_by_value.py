import jax
import jax.numpy as jnp


@jax.jit
def scale(x, by):
    return x * by


x = jnp.ones((64, 64))
for step in range(30):
    y = scale(x, step)
