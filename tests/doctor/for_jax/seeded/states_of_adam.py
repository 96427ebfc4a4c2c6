# chain: "states"
# root: module __main__
# bytes: 32768
import jax
import jax.numpy as jnp


@jax.jit
def update(state, x):
    mean, square = state
    grad = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(mean)
    return 0.9 * mean + 0.1 * grad, 0.99 * square + 0.01 * grad**2


state = (jnp.ones((64, 64)), jnp.zeros((64, 64)))
states = {}
for step in range(120):
    state = update(state, jnp.ones((8, 64)) * step)
    states[f"step {step}"] = state  # HERE
