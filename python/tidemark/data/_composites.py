"""Batches and rows of elements that are no plain tensors, and what padding needs to know."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark, dtypes, nest
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Tensor
from tidemark.data._elements import pack
from tidemark.data._staged_handles import made
from tidemark.data._traced import flat, known_number, number_of, spec_of, with_rows
from tidemark.tensor_shape import as_shape


def are_in(spec):
    """Whether elements of the spec have parts that are no plain tensors."""
    return any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec))


# --- rows ----------------------------------------------------------------------------------------


def _row_spec(leaf):
    spec = spec_of(leaf)
    if isinstance(spec, TensorSpec):
        return TensorSpec(spec.shape[1:], spec.dtype)
    return spec._unbatch()


def slices(element):
    """(handle, spec) of the rows of ragged and sparse tensors, and of dense ones beside them."""
    whole = nest.map_structure(spec_of, element)

    def rows_of(tensors):
        leaves = nest.flatten(pack(whole, tensors))
        counts = {int(x.dense_shape[0]) if _is_sparse(x) else x.shape[0] for x in leaves}
        if len(counts) > 1:
            raise ValueError(f"Dimensions {sorted(counts)} are not compatible")
        count = counts.pop()

        def elements():
            for i in range(count):
                yield flat([_row(leaf, i) for leaf in leaves])

        return _tidemark.dataset_from_python(elements, count)

    return made(rows_of, flat(element)), nest.map_structure(_row_spec, element)


def of_datasets(datasets):
    """(handle, spec) of datasets as elements."""

    def elements():
        for one in datasets:
            yield flat(one)

    return _tidemark.dataset_from_python(elements, len(datasets)), spec_of(datasets[0])


def _is_sparse(value):
    return hasattr(value, "dense_shape")


def _row(value, i):
    if not _is_sparse(value):
        return value[i]

    sizes = tf.concat([[1], value.dense_shape[1:]], 0)
    start = tf.concat([[i], tf.zeros_like(value.dense_shape[1:])], 0)
    return tf.sparse.reshape(tf.sparse.slice(value, start, sizes), sizes[1:])


# --- batches -------------------------------------------------------------------------------------


def _joined(kind, column):
    """One leaf of the elements of a batch, as a leaf of the batch."""
    if isinstance(kind, tf.RaggedTensorSpec) and kind.ragged_rank == 1:  # rows are plain tensors
        lengths = tf.stack([tf.shape(x, kind.row_splits_dtype)[0] for x in column])
        return tf.RaggedTensor.from_row_lengths(tf.concat(list(column), 0), lengths)
    if isinstance(kind, tf.RaggedTensorSpec):
        rank = kind.ragged_rank - 1
        rows = [x if not isinstance(x, Tensor) or rank == 0
                else tf.RaggedTensor.from_tensor(x, ragged_rank=rank) for x in column]  # fmt: skip
        found = tf.ragged.stack(rows)
        if isinstance(found, Tensor):  # rows of one size
            found = tf.RaggedTensor.from_tensor(found, ragged_rank=kind.ragged_rank)
        return found.with_row_splits_dtype(kind.row_splits_dtype)
    if isinstance(kind, tf.SparseTensorSpec):
        wide = [tf.sparse.expand_dims(x, 0) for x in column]
        return tf.sparse.concat(0, wide, expand_nonconcat_dims=True)
    return tf.stack(list(column))


def _gathered(dataset, size, drop, join):
    """A handle of batches that Python puts together."""
    spec = dataset.element_spec

    def batches_of(handle, size):
        size = int(size)
        if size <= 0:
            raise ValueError(f"batch_size must be positive, got {size}")

        def elements():
            iterator, held = handle.iterate(), []
            while (tensors := iterator.next()) is not None:
                held.append(nest.flatten(pack(spec, tensors)))
                if len(held) == size:
                    yield flat(join(held))
                    held = []
            if held and not drop:
                yield flat(join(held))

        count = handle.cardinality()
        if count >= 0:
            count = count // size if drop else -(-count // size)
        return _tidemark.dataset_from_python(elements, count)

    return made(batches_of, dataset._handle, size)


def batches(dataset, size, drop):
    """A handle of batches of elements with parts that are no plain tensors."""
    specs = [s if isinstance(s, TensorSpec) else s._batch(None)
             for s in nest.flatten(dataset.element_spec)]  # fmt: skip

    def join(held):
        return [_joined(s, c) for s, c in zip(specs, zip(*held, strict=True), strict=True)]

    return _gathered(dataset, size, drop, join)


def ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype):
    """``Dataset.ragged_batch``."""
    size, drop = number_of(batch_size, "batch_size"), bool(drop_remainder)
    outer = known_number(size) if drop else None

    def one(spec):
        if not isinstance(spec, TensorSpec):
            return spec._batch(outer)
        if spec.shape.rank is None or spec.shape.is_fully_defined():
            return TensorSpec(with_rows(outer, spec.shape), spec.dtype)
        last = max(axis for axis, size in enumerate(spec.shape.as_list()) if size is None)
        return tf.RaggedTensorSpec(
            with_rows(outer, spec.shape), spec.dtype, last + 1, row_splits_dtype
        )

    spec = nest.map_structure(one, dataset.element_spec)
    specs = nest.flatten(spec)

    def join(held):
        return [_joined(s, c) for s, c in zip(specs, zip(*held, strict=True), strict=True)]

    made_of = dataset._next(_gathered(dataset, size, drop, join), spec)
    made_of._rows = known_number(size)
    return made_of


def sparse_batch(dataset, batch_size, row_shape):
    """``Dataset.sparse_batch``."""
    import numpy as np  # importing the package does not load it

    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            "`dense_to_sparse_batch` requires an input dataset whose elements have a single "
            f"component, but the given dataset has the following component types: {spec!r}"
        )
    size, shape = number_of(batch_size, "batch_size"), as_shape(row_shape)

    def join(held):
        tensors = [row[0] for row in held]
        sizes = [0 if d is None else d for d in shape.as_list()]
        for t in tensors:
            for i, (have, most) in enumerate(zip(t.shape.as_list(), shape.as_list(), strict=True)):
                if most is None:
                    sizes[i] = max(sizes[i], have)
                elif have > most:
                    raise tf.errors.DataLossError(
                        None, None,
                        f"Got element with shape {t.shape} that does not fit the rows' {shape}",
                    )  # fmt: skip
        indices = [
            (i, *place) for i, t in enumerate(tensors) for place in np.ndindex(*t.shape.as_list())
        ]
        values = tf.concat([tf.reshape(t, [-1]) for t in tensors], 0)
        places = np.array(indices, np.int64).reshape(-1, 1 + len(sizes))
        return [tf.SparseTensor(places, values, [len(tensors), *sizes])]

    handle = _gathered(dataset, size, False, join)
    return dataset._next(handle, tf.SparseTensorSpec([None, *shape.as_list()], spec.dtype))


# --- padding -------------------------------------------------------------------------------------


def padded_batch(handle, size, drop, sizes, filled):
    """The handle's step; sizes may be tensors."""
    plain = [tuple(int(d) for d in row) for row in sizes]
    return handle.padded_batch(int(size), drop, plain, filled)


