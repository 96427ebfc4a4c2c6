# rule: tensors-gathered
# chain: "history"
# bytes: 16640
import jax
import jax.numpy as jnp


@jax.jit
def update(params, x):
    def loss(p):
        return jnp.mean((x @ p["w"] + p["b"]) ** 2)

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


params = {"w": jnp.ones((64, 64)), "b": jnp.ones((64,))}
history = []
for step in range(120):
    params = update(params, jnp.ones((8, 64)) * step)
    history.append(params)  # HERE
