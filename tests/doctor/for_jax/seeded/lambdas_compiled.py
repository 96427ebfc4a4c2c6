# rule: function-in-loop
import jax
import jax.numpy as jnp

x = jnp.ones((64, 64))
compiled = {}
for step in range(60):
    f = jax.jit(lambda x, step=step: jnp.tanh(x) * step)
    y = f(x)
    compiled[step] = f  # HERE
