import jax.numpy as jnp

memo = {}


def schedule(step):
    if step not in memo:
        noise = jnp.sin(jnp.linspace(0.0, 1.0, 5120) * (1.0 + step))
        memo.clear()
        memo[step] = noise
    return memo[step]


image = jnp.ones(5120)
for step in range(120):
    image = 0.9 * image + 0.1 * schedule(step)
print(float(image.sum()))
