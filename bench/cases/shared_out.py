"""Training steps of an MLP with Adam on four processes, by what is shared out among them."""

from case import Case, InPython, Options, Row
from processes import best_seconds, on_workers

WORKERS, BATCH, WIDTHS = 4, 256, (784, 1024, 1024, 1024, 10)  # the batch of each worker
SHARDS = (None, "optimizer", "gradients", "parameters")


def training(strategy):
    """A step, the weights and Adam's moments."""
    import tidemark as tf

    weights, moments = [], []
    with strategy.scope():
        for at, shape in enumerate(zip(WIDTHS, WIDTHS[1:], strict=False)):
            initial = tf.random.stateless_normal(shape, seed=[1, at]) * shape[0] ** -0.5
            weights.append(tf.Variable(initial))
            with strategy.extended.colocate_vars_with(weights[-1]):
                moments.append([tf.Variable(tf.zeros(shape), trainable=False) for _ in "mv"])

    def adam(weight, m, v, gradient):
        m.assign(0.9 * m + 0.1 * gradient)
        v.assign(0.999 * v + 0.001 * gradient * gradient)
        weight.assign_sub(1e-3 * m / (tf.sqrt(v) + 1e-7))

    def change_all(strategy, gradients):
        for weight, (m, v), gradient in zip(weights, moments, gradients, strict=True):
            strategy.extended.update(weight, adam, args=(m, v, gradient))

    def on_worker(x, y):
        with tf.GradientTape() as tape:
            h = x
            for weight in weights[:-1]:
                h = tf.nn.relu(h @ weight)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, h @ weights[-1])
            loss = tf.reduce_mean(losses) / strategy.num_replicas_in_sync
        gradients = tape.gradient(loss, weights)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        tf.__internal__.distribute.interim.maybe_merge_call(change_all, strategy, gradients)
        return loss

    step = tf.function(lambda x, y: strategy.run(on_worker, args=(x, y)))
    return step, weights, [one for both in moments for one in both]


def bytes_kept(variables):
    return sum(getattr(v, "_first", v).numpy().nbytes for v in variables)


def measured(shard):
    def measure(options: Options):
        def work(rank, addresses):
            import numpy as np

            import tidemark as tf

            resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
                tf.train.ClusterSpec({"worker": addresses}), task_type="worker", task_id=rank
            )
            strategy = tf.distribute.MultiWorkerMirroredStrategy(resolver, shard=shard)
            step, weights, moments = training(strategy)
            rng = np.random.default_rng(rank)
            x = tf.constant(rng.normal(size=(BATCH, WIDTHS[0])).astype(np.float32))
            y = tf.constant(rng.integers(0, WIDTHS[-1], size=BATCH))
            group = strategy._group
            seconds = best_seconds(lambda: step(x, y), group.barrier, 5, options.pick(7, 1))
            return {
                "step_ms": seconds * 1e3,
                "state_mb": bytes_kept(moments) / 2**20,
                "weights_mb": bytes_kept(weights) / 2**20,
                "peak_mb": step.plan(x, y).peak / 2**20,
                "sent_mb": step.plan(x, y).bytes_sent / 2**20,
            }

        return on_workers(WORKERS, work)

    return measure


def name_of(shard):
    return shard or "nothing"


CASE = Case(
    about="steps of an MLP with Adam on four processes, by what is shared out among them",
    subjects=[
        InPython(name_of(shard), measured(shard), environment="tidemark") for shard in SHARDS
    ],
    rows=[
        row
        for shard in SHARDS[1:]
        for row in (
            Row(
                f"step, {shard}",
                f"{shard}.step_ms",
                "nothing.step_ms",
                at_most_ratio=1.25,
                unit="ms",
            ),
            Row(
                f"state, {shard}",
                f"{shard}.state_mb",
                "nothing.state_mb",
                at_most_ratio=0.27,
                unit="MB",
            ),
        )
    ]
    + [
        Row(
            "weights, parameters",
            "parameters.weights_mb",
            "nothing.weights_mb",
            at_most_ratio=0.27,
            unit="MB",
        )
    ],
)
