"""Training steps of an MLP, a CNN and a GPT on one process and on two of one core each, against
torch's DDP."""

import models
import torch_models
from case import Case, InPython, Options, Row
from processes import best_seconds, on_workers

NAMES = ("mlp", "cnn", "gpt")


def memory():
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("RssAnon"))
    return float(line.split()[1]) / 1024


def measured(count, begin, options):
    def work(rank, addresses):
        step, barrier, end = begin(rank, addresses)
        seconds = best_seconds(step, barrier, options.pick(5, 1), options.pick(15, 2))
        found = {"step_ms": seconds * 1e3, "memory_mb": memory()}
        end()
        return found

    return on_workers(count, work)


def tidemark_of(name, count):
    def measure(options: Options):
        def begin(rank, addresses):
            import tidemark as tf

            resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
                tf.train.ClusterSpec({"worker": addresses}), task_type="worker", task_id=rank
            )
            strategy = tf.distribute.MultiWorkerMirroredStrategy(resolver)
            with strategy.scope():
                variables, loss = models.MODELS[name](tf)
            update, steps = models.adam(tf, variables), tf.Variable(1.0)

            def on_worker():
                with tf.GradientTape() as tape:
                    value = loss() / count
                gradients = tape.gradient(value, variables)
                gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
                update(gradients, steps)
                return value

            step = tf.function(lambda: strategy.run(on_worker))
            group = strategy._group
            return step, group.barrier, lambda: group.leave(5.0)

        return measured(count, begin, options)

    return measure


def torch_of(name, count):
    def measure(options: Options):
        def begin(rank, addresses):
            import torch
            import torch.distributed as dist

            torch.manual_seed(1)
            torch.set_num_threads(1)
            if count == 1:
                return torch_models.training_step(torch, name), (lambda: None), (lambda: None)
            dist.init_process_group(
                "gloo", init_method=f"tcp://{addresses[0]}", rank=rank, world_size=count
            )
            parallel = torch.nn.parallel.DistributedDataParallel
            step = torch_models.training_step(torch, name, wrapped=parallel)
            return step, dist.barrier, dist.destroy_process_group

        return measured(count, begin, options)

    return measure


def rows_of(name):
    two = f"tidemark_{name}_2"
    torch = f"torch_{name}_2"
    return [
        Row(f"{name}, 2 processes", f"{two}.step_ms", f"{torch}.step_ms", at_most_ratio=1.0,
            unit="ms"),
        Row(f"{name}, memory of a worker", f"{two}.memory_mb", f"{torch}.memory_mb",
            at_most_ratio=0.5, unit="MB"),
        # 0.9 of twice the steps: a step on two takes 1 / 0.9 of one on its own.
        Row(f"{name}, 2 processes against 1", f"{two}.step_ms", f"tidemark_{name}_1.step_ms",
            at_most_ratio=1.111, unit="ms", peer_label="one"),
    ]  # fmt: skip


CASE = Case(
    about="data-parallel training steps, processes of one core each",
    subjects=[
        InPython(f"{library}_{name}_{count}", of(name, count), environment=library)
        for name in NAMES
        for count in (1, 2)
        for library, of in (("tidemark", tidemark_of), ("torch", torch_of))
    ],
    rows=[row for name in NAMES for row in rows_of(name)],
)
