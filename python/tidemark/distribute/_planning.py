"""Workers that are not there, to plan for: ``f.plan(x, workers=4)`` traces the function as each of
them would, and strategies take the imagined group for theirs meanwhile.
"""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from typing import NamedTuple

from tidemark import _tidemark
from tidemark._explain.source import bytes_text
from tidemark._export import export
from tidemark.errors import ResourceExhaustedError
from tidemark.memory import parse_bytes

# The more is shared out, the less memory a worker needs, as a rule.
SHARDS = (None, "optimizer", "gradients", "parameters")
AS_MADE = "as made"  # as the program's strategies say

strategies = weakref.WeakSet()  # that variables may be shared out by

_imagined = contextvars.ContextVar("imagined_worker", default=None)


class ImaginedWorker(NamedTuple):
    """What the strategies of this thread take themselves for."""

    group: object
    shard: str | None
    shared: dict  # by id, variables that would be shared out: what programs would take for them

    def shard_of(self, made_with):
        return made_with if self.shard == AS_MADE else self.shard


def current():
    """The worker that is planned for; None: this process is itself."""
    return _imagined.get()


@contextlib.contextmanager
def _worker(rank, count, shard):
    worker = ImaginedWorker(_tidemark.imagined_group(rank, count), shard, {})
    token = _imagined.set(worker)
    try:
        for strategy in strategies:
            if strategy._joined.size == 1:
                worker.shared.update(strategy._shares.stand_ins())
        scope = _tidemark.SharedOutScope(list(worker.shared.values()))
        scope.enter()
        try:
            yield
        finally:
            scope.exit()
    finally:
        _imagined.reset(token)


def check_shard(shard):
    if shard not in SHARDS:
        known = ", ".join(map(repr, SHARDS))
        raise ValueError(f"shard={shard!r} is not there; there are {known}")


def plan(function, args, kwargs, count, shard, memory_budget):
    """The plans of all workers. With a budget and no shard given, those of the first way of
    sharing out that keeps within it."""
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"`workers` is how many there are, 1 or more; got {count!r}")
    if shard != AS_MADE:
        check_shard(shard)
    budget = None if memory_budget is None else parse_bytes(memory_budget)
    if budget is None:
        return _plans(function, args, kwargs, count, shard)
    # Not more is shared out, and sent, than has to be; only then steps are done twice.
    found = None
    for found in ways(function, args, kwargs, count, shard):
        if found.worst.total <= budget:
            return found
    return _plans(function, args, kwargs, count, found.shard, budget)


def ways(function, args, kwargs, count, shard=AS_MADE):
    """The plans of each way of sharing out, nothing first."""
    for one in SHARDS if shard == AS_MADE else (shard,):
        yield _plans(function, args, kwargs, count, one)


def _plans(function, args, kwargs, count, shard, budget=None):
    workers = []
    for rank in range(count):
        with _worker(rank, count, shard):
            own = function._clone(None, function._instance)
            planned = own.plan(*args, **kwargs)
            variables = planned.variables
            if budget is not None and variables + planned.peak > budget:
                left = budget - variables
                if left <= 0:
                    raise ResourceExhaustedError(
                        None, None,
                        f"worker {rank} of {count} keeps {variables:,} bytes of variables, "
                        f"more than the budget of {budget:,}; more workers, or a smaller model",
                    )  # fmt: skip
                planned = own.plan(*args, memory_budget=left, **kwargs)
        workers.append(PlannedWorker(rank, planned))
    return WorkersPlan(function._name, workers, shard, budget)


class PlannedWorker(NamedTuple):
    """What one worker needs, in bytes; ``plan`` has all of it."""

    rank: int
    plan: object

    peak = property(lambda self: self.plan.peak)
    variables = property(lambda self: self.plan.variables)
    total = property(lambda self: self.plan.peak + self.variables)
    bytes_sent = property(lambda self: self.plan.bytes_sent)


@export("tf.memory.WorkersPlan")
class WorkersPlan:
    """Made by ``f.plan(*args, workers=N)``: what each of N workers will need, variables and
    collectives included, and what it sends in a call."""

    def __init__(self, name, workers, shard, budget):
        self.name, self.workers = name, workers
        self.shard, self.budget = shard, budget

    def __len__(self):
        return len(self.workers)

    def __getitem__(self, rank):
        return self.workers[rank]

    @property
    def worst(self):
        """The worker that needs the most."""
        return max(self.workers, key=lambda worker: worker.total)

    @property
    def peak(self):
        """The highest peak of a call among the workers."""
        return max(worker.peak for worker in self.workers)

    @property
    def bytes_sent(self):
        """Of the worker that sends the most; None: only a run can tell."""
        sent = [worker.bytes_sent for worker in self.workers]
        return None if None in sent else max(sent)

    def to_dict(self):
        """Plain values."""
        return {
            "name": self.name,
            "shard": self.shard,
            "budget": self.budget,
            "workers": [
                {
                    **worker.plan.to_dict(),
                    "rank": worker.rank,
                    "variables": worker.variables,
                    "total": worker.total,
                }
                for worker in self.workers
            ],
        }

    def to_json(self, indent=None):
        """The same as text."""
        import json  # loaded on first use

        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self):
        worst = self.worst
        shared = "" if self.shard in (None, AS_MADE) else f", {self.shard} shared out"
        lines = [
            f"plan of {self.name} on {len(self)} workers{shared}: worker {worst.rank} needs the "
            f"most, {bytes_text(worst.total)}",
            f"  {'worker':>6}  {'peak of a call':>14}  {'variables':>12}  {'together':>12}  "
            f"{'sends a call':>12}",
        ]
        for worker in self.workers:
            sent = "?" if worker.bytes_sent is None else bytes_text(worker.bytes_sent)
            peak, *sizes = map(bytes_text, (worker.peak, worker.variables, worker.total))
            columns = "  ".join(f"{size:>12}" for size in (*sizes, sent))
            lines.append(f"  {worker.rank:>6}  {peak:>14}  {columns}")
        return "\n".join([*lines, f"worker {worst.rank}:", str(worst.plan)])

    def __repr__(self):
        worst = self.worst
        return (
            f"<tf.memory.WorkersPlan of {self.name}: {len(self)} workers, at most {worst.total:,} "
            f"bytes, on worker {worst.rank}>"
        )
