# chain: "past"
# bytes: 16384
import jax.numpy as jnp


def recorder():
    past = []

    def record(x):
        past.append(x)  # HERE
        return len(past)

    return record


record = recorder()
x = jnp.ones((64, 64))
for step in range(140):
    x = jnp.sin(x)  # MADE
    record(x)
