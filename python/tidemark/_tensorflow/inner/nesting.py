"""What ``tensorflow.python.util.nest`` has beyond ``tf.nest``: paths, and shallow structures."""

from __future__ import annotations

import collections.abc

from tidemark import nest
from tidemark.nest import _children, _is_attrs, _is_namedtuple, _like, _sorted_keys

is_sequence = is_nested_or_composite = nest.is_nested
flatten_up_to = nest.flatten_up_to


def is_mapping(value):
    return isinstance(value, collections.abc.Mapping)


def is_mapping_view(value):
    return isinstance(value, collections.abc.MappingView)


def is_attrs(value):
    return _is_attrs(type(value))


def is_namedtuple(value, strict=False):
    return _is_namedtuple(value)


def sequence_like(instance, args):
    """A structure of the same type over other parts."""
    return _like(instance, list(args))


_sequence_like = sequence_like


def list_to_tuple(structure):
    """The structure with tuples in place of lists."""
    if not nest.is_nested(structure):
        return structure
    parts = [list_to_tuple(part) for part in _children(structure)]
    return tuple(parts) if isinstance(structure, list) else _like(structure, parts)


def _keys(structure):
    """What leads to each part, in the order of _children."""
    if isinstance(structure, collections.abc.Mapping):
        return _sorted_keys(structure)
    if _is_namedtuple(structure):
        return list(structure._fields)
    if _is_attrs(type(structure)):
        return [field.name for field in structure.__attrs_attrs__]
    return list(range(len(_children(structure))))


def _yield_sorted_items(iterable):
    yield from zip(_keys(iterable), _children(iterable), strict=True)


def _yield_value(iterable):
    yield from _children(iterable)


def yield_flat_paths(nested, expand_composites=False):
    """The way to each leaf: a tuple of keys and positions."""
    if not nest.is_nested(nested):
        yield ()
        return
    for key, part in _yield_sorted_items(nested):
        for rest in yield_flat_paths(part):
            yield (key, *rest)


def flatten_with_tuple_paths(structure, expand_composites=False):
    """Pairs of the way to a leaf and the leaf."""
    leaves = nest.flatten(structure, expand_composites)
    return list(zip(yield_flat_paths(structure), leaves, strict=True))


def _joined(path):
    return "/".join(map(str, path))


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """As flatten_with_tuple_paths, the ways as text."""
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """As map_structure; the function gets the way to the leaves first."""
    paths = nest.pack_sequence_as(
        structure[0], [_Path(path) for path in yield_flat_paths(structure[0])]
    )
    return nest.map_structure(
        lambda path, *leaves: func(path.parts, *leaves), paths, *structure, **kwargs
    )


def map_structure_with_paths(func, *structure, **kwargs):
    """As map_structure_with_tuple_paths, the way as text."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves: func(_joined(path), *leaves), *structure, **kwargs
    )


class _Path:
    """A way to a leaf, as a leaf of another structure."""

    def __init__(self, parts):
        self.parts = parts


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Raises unless ``input_tree`` is built as ``shallow_tree``, down to the leaves of that one."""
    nest.flatten_up_to(shallow_tree, input_tree, check_types)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """Calls a function on the parts of the inputs where the shallow structure has its leaves."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """As map_structure_up_to; the function gets the way to the parts first."""
    if not inputs:
        raise ValueError("Argument `inputs` is empty. Cannot map over no sequences.")
    check_types = kwargs.pop("check_types", True)
    parts = [nest.flatten_up_to(shallow_tree, one, check_types) for one in inputs]
    paths = list(yield_flat_paths(shallow_tree))
    made = [func(path, *at) for path, *at in zip(paths, *parts, strict=True)]
    return nest.pack_sequence_as(shallow_tree, made)


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """The upper part of a structure that a function says to look into.

    ``traverse_fn`` gives a truth for a whole part, or one for each of its own parts.
    """
    into = traverse_fn(structure)
    if not nest.is_nested(structure):
        if not isinstance(into, bool):
            raise TypeError(
                "traverse_fn returned structure for a non-sequence input. "
                f"Structure: {structure}, traverse_fn returned: {into}."
            )
        return into
    if isinstance(into, bool):
        if not into:
            return False
        parts = [get_traverse_shallow_structure(traverse_fn, p) for p in _children(structure)]
        return _like(structure, parts)
    parts = [
        get_traverse_shallow_structure(traverse_fn, part) if go else False
        for go, part in zip(nest.flatten_up_to(structure, into), _children(structure), strict=True)
    ]
    return _like(structure, parts)