def padding(spec, padded_shapes, padding_values, rows):
    """(sizes, values, spec of a batch): sizes are -1 where the longest element tells them."""
    specs = nest.flatten(spec)
    if are_in(spec):
        wrong = next(leaf for leaf in specs if not isinstance(leaf, TensorSpec))
        if hasattr(wrong, "element_spec"):
            raise TypeError("`padded_batch` is not supported for datasets of datasets")
        raise TypeError(
            "`padded_batch` is only supported for datasets that produce tensor elements but type "
            "spec of elements in the input dataset is not a subclass of TensorSpec: "
            f"`{wrong}`."
        )
    wanted = [s.shape for s in specs]
    if padded_shapes is not None:
        wanted = nest.flatten_up_to(spec, padded_shapes)
    ranks = [s.shape.rank for s in specs]
    found = [_sizes(w, rank) for w, rank in zip(wanted, ranks, strict=True)]
    sizes, shapes = zip(*found, strict=True) if found else ((), ())
    for shape, s in zip(shapes, specs, strict=True):
        if not _holds(shape, s.shape):
            raise ValueError(
                f"The padded shape {shape} is not compatible with the shape {s.shape} of the "
                "corresponding input component."
            )
    values = [None] * len(specs)
    if padding_values is not None:
        given = nest.flatten(padding_values)
        values = given * len(specs) if not nest.is_nested(padding_values) else given
    filled = [_filling(v, s) for v, s in zip(values, specs, strict=True)]
    batched = [TensorSpec(with_rows(rows, shape), s.dtype)
               for shape, s in zip(shapes, specs, strict=True)]  # fmt: skip
    return list(sizes), filled, nest.pack_sequence_as(spec, batched)


