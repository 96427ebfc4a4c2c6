"""``tf.distribute.MirroredStrategy`` over several logical CPUs: replicas of one process."""

import gc
import threading

import numpy as np
import pytest

import tidemark as tf

distribute = tf.distribute


@pytest.fixture
def strategy():
    from tidemark.config import _devices

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    assert [d.name for d in tf.config.list_logical_devices("CPU")] == [
        "/device:CPU:0", "/device:CPU:1",
    ]  # fmt: skip
    yield distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    _devices.reset()


def replica():
    return distribute.get_replica_context().replica_id_in_sync_group


def values(found):
    return [np.asarray(v).tolist() for v in found.values]


@pytest.mark.parametrize("staged", [False, True])
def test_each_replica_has_its_own_values(strategy, staged):
    def step(x):
        mean = distribute.get_replica_context().all_reduce("MEAN", x)
        return x * 10.0, mean, 7

    given = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(float(context.replica_id_in_sync_group))
    )
    run = tf.function(strategy.run) if staged else strategy.run
    scaled, mean, same = run(step, args=(given,))
    assert values(scaled) == [0.0, 10.0] and int(same) == 7
    assert float(strategy.reduce("SUM", scaled, axis=None)) == 10.0
    assert float(strategy.experimental_local_results(mean)[0]) == 0.5
    assert (
        strategy.gather(distribute.DistributedValues([tf.ones([1]), tf.zeros([2])]), 0).shape == 3
    )


def test_reducing_inside_of_a_function_of_the_replica(strategy):
    @tf.function
    def total(x):
        return distribute.get_replica_context().all_reduce("SUM", x)

    found = strategy.run(lambda: total(tf.constant(1.0 + replica())))
    assert [float(v) for v in strategy.experimental_local_results(found)] in ([3.0], [3.0, 3.0])

    @tf.function
    def merges():
        return distribute.get_replica_context().merge_call(lambda s: tf.constant(1))

    with pytest.raises(RuntimeError, match="merge_call"):
        strategy.run(merges)


def test_variables_are_updated_once_for_all(strategy):
    with strategy.scope():
        mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
        total = tf.Variable([0.0, 0.0], aggregation=tf.VariableAggregation.SUM)
        first = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
        plain = tf.Variable(1.0)
        own = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ,
                          aggregation=tf.VariableAggregation.SUM)  # fmt: skip
    assert isinstance(mean, distribute.DistributedValues) and isinstance(own, tf.Variable)
    assert mean.synchronization is tf.VariableSynchronization.ON_WRITE

    def step():
        mean.assign(2.0 * replica())
        total.assign_add([1.0, float(replica())])
        first.assign_add(5 + replica())
        own.assign_add(1.0 + replica())
        return own + 0.0

    for _ in range(2):
        seen = strategy.run(step)
    assert (float(mean), total.numpy().tolist(), int(first)) == (1.0, [4.0, 2.0], 10)
    assert values(seen) == [2.0, 4.0] and float(own) == 6.0
    strategy.run(lambda: plain.assign_add(2.0))
    assert float(plain) == 3.0  # the first replica's, not both
    own.assign(8.0)
    assert float(own) == 8.0


def test_gradients_under_a_function(strategy):
    with strategy.scope():
        weight = tf.Variable(1.0)

    def step(x):
        with tf.GradientTape() as tape:
            loss = weight * weight * x
        gradient = tape.gradient(loss, weight)
        context = distribute.get_replica_context()
        total = context.all_reduce("SUM", gradient)
        context.merge_call(
            lambda s, g: s.extended.update(weight, lambda v, g: v.assign_sub(0.1 * g), args=(g,)),
            args=(total,),
        )
        return loss

    @tf.function
    def train(x):
        return strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)

    rows = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices([1.0, 3.0, 1.0, 3.0]).batch(2)
    )
    expected = 1.0
    for x in rows:
        assert values(x) == [[1.0], [3.0]]
        x = strategy.run(lambda v: v[0], args=(x,))
        assert float(train(x)) == pytest.approx(4 * expected**2)
        expected -= 0.1 * 8 * expected
        assert float(weight) == pytest.approx(expected)


def test_errors_and_replicas_that_go_apart(strategy):
    def fails():
        if replica() == 1:
            raise KeyError("one")
        return distribute.get_replica_context().all_reduce("SUM", 1.0)

    before = threading.active_count()
    with pytest.raises(KeyError, match="one"):
        strategy.run(fails)
    with pytest.raises(RuntimeError, match="equally often"):
        strategy.run(
            lambda: distribute.get_replica_context().all_reduce("SUM", 1.0) if replica() else 0.0
        )
    assert threading.active_count() == before
    for wrong in (["CPU:0", "CPU:7"], ["CPU:0", "CPU:0"]):
        with pytest.raises(ValueError):
            distribute.MirroredStrategy(wrong)


def test_runs_stay_flat(strategy):
    live = []
    for _ in range(300):
        strategy.run(lambda: distribute.get_replica_context().all_reduce("SUM", tf.ones([1000])))
        live.append(tf.memory.stats().live)
    gc.collect()
    assert max(live[200:]) <= max(live[50:100]) + (16 << 10)
    assert threading.active_count() < 20
