"""``tf.GradientTape`` and what belongs to it; recording and the way back are the extension's."""

from __future__ import annotations

import contextlib
import enum

from tidemark import _tidemark, dtypes, nest
from tidemark._export import export
from tidemark._graph.scopes import get_logger
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.methods import Reference
from tidemark._tensor.variable import Variable, variable_with_id
from tidemark._tidemark import Tensor, call, convert


@export("tf.UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What a gradient is where nothing connects the target and the source."""

    NONE = "none"
    ZERO = "zero"


_NONE = UnconnectedGradients.NONE
_STRING = dtypes.string
_USED_UP = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


def _wants_zeros(unconnected):
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected}'") from None


def _as_gradient(found):
    """None, a tensor, or the parts of an IndexedSlices."""
    if found.__class__ is not tuple:
        return found
    values, indices, shape = found
    return IndexedSlices(values, indices, convert(shape))


def _wrapped_variable(value):
    """The variable behind an object that has a variable's ``handle``, as Keras's have."""
    handle = getattr(value, "handle", None)
    return handle.deref() if isinstance(handle, Reference) else None


def _leaf(value, what):
    """A target or source as something that has an id."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, _tidemark.VariableBase):
        inner = None if value._is_made else _wrapped_variable(value)  # as packages write them
        return value if inner is None else inner
    if isinstance(value, IndexedSlices):
        return value.values
    if _is_ragged(value):
        return convert_to_tensor(value.flat_values)
    inner = _wrapped_variable(value)
    if inner is not None:
        return inner
    if hasattr(value, "_type_spec"):
        raise ValueError(
            f"Type {value.__class__.__name__} is not supported as a gradient source or gradient "
            "target: take its values."
        )
    if value is None:
        raise TypeError(f"{what} of a gradient are tensors and variables; None was given")
    if hasattr(value.__class__, "__tf_tensor__"):
        return convert_to_tensor(value)
    raise AttributeError(
        f"{what} of a gradient are tensors and variables; {value!r}, "
        f"a '{value.__class__.__name__}' object, has no attribute 'dtype'"
    )


def _is_ragged(value):
    """Whether it is a RaggedTensor, asked without loading what makes them."""
    return hasattr(value, "with_flat_values")


def _flat(structure, what):
    return [_leaf(value, what) for value in nest.flatten(structure)]


def _packed(sources, found):
    """Gradients in the structure of the sources; those by ragged ones are ragged."""
    pairs = zip(nest.flatten(sources), found, strict=True)
    found = [
        source.with_flat_values(convert_to_tensor(one))
        if one is not None and _is_ragged(source)
        else one
        for source, one in pairs
    ]
    return nest.pack_sequence_as(sources, found) if nest.is_nested(sources) else found[0]


@export("tf.GradientTape")
class GradientTape(_tidemark.Tape):
    """Records what happens to watched tensors and trainable variables, and differentiates it.

        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        dv = tape.gradient(loss, v)

    It keeps what the gradients need and no more, and releases it on the way back.
    """

    def watch(self, tensor):
        """Records from now on what is computed from the tensors of the structure."""
        if isinstance(tensor, (Tensor, _tidemark.VariableBase)):
            self._watch_leaf(tensor)
            return
        for value in nest.flatten(tensor, expand_composites=True):
            inner = _wrapped_variable(value)
            self._watch_leaf(value if inner is None else inner)

    def _watch_leaf(self, value):
        if getattr(value, "is_graph_variable", False):
            value = value.value()
        self._watch(value)
        dtype = value.dtype
        if not (dtype.is_floating or dtype.is_complex):
            get_logger().warning(
                "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", dtype
            )

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=_NONE):
        """The gradients of the target by each source, in the structure of the sources."""
        if output_gradients is None and unconnected_gradients is _NONE:
            kind = sources.__class__
            if target.__class__ is Tensor and (kind is Variable or kind is Tensor):
                if target.dtype is _STRING:
                    return None
                found = self._gradient((target,), (sources,), None, False)[0]
                return _as_gradient(found) if found.__class__ is tuple else found
        zeros = _wants_zeros(unconnected_gradients)
        flat_sources = _flat(sources, "sources")
        targets = _flat(target, "targets")
        seeds = None
        if output_gradients is not None:
            seeds = [
                None if g is None else convert_to_tensor(g.flat_values if _is_ragged(g) else g)
                for g in nest.flatten(output_gradients)
            ]
            seeds = [_seed(g, t) for g, t in zip(seeds, targets, strict=True)]
        if any(t.dtype is _STRING for t in targets):  # nothing of them has a gradient
            numbers = [i for i, t in enumerate(targets) if t.dtype is not _STRING]
            targets = [targets[i] for i in numbers]
            seeds = None if seeds is None else [seeds[i] for i in numbers]
        found = [_as_gradient(g) for g in self._gradient(targets, flat_sources, seeds, zeros)]
        return _packed(sources, found)

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=_NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The derivatives of each element of the target by each element of the sources."""
        zeros = _wants_zeros(unconnected_gradients)
        flat_sources = _flat(sources, "sources")
        target = convert_to_tensor(target) if not isinstance(target, Tensor) else target
        rows = _all_rows(self, target, flat_sources)
        found = []
        for source, parts in zip(flat_sources, rows, strict=True):
            shape = target.shape.as_list() + convert(source).shape.as_list()
            if parts is not None:
                found.append(_joined(parts, 0, shape, target.dtype))
            elif zeros:
                found.append(call("fill", (shape, convert(0, source.dtype._enum)), {}))
            else:
                found.append(None)
        return nest.pack_sequence_as(sources, found) if nest.is_nested(sources) else found[0]

    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients=_NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """Per example, the derivatives of the target's elements by the source's elements."""
        _wants_zeros(unconnected_gradients)  # which of both is no matter: zeros come in any case
        if self._used_up:
            raise RuntimeError(_USED_UP)
        if parallel_iterations is not None or not experimental_use_pfor:
            _check_persistent(self, "parallel_iterations or experimental_use_pfor=False")
        source_leaf = _leaf(source, "sources")
        for what, one in (("Source", source_leaf), ("Target", target)):
            if one.shape.rank is not None and one.shape.rank < 2:
                raise ValueError(f"{what} {one} must have rank at least 2.")
        batch = source_leaf.shape[0]
        if target.shape.rank is None or target.shape[0] != batch:
            raise ValueError(
                "Need first dimension of target shape and source shape to match: "
                f"{target.shape} and {source.shape}"
            )
        shape = target.shape.as_list() + source_leaf.shape.as_list()[1:]
        parts = _batch_columns(self, target, source_leaf)
        if parts is None:
            return call("fill", (shape, convert(0, target.dtype._enum)), {})
        return _joined(parts, 1, shape, target.dtype)

    def watched_variables(self):
        """The trainable variables read while recording, in the order they were made in."""
        found = (variable_with_id(number) for number in sorted(set(self._accessed_ids())))
        return tuple(variable for variable in found if variable is not None)

    @contextlib.contextmanager
    def stop_recording(self):
        """A context whose ops are not recorded."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._recording = False
        try:
            yield
        finally:
            self._recording = True

    def reset(self):
        """Forgets everything recorded so far."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._reset()


