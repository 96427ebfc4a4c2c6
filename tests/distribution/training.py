"""A program of several workers that goes on from its last checkpoint: training.py FOLDER STEPS

It tells each step on the standard output, and at the end as JSON what came out of it.
"""

import hashlib
import json
import sys

import tidemark as tf

ROWS, EVERY = 12, 5


def resident():
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("RssAnon"))
    return int(line.split()[1]) << 10


def main(folder, steps):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weights = [
            tf.Variable(tf.random.stateless_normal(shape, seed=[7, 0]) * 0.3)
            for shape in ((4, 16), (16, 1))
        ]
        momenta = [tf.Variable(tf.zeros_like(w)) for w in weights]
        step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(step=step, weights=weights, momenta=momenta)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    # All have joined and nobody writes yet, so all find the same.
    checkpoint.restore(manager.latest_checkpoint)
    first = int(step)

    def on_worker(x, y):
        with tf.GradientTape() as tape:
            error = tf.tanh(x @ weights[0]) @ weights[1] - y
            loss = tf.reduce_sum(error * error) / ROWS
        gradients = tape.gradient(loss, weights)
        sums = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        for w, m, g in zip(weights, momenta, sums, strict=True):
            m.assign(0.9 * m + g)
            w.assign_sub(0.02 * m)
        step.assign_add(1)
        return loss

    @tf.function
    def train(x, y):
        return strategy.run(on_worker, args=(x, y))

    rank, count = strategy._rank, strategy.num_replicas_in_sync
    memory = []
    for at in range(first, steps):
        x = tf.random.stateless_normal([ROWS, 4], seed=[at, 1])
        mine = slice(ROWS * rank // count, ROWS * (rank + 1) // count)
        loss = train(x[mine], tf.reduce_sum(x[mine], 1, keepdims=True))
        if steps <= 1000 and (at + 1) % EVERY == 0:
            if rank == 0:
                manager.save(at + 1)
            strategy._group.barrier()  # nobody is ahead of what is saved
        if at % max(1, steps // 20) == 0:
            loss = strategy.reduce("SUM", loss, axis=None)
            memory.append([at, resident(), tf.memory.stats().live])
            print("step", at, float(loss), *memory[-1][1:], flush=True)
    digest = hashlib.sha256(b"".join(v.numpy().tobytes() for v in (*weights, *momenta)))
    print(json.dumps({"first": first, "digest": digest.hexdigest(), "memory": memory}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
