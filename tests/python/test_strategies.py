"""``tf.distribute`` over one device."""

import pytest

import tidemark as tf

distribute = tf.distribute


def test_the_default_strategy():
    strategy = distribute.get_strategy()
    assert not distribute.has_strategy()
    assert strategy.num_replicas_in_sync == 1
    assert not distribute.in_cross_replica_context()
    assert distribute.get_replica_context().replica_id_in_sync_group == 0
    assert strategy.experimental_local_results(3) == (3,)


@pytest.mark.parametrize(
    "make",
    [distribute.MirroredStrategy, lambda: distribute.OneDeviceStrategy("/cpu:0")],
)
def test_a_step_under_a_strategy(make):
    strategy = make()
    with strategy.scope():
        assert distribute.get_strategy() is strategy
        assert distribute.in_cross_replica_context()
        variable = tf.Variable(2.0)

    def step():
        assert distribute.get_replica_context().strategy is strategy
        with tf.GradientTape() as tape:
            loss = variable * variable
        gradient = tape.gradient(loss, variable)
        total = distribute.get_replica_context().all_reduce("SUM", gradient)
        merged = distribute.get_replica_context().merge_call(
            lambda s, g: s.extended.update(variable, lambda v, g: v.assign_sub(g), args=(g,)),
            args=(total,),
        )
        assert merged is variable or float(merged) == float(variable)
        return loss

    losses = strategy.run(step)
    assert float(strategy.reduce("SUM", losses, axis=None)) == 4.0
    assert float(variable) == -2.0
    assert not distribute.has_strategy()


def test_reduce_over_an_axis():
    strategy = distribute.get_strategy()
    value = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert strategy.reduce("MEAN", value, axis=0).numpy().tolist() == [2.0, 3.0]
    assert strategy.reduce(distribute.ReduceOp.SUM, value, axis=0).numpy().tolist() == [4.0, 6.0]
    with pytest.raises(ValueError):
        strategy.reduce("MAX", value, axis=None)


def test_strategies_do_not_mix():
    first, second = distribute.MirroredStrategy(), distribute.MirroredStrategy()
    with first.scope(), pytest.raises(RuntimeError, match="Mixing different"), second.scope():
        pass
    assert not distribute.has_strategy()


def test_what_needs_several_devices_says_so():
    with pytest.raises(tf.errors.UnimplementedError, match="TPU"):
        distribute.TPUStrategy()
    with pytest.raises(ValueError, match="set_logical_device_configuration"):
        distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    # The CPU stands in for other devices, as it does for single ones.
    assert distribute.MirroredStrategy(["/gpu:0", "/gpu:1"]).num_replicas_in_sync == 2
    with pytest.raises(tf.errors.UnimplementedError, match="MultiWorkerMirroredStrategy"):
        distribute.ParameterServerStrategy(None)
    assert not isinstance(distribute.get_strategy(), distribute.TPUStrategy)
