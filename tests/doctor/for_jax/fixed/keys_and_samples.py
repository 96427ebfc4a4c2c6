import jax


class Sampler:
    def __init__(self, seed):
        self.key = jax.random.key(seed)
        self.drawn = []

    def draw(self):
        self.key, one = jax.random.split(self.key)
        sample = jax.random.normal(one, (64, 64))
        self.drawn[:] = [sample]
        return sample


sampler = Sampler(0)
for step in range(130):
    sampler.draw()
