import jax
import jax.numpy as jnp


def discounted(rewards, rate):
    weights = rate ** jnp.arange(rewards.shape[1])
    return rewards * weights


def main():
    key = jax.random.key(0)
    returns = []
    for episode in range(100):
        key, part = jax.random.split(key)
        rewards = jax.random.uniform(part, (64, 64))
        returns.append(float(discounted(rewards, 0.99).mean()))
    print(len(returns))


main()
