# chain: "pullbacks"
# root: module __main__
import jax
import jax.numpy as jnp

pullbacks = []
w = jnp.ones((64, 64))
for step in range(100):
    y, pullback = jax.vjp(lambda w: jnp.exp(-w * w * step), w)
    pullbacks.append(pullback)  # HERE
