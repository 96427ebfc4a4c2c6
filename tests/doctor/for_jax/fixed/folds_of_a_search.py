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
        folds = [{"rate": 0.01 * number, "w": train(0.01 * number)}]
    return folds


folds = search()
