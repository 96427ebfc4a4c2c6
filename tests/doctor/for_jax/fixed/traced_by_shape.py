import jax
import jax.numpy as jnp


@jax.jit
def mean(x):
    return jnp.mean(x)


for length in range(1, 30):
    y = mean(jnp.ones((32, 64)) * length)
