"""The sum of a tensor of 1 KB to 256 MB over 2 and 4 processes, against torch's Gloo."""

from case import Case, InPython, Options, Row
from processes import best_seconds, on_workers

SIZES = {
    "1 KB": 1 << 10,
    "64 KB": 64 << 10,
    "1 MB": 1 << 20,
    "16 MB": 16 << 20,
    "256 MB": 256 << 20,
}
WORKERS = (2, 4)


def measured(count, begin, options):
    """``begin(rank, addresses)`` gives (sum of so many floats as a call, barrier, end)."""

    def work(rank, addresses):
        sum_of, barrier, end = begin(rank, addresses)
        found = {}
        for name, size in SIZES.items():
            if size > options.pick(256 << 20, 1 << 20):
                continue
            calls = max(1, min(300, (8 << 20) // size))
            call = sum_of(size // 4)
            seconds = best_seconds(call, barrier, calls, options.pick(7, 2))
            found[f"{name} {count}"] = seconds * 1e6
        end()
        return found

    return on_workers(count, work)


def tidemark_of(count):
    def measure(options: Options):
        def begin(rank, addresses):
            import tidemark as tf
            from tidemark import _tidemark

            group = _tidemark.join_group(rank, addresses)

            def sum_of(elements):
                x = tf.ones([elements])
                step = tf.function(lambda t: group.all_reduce([t])[0])
                step(x)
                return lambda: step(x)

            return sum_of, group.barrier, lambda: group.leave(5.0)

        return measured(count, begin, options)

    return measure


def torch_of(count):
    def measure(options: Options):
        def begin(rank, addresses):
            import torch
            import torch.distributed as dist

            dist.init_process_group(
                "gloo", init_method=f"tcp://{addresses[0]}", rank=rank, world_size=count
            )

            def sum_of(elements):
                x = torch.zeros(elements)
                return lambda: dist.all_reduce(x)

            return sum_of, dist.barrier, dist.destroy_process_group

        return measured(count, begin, options)

    return measure


CASE = Case(
    about="all_reduce over processes of one core each",
    subjects=[
        subject
        for count in WORKERS
        for subject in (
            InPython(f"tidemark_{count}", tidemark_of(count), environment="tidemark"),
            InPython(f"torch_{count}", torch_of(count), environment="torch"),
        )
    ],
    rows=[
        Row(
            f"{name}, {count} processes",
            f"tidemark_{count}.{name} {count}",
            f"torch_{count}.{name} {count}",
            at_most_ratio=1.0,
            unit="us",
        )
        for count in WORKERS
        for name in SIZES
    ],
)
