import jax
import jax.numpy as jnp


def score(rate, x):
    return jnp.mean(jnp.exp(-rate * x**2))


programs = {}
best = 0.0
programs["score"] = jax.jit(score)
for trial in range(30):
    rate = 0.01 * (trial + 1)
    value = float(programs["score"](rate, jnp.ones((16, 16))))
    best = max(best, value)
print(best)
