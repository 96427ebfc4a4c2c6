"""Ops that take elements by index or put them there."""

import numpy as np

from op_cases.drawing import Example, case, narrow, wide
from op_cases.movement import zeros


@case("gather")
def gather(d):
    shape = d.shape(1, dims=1, total=20_001)
    x = d.values(shape)
    axis = d.int(0, x.ndim - 1)
    batch = d.int(0, axis)
    inner = d.shape(high=2) if not d.large else (41,)
    at = d.rng.integers(0, shape[axis], (*shape[:batch], *inner)).astype(d.index_dtype())
    if d.large and batch:
        batch, at = 0, at.reshape(-1)[:37]

    def expected():
        if batch == 0:
            return np.take(x, at, axis)
        parts = [np.take(x[b], at[b], axis - batch) for b in np.ndindex(*shape[:batch])]
        rest = (*shape[batch:axis], *inner, *shape[axis + 1 :])
        return np.array(parts, x.dtype).reshape((*shape[:batch], *rest))

    return Example([x, at], {"axis": axis, "batch_dims": batch}, expected)


@case("gather_grad")
def gather_grad(d):
    shape = d.shape(1, 3, dims=1)
    axis = d.int(0, len(shape) - 1)
    inner = d.shape(high=2) if not d.large else (101,)
    at = d.rng.integers(0, shape[axis], inner).astype(d.index_dtype())
    dy = d.finite((*shape[:axis], *inner, *shape[axis + 1 :]))

    def expected():
        dx = np.zeros(shape, wide(dy).dtype)
        moved = np.moveaxis(dx, axis, 0)
        flat = wide(dy).reshape((*shape[:axis], at.size, *shape[axis + 1 :]))
        np.add.at(moved, at.reshape(-1), np.moveaxis(flat, axis, 0))
        return narrow(dx, d.dtype)

    count = 8 + at.size
    return Example(
        [at, dy, np.array(shape, at.dtype)], {"axis": axis}, expected, ulps=count, atol=count
    )


def places(d, shape, depth, distinct):
    """Indices [..., depth] into the first dimensions of a shape."""
    room = int(np.prod(shape[:depth], dtype=np.int64))
    count = min(room, 3001) if d.large else d.int(0, min(room, 9))
    flat = d.rng.permutation(room)[:count] if distinct else d.rng.integers(0, max(room, 1), count)
    at = np.stack(np.unravel_index(flat.astype(int), shape[:depth] or (1,)), -1)
    return at[:, :depth].astype(d.index_dtype()).reshape(count, depth)


@case("gather_nd", "gather_nd_grad")
def gather_nd(d):
    shape = d.shape(1, 3, dims=1)
    depth = d.int(1, len(shape))
    at = places(d, shape, depth, False)
    cut = tuple(at.T)
    if d.op == "gather_nd":
        x = d.values(shape)
        return Example([x, at], {}, lambda: x[cut])
    dy = d.finite((len(at), *shape[depth:]))

    def expected():
        dx = np.zeros(shape, wide(dy).dtype)
        np.add.at(dx, cut, wide(dy))
        return narrow(dx, d.dtype)

    return Example([at, dy, np.array(shape, at.dtype)], {}, expected, ulps=64, atol=64)


UPDATES = {"update": None, "add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum}


@case(*[f"tensor_scatter_nd_{kind}" for kind in UPDATES])
def scatter_into(d):
    shape = d.shape(1, 3, dims=1)
    depth = d.int(1, len(shape))
    kind = d.op.rpartition("_")[2]
    x = d.finite(shape)
    at = places(d, shape, depth, kind == "update")
    updates = d.finite((len(at), *shape[depth:]))
    cut = tuple(at.T)

    def expected():
        y = np.array(wide(x))
        if kind == "update":
            y[cut] = wide(updates)
        else:
            UPDATES[kind].at(y, cut, wide(updates))
        return narrow(y, d.dtype)

    return Example([x, at, updates], {}, expected, ulps=64, atol=64)


@case("scatter_nd")
def scatter_nd(d):
    shape = d.shape(1, 3, dims=1)
    depth = d.int(1, len(shape))
    at = places(d, shape, depth, d.dtype == "bool")
    updates = d.finite((len(at), *shape[depth:]))

    def expected():
        y = zeros(shape, d.dtype) if d.dtype == "bool" else np.zeros(shape, wide(updates).dtype)
        if d.dtype == "bool":
            y[tuple(at.T)] = updates
        else:
            np.add.at(y, tuple(at.T), wide(updates))
        return narrow(y, d.dtype)

    return Example([at, updates, np.array(shape, at.dtype)], {}, expected, ulps=64, atol=64)
