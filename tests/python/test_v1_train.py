"""TensorFlow 1's optimizers, learning rates, losses and metrics."""

import numpy as np
import pytest

import tidemark as tf

v1 = tf.compat.v1
train = v1.train

START = np.array([[0.4, -0.8], [-2.5, 0.6], [0.9, -0.7]], np.float32)

# What TensorFlow 2.21 makes of START in five steps of either loss, to four digits.
OPTIMIZERS = {
    "gradient descent": lambda: train.GradientDescentOptimizer(0.1),
    "momentum": lambda: train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: train.AdamOptimizer(0.1),
    "rmsprop": lambda: train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda: train.RMSPropOptimizer(0.1, centered=True),
    "adagrad": lambda: train.AdagradOptimizer(0.1),
    "adadelta": lambda: train.AdadeltaOptimizer(1.0),
    "ftrl": lambda: train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02
    ),
    "shrinking ftrl": lambda: train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.02),
}
EXPECTED = {
    ("gradient descent", False): [0.8034, 0.4102, -0.1469, 0.8689, 0.9672, 0.4429],
    ("gradient descent", True): [0.9533, 0.86, -2.5, 0.6, 0.9672, 0.4429],
    ("momentum", False): [1.3483, 2.0448, 3.0315, 1.2322, 1.058, 1.9867],
    ("momentum", True): [1.4374, 2.3122, -2.5, 0.6, 1.058, 1.9867],
    ("nesterov", False): [1.2494, 1.7483, 2.455, 1.1663, 1.0416, 1.7067],
    ("nesterov", True): [1.0991, 1.2972, -2.5, 0.6, 1.0416, 1.7067],
    ("adam", False): [0.8806, -0.3034, -2.0015, 1.0554, 1.0109, -0.2037],
    ("adam", True): [0.8806, -0.3034, -2.5, 0.6, 1.0109, -0.2037],
    ("rmsprop", False): [0.9979, 0.4917, -0.9229, 1.0109, 1.0051, 0.5581],
    ("rmsprop", True): [1.0961, 0.6234, -2.5, 0.6, 1.0051, 0.5581],
    ("centered", False): [0.8165, 0.0909, -1.4148, 0.8871, 0.9737, 0.168],
    ("centered", True): [0.9317, 0.1963, -2.5, 0.6, 0.9737, 0.168],
    ("adagrad", False): [0.6809, -0.4886, -2.1826, 0.8539, 0.9974, -0.3894],
    ("adagrad", True): [0.6847, -0.4881, -2.5, 0.6, 0.9974, -0.3894],
    ("adadelta", False): [0.4023, -0.7977, -2.4977, 0.6023, 0.9023, -0.6977],
    ("adadelta", True): [0.4023, -0.7977, -2.5, 0.6, 0.9023, -0.6977],
    ("ftrl", False): [0.5942, -0.4214, -2.0711, 0.6815, 0.4436, -0.3274],
    ("ftrl", True): [0.6408, -0.4543, -2.5, 0.6, 0.4436, -0.3274],
    ("shrinking ftrl", False): [0.5919, -0.4199, -2.0682, 0.6777, 0.4374, -0.3261],
    ("shrinking ftrl", True): [0.6395, -0.4536, -2.5, 0.6, 0.4374, -0.3261],
}


def trained(make, sparse):
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=START)
        step_number = train.get_or_create_global_step()
        value = tf.gather(w, [0, 2, 0]) if sparse else w
        loss = tf.reduce_sum(tf.square(value - 1.0))
        optimizer = make()
        step = optimizer.minimize(loss, global_step=step_number)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for _ in range(5):
                sess.run(step)
            assert sess.run(step_number) == 5
            return sess.run(w), [v.name for v in optimizer.variables()]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_tensorflows(name, sparse):
    value, _ = trained(OPTIMIZERS[name], sparse)
    np.testing.assert_allclose(value.ravel(), EXPECTED[name, sparse], atol=2e-4)


def test_slots_have_tensorflows_names():
    _, names = trained(OPTIMIZERS["adam"], False)
    assert names == ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]
    _, names = trained(OPTIMIZERS["momentum"], False)
    assert names == ["w/Momentum:0"]


def test_gradients_are_clipped_between():
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=[3.0, 4.0])
        optimizer = train.GradientDescentOptimizer(1.0)
        pairs = optimizer.compute_gradients(0.5 * tf.reduce_sum(tf.square(w)))
        step = optimizer.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs])
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            sess.run(step)
            np.testing.assert_allclose(sess.run(w), [2.4, 3.2], rtol=1e-5)


