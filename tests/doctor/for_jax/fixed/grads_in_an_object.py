"""An optimizer that looks back over a few gradients, and keeps all of them."""

import jax
import jax.numpy as jnp


class LookBack:
    def __init__(self, rate, length):
        self.rate = rate
        self.length = length
        self.past = []

    def update(self, w, gradient):
        self.past.append(gradient)
        self.past = self.past[-self.length :]
        mean = sum(self.past[-self.length :]) / self.length
        return w - self.rate * mean


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


gradient = jax.jit(jax.grad(loss))
optimizer = LookBack(0.1, 3)
w = jnp.ones((64, 64)) * 0.01
for step in range(100):
    x = jnp.ones((4, 64)) * (step % 7)
    w = optimizer.update(w, gradient(w, x))
