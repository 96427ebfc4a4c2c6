"""``tidemark plan --k8s``: the memory that a program's container is to have, for Kubernetes."""

from __future__ import annotations

import math

from tidemark import memory

# What a process takes when it runs, beside what it has by then: stacks of threads, the heap, code.
_ROOM_MIB = 32
_MIB = 1 << 20


def fragment(plan, specs):
    """For the process that this one is, with the variables that it has, and calls of the plan."""
    now = memory.stats()
    arguments = sum(math.prod(spec.shape) * spec.dtype.size for spec in specs)
    # Of one call's arguments while the next one's are made.
    tensors = _mib(now.live + 2 * arguments + plan.peak)
    whole = tensors + _mib(now.not_ours) + _ROOM_MIB
    return (
        f"# {plan.name}: variables {_mib(now.live)} MiB, arguments {_mib(arguments)} MiB, "
        f"peak of a call {_mib(plan.peak)} MiB;\n"
        f"# beside tensors {_mib(now.not_ours)} MiB now and {_ROOM_MIB} MiB of room\n"
        "resources:\n"
        f"  requests: {{memory: {whole}Mi}}\n"
        f"  limits: {{memory: {whole}Mi}}\n"
        "env:\n"
        f"  - {{name: TIDEMARK_MEMORY_LIMIT, value: {tensors}MiB}}"
    )


def _mib(count):
    return -(-count // _MIB)
