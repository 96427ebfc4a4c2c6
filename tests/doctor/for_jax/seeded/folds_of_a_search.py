# chain: "folds"
# bytes: 65536
import jax
import jax.numpy as jnp


def train(rate):
    w = jnp.ones((128, 128))
    for _ in range(3):
        w = w - rate * jax.grad(lambda w: jnp.mean(w**2))(w)
    return w


def search():
    folds = []
    for number in range(60):
        folds.append({"rate": 0.01 * number, "w": train(0.01 * number)})  # HERE
    return folds


folds = search()
