"""What each worker gets of a dataset."""

from __future__ import annotations

import tidemark
from tidemark import nest
from tidemark.data._options import AutoShardPolicy
from tidemark.errors import UnimplementedError


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
    if policy in (AutoShardPolicy.FILE, AutoShardPolicy.HINT):
        raise UnimplementedError(
            None,
            None,
            f"AutoShardPolicy.{policy.name} is not there: pipelines are not rewritten. AUTO and "
            "DATA give each worker its rows of every batch, for which each reads all; to have each "
            "read its own files, use strategy.distribute_datasets_from_function and "
            "Dataset.list_files(…).shard(context.num_input_pipelines, context.input_pipeline_id)",
        )
    rank, count = strategy._rank, strategy.num_replicas_in_sync
    if policy is AutoShardPolicy.OFF or count == 1:
        return DistributedDataset(strategy, dataset)

    def cut(*element):
        element = element[0] if len(element) == 1 else element
        return nest.map_structure(lambda t: rows_of_worker(t, rank, count), element)

    return DistributedDataset(strategy, dataset.map(cut))
