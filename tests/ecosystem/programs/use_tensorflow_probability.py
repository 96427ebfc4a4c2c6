"""TensorFlow Probability: densities, a distribution fitted by gradients, a Markov chain."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfd, tfb = tfp.distributions, tfp.bijectors
tf.random.set_seed(3)
np.testing.assert_allclose(tfd.Normal(0.0, 1.0).log_prob(0.5).numpy(), -1.0439385, rtol=1e-6)
np.testing.assert_allclose(tfd.Gamma(2.0, 3.0).log_prob(1.5).numpy(), -1.8973103, rtol=1e-5)
mixture = tfd.MixtureSameFamily(
    tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 2.0], [0.5, 0.5])
)
np.testing.assert_allclose(mixture.mean().numpy(), 1.1, rtol=1e-6)
sample = tfd.MultivariateNormalTriL(tf.zeros(2), tf.linalg.cholesky([[2.0, 0.5], [0.5, 1.0]]))
assert sample.sample(7).shape == (7, 2)

data = np.random.default_rng(0).normal(3.0, 2.0, 500).astype("float32")
mean = tf.Variable(0.0)
scale = tfp.util.TransformedVariable(1.0, tfb.Softplus())
fitted = tfd.Normal(mean, scale)
losses = tfp.math.minimize(
    lambda: -tf.reduce_mean(fitted.log_prob(data)), num_steps=300,
    optimizer=tf.keras.optimizers.legacy.Adam(0.1),
)  # fmt: skip
assert losses[-1] < losses[0]
assert abs(float(mean) - data.mean()) < 0.1 and abs(float(tf.identity(scale)) - data.std()) < 0.15

kernel = tfp.mcmc.HamiltonianMonteCarlo(
    lambda x: tfd.Normal(1.0, 0.5).log_prob(x), step_size=0.4, num_leapfrog_steps=4
)
chain = tf.function(tfp.mcmc.sample_chain, autograph=False)(
    400, tf.constant(0.0), kernel=kernel, num_burnin_steps=100, trace_fn=None, seed=11
)
assert abs(float(tf.reduce_mean(chain)) - 1.0) < 0.2
