import jax
import jax.numpy as jnp

x = jnp.ones((64, 64))
double = jax.jit(lambda a: a * 2.0)
for step in range(30):
    y = double(x)
