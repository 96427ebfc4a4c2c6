# rule: tensors-gathered
# chain: members
# chain: ensemble
# root: module __main__
# bytes: 24576
import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Member:
    seed: int
    inner: jax.Array
    outer: jax.Array


@dataclasses.dataclass
class Ensemble:
    members: list = dataclasses.field(default_factory=list)

    def grow(self, seed):
        first, second = jax.random.split(jax.random.key(seed))
        inner = jax.random.normal(first, (32, 128))
        outer = jax.random.normal(second, (128, 16))
        self.members.append(Member(seed, inner, outer))  # HERE

    def predict(self, x):
        last = self.members[-1]
        return jnp.tanh(x @ last.inner) @ last.outer


ensemble = Ensemble()
for seed in range(90):
    ensemble.grow(seed)
    value = float(ensemble.predict(jnp.ones((2, 32))).mean())