def _holds(padded, shape):
    """Whether elements of a shape can be filled up to the padded one."""
    if shape.rank is None:
        return True
    if shape.rank != padded.rank:
        return False
    pairs = zip(padded.as_list(), shape.as_list(), strict=True)
    return all(None in (most, size) or size <= most for most, size in pairs)


def _sizes(wanted, rank=None):
    """([size, tensor or -1 …], shape) of one padded shape."""
    if isinstance(wanted, (list, tuple)) and wanted and not any(d is None for d in wanted):
        _check_shape_vector(convert_to_tensor(wanted))
    if isinstance(wanted, (list, tuple)) and any(isinstance(d, Tensor) for d in wanted):
        known = [_known(d) for d in wanted]
        sizes = [d if k is None and isinstance(d, Tensor) else -1 if k is None else k
                 for d, k in zip(wanted, known, strict=True)]  # fmt: skip
        return sizes, as_shape(known)
    if isinstance(wanted, Tensor):
        _check_shape_vector(wanted)
        known = _tidemark.static_value(wanted)
        if known is None:
            count = wanted.shape[0] if wanted.shape.rank else rank
            if count is None:
                raise ValueError("`padded_shapes` must say of how many dimensions: a tensor whose "
                                 "own size is unknown was given")  # fmt: skip
            return [wanted[i] for i in range(count)], as_shape([None] * count)
        wanted = known.numpy().tolist()
    if isinstance(wanted, (list, tuple)):
        wanted = [None if d is not None and int(d) < 0 else d for d in wanted]
    shape = as_shape(wanted)
    if shape.rank is None:
        raise ValueError("`padded_shapes` must be given: an element is of unknown rank")
    return [-1 if d is None else d for d in shape.as_list()], shape


def _check_shape_vector(tensor):
    shown = tensor if _tidemark.is_symbolic(tensor) else tensor.numpy().tolist()
    what = f"Padded shape {shown} must be a `tf.int64` vector tensor, but its"
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"{what} shape was {tensor.shape}.")
    if not tensor.dtype.is_integer:
        raise TypeError(f"{what} element type was {tensor.dtype.name}.")


def _known(size):
    if not isinstance(size, Tensor):
        return size
    value = _tidemark.static_value(size)
    return None if value is None else int(value)


def _filling(value, spec):
    if value is None:
        return convert_to_tensor("" if spec.dtype == dtypes.string else 0, dtype=spec.dtype)
    if isinstance(value, Tensor) and value.dtype != spec.dtype:
        raise TypeError(
            f"Mismatched type between padding value and input dataset's component type value: "
            f"{value.dtype} vs. {spec.dtype}"
        )
    return convert_to_tensor(value, dtype=spec.dtype)
