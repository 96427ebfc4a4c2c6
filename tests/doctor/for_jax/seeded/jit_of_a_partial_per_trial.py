# rule: function-in-loop
# chain: programs
# root: module __main__
import functools

import jax
import jax.numpy as jnp


def score(rate, x):
    return jnp.mean(jnp.exp(-rate * x**2))


programs = {}
best = 0.0
for trial in range(30):
    rate = 0.01 * (trial + 1)
    programs[trial] = jax.jit(functools.partial(score, rate))  # HERE
    value = float(programs[trial](jnp.ones((16, 16))))
    best = max(best, value)
print(best)