def test_bad_arguments():
    with tf.Graph().as_default():
        optimizer = train.GradientDescentOptimizer(0.1)
        with pytest.raises(ValueError, match="No variables to optimize"):
            optimizer.minimize(tf.constant(1.0))
        w = v1.get_variable("w", initializer=1.0)
        with pytest.raises(ValueError, match="No gradients provided"):
            optimizer.minimize(tf.constant(1.0), var_list=[w])
        with pytest.raises(TypeError, match="not a tf.Variable"):
            optimizer.compute_gradients(w * 2.0, [tf.constant(1.0)])
        with pytest.raises(ValueError, match="No variables provided"):
            optimizer.apply_gradients([])


def test_eager_variables_are_trained_by_a_function():
    v = tf.Variable([1.0, 2.0])
    optimizer = train.AdamOptimizer(0.1)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
    np.testing.assert_allclose(v.numpy(), [0.7006, 1.7004], atol=1e-3)


def test_learning_rates_follow_the_step():
    with tf.Graph().as_default():
        step = train.get_or_create_global_step()
        rates = [
            train.exponential_decay(0.1, step, 10, 0.9),
            train.exponential_decay(0.1, step, 10, 0.9, staircase=True),
            train.natural_exp_decay(0.1, step, 10, 0.9),
            train.inverse_time_decay(0.1, step, 10, 0.5),
            train.polynomial_decay(0.1, step, 10),
            train.polynomial_decay(0.1, step, 10, cycle=True),
            train.piecewise_constant(step, [3, 8], [1.0, 0.5, 0.1]),
            train.cosine_decay(0.1, step, 20),
        ]
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            step.load(12, sess)
            found = sess.run(rates)
    wanted = [0.0881, 0.09, 0.034, 0.0625, 0.0001, 0.0401, 0.1, 0.0345]
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_moving_averages():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=2.0)
        average = train.ExponentialMovingAverage(0.9)
        grow = v.assign_add(1.0)
        with tf.control_dependencies([grow]):
            update = average.apply([v])
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for _ in range(3):
                sess.run(grow)
                sess.run(update)
            assert average.average(v).name == "v/ExponentialMovingAverage:0"
            assert 2.0 < sess.run(average.average(v)) < sess.run(v)


def test_losses_are_tensorflows():
    labels = np.array([[0, 1], [1, 1], [0, 0]], np.float32)
    predictions = np.array([[0.2, 0.7], [0.4, 0.9], [0.1, 0.3]], np.float32)
    weights = np.array([[1.0], [0.0], [2.0]], np.float32)
    losses = v1.losses
    with tf.Graph().as_default():
        made = [
            losses.absolute_difference(labels, predictions, weights),
            losses.mean_squared_error(labels, predictions),
            losses.huber_loss(labels, predictions, delta=0.2),
            losses.log_loss(labels, predictions),
            losses.hinge_loss(labels, predictions),
            losses.cosine_distance(labels, predictions, 1),
            losses.sigmoid_cross_entropy(labels, predictions, label_smoothing=0.1),
            losses.softmax_cross_entropy(labels, predictions),
            losses.sparse_softmax_cross_entropy([1, 0, 1], predictions),
            losses.mean_pairwise_squared_error(labels, predictions),
            losses.mean_squared_error(labels, predictions, weights, reduction="weighted_mean"),
        ]
        assert v1.losses.get_losses() == made
        total = losses.get_total_loss()
        with v1.Session() as sess:
            found = sess.run(made)
            np.testing.assert_allclose(sess.run(total), np.sum(found), rtol=1e-5)
    np.testing.assert_allclose(
        found,
        [
            0.325,
            0.1,
            0.035,
            0.343917,
            0.766667,
            0.333333,
            0.620708,
            0.640744,
            0.682098,
            0.54,
            0.055,
        ],
        rtol=1e-4,
    )
    with tf.Graph().as_default(), pytest.raises(ValueError, match="broadcast"):
        losses.mean_squared_error(labels, predictions, np.ones((2, 2), np.float32))


def test_metrics_add_up():
    labels = np.array([[0, 1], [1, 1], [0, 0]], np.float32)
    predictions = np.array([[0.2, 0.7], [0.4, 0.9], [0.1, 0.6]], np.float32)
    metrics = v1.metrics
    with tf.Graph().as_default():
        chosen = tf.round(predictions)
        made = [
            metrics.accuracy(labels, chosen),
            metrics.precision(labels, chosen),
            metrics.recall(labels, chosen),
            metrics.mean(predictions),
            metrics.root_mean_squared_error(labels, predictions),
            metrics.auc(labels, tf.constant(predictions)),
            metrics.false_negatives(labels, chosen),
        ]
        with v1.Session() as sess:
            sess.run(v1.local_variables_initializer())
            for _ in range(2):
                sess.run([update for _, update in made])
            found = sess.run([value for value, _ in made])
        names = [v.name for v in v1.local_variables()]
    np.testing.assert_allclose(
        found, [0.666667, 0.666667, 0.666667, 0.483333, 0.380789, 0.888889, 2.0], rtol=1e-4
    )
    assert names[:3] == ["accuracy/total:0", "accuracy/count:0", "precision/true_positives/count:0"]
