"""GPflow: a Gaussian process is trained for twenty steps and predicts."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import gpflow
import numpy as np

draw = np.random.default_rng(0)
x = draw.uniform(0, 1, (40, 1))
y = np.sin(8 * x) + 0.05 * draw.normal(size=x.shape)
model = gpflow.models.GPR((x, y), gpflow.kernels.SquaredExponential())
before = float(model.training_loss())
gpflow.optimizers.Scipy().minimize(
    model.training_loss, model.trainable_variables, options={"maxiter": 20}
)
assert float(model.training_loss()) < before - 20
mean, variance = model.predict_f(np.array([[0.25], [0.5]]))
np.testing.assert_allclose(mean.numpy()[:, 0], np.sin([2.0, 4.0]), atol=0.1)

sparse = gpflow.models.SVGP(
    gpflow.kernels.Matern32(), gpflow.likelihoods.Gaussian(), x[:10].copy(), num_data=40
)
before = float(sparse.elbo((x, y)))
gpflow.optimizers.Scipy().minimize(
    sparse.training_loss_closure((x, y)), sparse.trainable_variables, options={"maxiter": 20}
)
assert float(sparse.elbo((x, y))) > before
