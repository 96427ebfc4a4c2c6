"""Datasets whose elements lie in the memory of a device."""

from __future__ import annotations

from tidemark.config.experimental import _checked_name
from tidemark.data._dataset import DatasetV2, call

# Steps that move elements and read none of their numbers.
_MOVING = {"take", "skip", "repeat", "prefetch", "on_device"}


class PlacedDataset(DatasetV2):
    """Elements on a device: what steps of a pipeline read lies on the host."""

    def _next(self, handle, spec=None, *more):
        raise ValueError(
            "copy_to_device and prefetch_to_device are the last steps of a pipeline, whose other "
            "steps work on the host: move them behind map, batch and the like"
        )

    def _step(self, name, *arguments, spec=None):
        if name not in _MOVING:
            self._next(None)
        return _placed(DatasetV2._next(self, call(self._handle, name, *arguments), spec))


def on_device(dataset, device):
    """The elements of a dataset in the memory of a device; strings stay where they are."""
    return _placed(dataset._step("on_device", _checked_name(device)))


def prefetched_on_device(dataset, device, count):
    """The same, made ahead. What a saved iterator goes on with came from the host."""
    return on_device(on_device(dataset, device).prefetch(count), device)


def _placed(dataset):
    placed = PlacedDataset(dataset._handle, dataset._spec, dataset._options, dataset._parents)
    placed._varies, placed._rows = dataset._varies, dataset._rows
    return placed