def _seed(seed, target):
    if seed is None:
        return None
    target = convert(target)
    if seed.dtype != target.dtype:
        seed = call("cast", (seed,), {"dtype": target.dtype._enum})
    if seed.shape == target.shape:
        return seed
    one = seed._num_elements == 1
    return call("broadcast_to" if one else "reshape", (seed, target.shape.as_list()), {})


def _unit(count, at, dtype):
    return call("one_hot", (at, count, convert(1, dtype._enum), convert(0, dtype._enum)), {})


def _check_persistent(tape, what):
    if not tape._persistent:
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the batch_jacobian with "
            f"{what}."
        )


@contextlib.contextmanager
def _asked_often(tape):
    """A persistent view of the tape, which is used up afterwards unless it is persistent."""
    if tape._used_up:
        raise RuntimeError(_USED_UP)
    was_persistent = tape._begin_many()
    try:
        yield
    finally:
        tape._end_many(was_persistent)


def _all_rows(tape, target, sources):
    """For each source the gradients of each element of the target; None where nothing connects."""
    count = target._num_elements
    rows = [[] for _ in sources]
    with _asked_often(tape):
        connected = () if count else _connected(tape, target, sources)
        for i in range(count):
            seed = call("reshape", (_unit(count, i, target.dtype), target.shape.as_list()), {})
            found = tape._gradient((target,), sources, (seed,), False)
            for row, gradient in zip(rows, found, strict=True):
                row.append(
                    gradient if gradient is None else convert_to_tensor(_as_gradient(gradient))
                )
    if not count:
        return [[] if is_connected else None for is_connected in connected]
    return [None if row[0] is None else row for row in rows]


def _batch_columns(tape, target, source):
    """The gradients of each element of an example, for all examples at once; None where nothing
    connects."""
    shape = target.shape.as_list()
    count = target._num_elements // max(1, shape[0])
    parts = []
    with _asked_often(tape):
        if not count and not _connected(tape, target, (source,))[0]:
            return None
        for i in range(count):
            unit = call("reshape", (_unit(count, i, target.dtype), [1, *shape[1:]]), {})
            seed = call("broadcast_to", (unit, shape), {})
            found = tape._gradient((target,), (source,), (seed,), False)[0]
            if found is None:
                return None
            parts.append(convert_to_tensor(_as_gradient(found)))
    return parts


def _connected(tape, target, sources):
    """Whether a gradient flows to each source."""
    return [g is not None for g in tape._gradient((target,), sources, None, False)]


def _joined(parts, axis, shape, dtype):
    """The gradients beside each other; of no elements there are none."""
    if not parts:
        return call("fill", (shape, convert(0, dtype._enum)), {})
    return call("reshape", (call("stack", (parts,), {"axis": axis}), shape), {})
