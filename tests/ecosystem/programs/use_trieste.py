"""trieste: Bayesian optimization of a function of one number."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
import trieste
from trieste.models.gpflow import GaussianProcessRegression, build_gpr

tf.random.set_seed(0)
space = trieste.space.Box([0.0], [1.0])


def objective(x):
    return trieste.data.Dataset(x, (x - 0.3) ** 2)


start = objective(space.sample(4))
model = GaussianProcessRegression(build_gpr(start, space))
found = trieste.bayesian_optimizer.BayesianOptimizer(objective, space).optimize(3, start, model)
best = found.try_get_final_dataset()
assert best.query_points.shape == (7, 1)
assert float(tf.reduce_min(best.observations)) < 0.01
