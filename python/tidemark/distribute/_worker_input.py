"""What each worker gets of a dataset."""

from __future__ import annotations

import tidemark
from tidemark import _tidemark, nest
from tidemark.data import _sharding
from tidemark.data._dataset import UNKNOWN_CARDINALITY
from tidemark.data._elements import flat_specs
from tidemark.data._options import AutoShardPolicy
from tidemark.data._traced import flat
from tidemark.errors import NotFoundError


class DistributedDataset:
    """The batches of a dataset, of each one this worker's rows."""

    def __init__(self, strategy, dataset):
        self._strategy, self._dataset = strategy, dataset

    element_spec = property(lambda self: self._dataset.element_spec)

    def __iter__(self):
        return DistributedIterator(iter(self._dataset), self.element_spec)

    def __len__(self):
        return len(self._dataset)

    def cardinality(self):
        return self._dataset.cardinality()


class DistributedIterator:
    """Goes through them."""

    def __init__(self, iterator, element_spec):
        self._iterator, self.element_spec = iterator, element_spec

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)

    get_next = __next__

    def get_next_as_optional(self):
        return self._iterator.get_next_as_optional()


def rows_of_worker(tensor, rank, count):
    """Its share of the rows: all shares differ by one row at most, the first ones are larger."""
    rows = tidemark.shape(tensor)[0]
    return tensor[_begin(rows, rank, count) : _begin(rows, rank + 1, count)]


def _begin(rows, rank, count):
    return (rows // count) * rank + tidemark.minimum(rows % count, rank)


def distribute(strategy, dataset):
    """The dataset, each batch of which is a batch of all workers together."""
    policy = AutoShardPolicy(dataset.options().experimental_distribute.auto_shard_policy)
    rank, count = strategy._rank, strategy.num_replicas_in_sync
    if policy is AutoShardPolicy.OFF or count == 1:
        return DistributedDataset(strategy, dataset)
    own = _own_part(dataset, policy, rank, count)
    if own is not None:
        return DistributedDataset(
            strategy, _in_step(strategy, own.flat_map(_parts_of(rank, count)))
        )

    def cut(*element):
        element = element[0] if len(element) == 1 else element
        return nest.map_structure(lambda t: rows_of_worker(t, rank, count), element)

    return DistributedDataset(strategy, dataset.map(cut))


def _own_part(dataset, policy, rank, count):
    """What this worker alone reads; None: each reads all, and takes its rows of every batch."""
    if policy is AutoShardPolicy.HINT:
        return _sharding.by_hint(dataset, count, rank)
    if policy is AutoShardPolicy.DATA:
        return None
    try:
        return _sharding.by_files(dataset, count, rank)
    except NotFoundError:
        if policy is AutoShardPolicy.FILE:
            raise
        return None


def _parts_of(rank, count):
    """A function that takes batches of all workers' size apart, into as many of one worker's. Those
    that workers have at the same time have as many rows as a batch of all."""

    def parts(*element):
        element = element[0] if len(element) == 1 else element
        rows = tidemark.shape(nest.flatten(element)[0])[0]
        turns = tidemark.constant([(rank + at) % count for at in range(count)])
        sizes = rows // count + tidemark.cast(turns < rows % count, "int32")
        pieces = tidemark.data.Dataset.from_tensor_slices((tidemark.cumsum(sizes), sizes))
        return pieces.filter(lambda end, size: size > 0).map(
            lambda end, size: nest.map_structure(lambda t: t[end - size : end], element)
        )

    return parts


def _in_step(strategy, dataset):
    """The same batches, and behind them empty ones until all workers are at their end: they have
    files of their own, with more or fewer rows."""
    specs = flat_specs(dataset.element_spec)

    def elements():
        there, last = iter(dataset), None
        while True:
            batch = next(there, None)
            if batch is not None:
                last = flat(batch)
            own = b"1" if batch is not None else b"0"
            if b"1" not in strategy._group.exchange(own):
                return
            yield last if batch is not None else _empty(specs, last)

    return (
        type(dataset)
        .from_tensor_slices([0])
        ._next(_tidemark.dataset_from_python(elements, UNKNOWN_CARDINALITY), dataset.element_spec)
    )


def _empty(specs, last):
    """No rows of a batch."""
    like = [spec.shape.as_list() for spec in specs] if last is None else [t.shape for t in last]
    return [
        tidemark.zeros([0, *(size or 0 for size in shape[1:])], spec.dtype)
        for spec, shape in zip(specs, like, strict=True)
    ]
