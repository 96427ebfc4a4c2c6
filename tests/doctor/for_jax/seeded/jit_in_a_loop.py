# rule: function-in-loop
import jax
import jax.numpy as jnp

x = jnp.ones((64, 64))
for step in range(30):
    double = jax.jit(lambda a: a * 2.0)  # HERE
    y = double(x)
