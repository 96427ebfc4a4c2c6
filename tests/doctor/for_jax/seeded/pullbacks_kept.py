# chain: "pullbacks"
# root: module __main__
import jax
import jax.numpy as jnp

pullbacks = []
w = jnp.ones((64, 64))
for step in range(100):
    y, pullback = jax.vjp(lambda w, s: jnp.exp(-w * w * s), w, float(step))
    pullbacks.append(pullback)  # HERE
