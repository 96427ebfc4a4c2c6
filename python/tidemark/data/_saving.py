"""Datasets in folders: their elements in one file, their type in another."""

from __future__ import annotations

import hashlib
import json
import os

import tidemark as tf
from tidemark import _tidemark, dtypes, nest
from tidemark._tensor.specs import TensorSpec
from tidemark.data._dataset import DatasetSpec, DatasetV2
from tidemark.data._elements import NoneTensorSpec
from tidemark.errors import DataLossError, NotFoundError

_ELEMENTS, _SPEC = "elements.tfrecord", "element_spec.json"


def _packed(spec):
    """A spec as what JSON can tell."""
    if isinstance(spec, TensorSpec):
        return {"tensor": [_sizes(spec), spec.dtype.name]}
    if isinstance(spec, tf.RaggedTensorSpec):
        return {"ragged": [_sizes(spec), spec.dtype.name, spec.ragged_rank,
                           spec.row_splits_dtype.name]}  # fmt: skip
    if isinstance(spec, tf.SparseTensorSpec):
        return {"sparse": [_sizes(spec), spec.dtype.name]}
    if isinstance(spec, NoneTensorSpec):
        return {"none": []}
    if isinstance(spec, dict):
        return {"dict": [[key, _packed(value)] for key, value in spec.items()]}
    if isinstance(spec, (list, tuple)):
        return {"list" if isinstance(spec, list) else "tuple": [_packed(part) for part in spec]}
    raise TypeError(f"elements of {type(spec).__name__} cannot be saved")


def _sizes(spec):
    return None if spec.shape.rank is None else spec.shape.as_list()


def _unpacked(packed):
    ((kind, parts),) = packed.items()
    if kind == "tensor":
        return TensorSpec(parts[0], dtypes.as_dtype(parts[1]))
    if kind == "ragged":
        return tf.RaggedTensorSpec(parts[0], parts[1], parts[2], dtypes.as_dtype(parts[3]))
    if kind == "sparse":
        return tf.SparseTensorSpec(parts[0], dtypes.as_dtype(parts[1]))
    if kind == "none":
        return NoneTensorSpec()
    if kind == "dict":
        return {key: _unpacked(value) for key, value in parts}
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](_unpacked(part) for part in parts)
    raise ValueError(f"{kind!r} is no type of an element")


def save(dataset, path, shard_func=None):
    """``Dataset.save``. What stood there stays until all is written."""
    spec = json.dumps(_packed(dataset.element_spec))
    path = os.fspath(path)
    os.makedirs(path, exist_ok=True)
    count = dataset._handle.write(os.path.join(path, _ELEMENTS))
    working = os.path.join(path, f".{_SPEC}.{os.getpid()}")
    with open(working, "w", encoding="utf-8") as file:
        json.dump({"elements": count, "spec": json.loads(spec)}, file)
    os.replace(working, os.path.join(path, _SPEC))


def load(path, element_spec, reader_func):
    """``Dataset.load``."""
    path = os.fspath(path)
    try:
        with open(os.path.join(path, _SPEC), encoding="utf-8") as file:
            found = json.load(file)
        spec, count = _unpacked(found["spec"]), int(found["elements"])
    except FileNotFoundError as error:
        raise NotFoundError(None, None, f"no saved dataset at {path}") from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise DataLossError(None, None, f"the type of the dataset at {path}: {error}") from error
    if element_spec is not None:
        nest.assert_same_structure(element_spec, spec)
        spec = element_spec
    handle = _tidemark.dataset_in_file(os.path.join(path, _ELEMENTS), count)
    one = DatasetV2(handle, spec)
    if reader_func is None:
        return one
    return reader_func(DatasetV2(_tidemark.dataset_single([handle.as_tensor()]), DatasetSpec(spec)))


def snapshot(dataset, path):
    """``Dataset.snapshot``: a folder may hold those of several pipelines."""
    path = os.fspath(path)
    os.makedirs(path, exist_ok=True)
    key = hashlib.blake2b(_described(dataset).encode(), digest_size=8).hexdigest()
    return dataset.cache(os.path.join(path, f"{key}.snapshot"))


def _described(dataset):
    """The steps of a pipeline, as far as they can be told."""
    parents = ", ".join(_described(parent) for parent in dataset._inputs())
    return f"{type(dataset).__name__}({dataset.element_spec!r}; {parents})"
