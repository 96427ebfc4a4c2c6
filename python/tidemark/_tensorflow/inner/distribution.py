"""What packages ask of ``tensorflow.python.distribute`` beyond ``tf.distribute``."""

from __future__ import annotations

import contextlib

import tidemark
from tidemark.distribute import DistributedValues


class DistributedDatasetInterface:
    """A dataset spread over workers; there is one worker."""


class DistributedDataset(DistributedDatasetInterface):
    pass


class DistributedIteratorBase:
    """An iterator over such a dataset."""


class DistributedVariable(DistributedValues):
    """A variable with a value for each replica: see tidemark/distribute/_values.py."""


class AggregatingVariable(DistributedVariable):
    """A variable of parameter servers; there are none."""


def is_distributed_variable(value):
    return bool(getattr(type(value), "is_replicated_variable", False))


is_mirrored = is_distributed_variable


@contextlib.contextmanager
def cache_variable_reads():
    """Reading a variable copies nothing here."""
    yield


def auto_shard_dataset(dataset, num_shards, index, num_replicas_in_sync=None):
    """The part of a dataset that one of several workers reads."""
    return dataset.shard(num_shards, index)


def set_virtual_cpus_to_at_least(num_virtual_cpus):
    """Makes the one processor into several logical devices."""
    device = tidemark.config.list_physical_devices("CPU")[0]
    made = tidemark.config.get_logical_device_configuration(device) or []
    if len(made) < num_virtual_cpus:
        part = tidemark.config.LogicalDeviceConfiguration()
        tidemark.config.set_logical_device_configuration(device, [part] * num_virtual_cpus)
