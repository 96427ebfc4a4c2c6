"""``tf.nest``: functions over nested tuples, lists and dictionaries.

    tf.nest.flatten({"b": 1, "a": [2, (3,)]})               # [2, 3, 1]: keys in sorted order
    tf.nest.map_structure(lambda x: x + 1, {"a": (1, 2)})   # {"a": (2, 3)}

A string, an array, a tensor, a set and None are leaves.
"""

from __future__ import annotations

import collections.abc as abc

_NAMED = "_fields"
_LEAVES = (str, bytes, bytearray, memoryview)


def is_nested(seq):
    """Whether the value is a structure: a sequence, a mapping, an attrs class."""
    kind = seq.__class__
    if kind is list or kind is tuple or kind is dict:
        return True
    if isinstance(seq, _LEAVES):
        return False
    if isinstance(seq, (abc.Mapping, abc.MappingView)):
        return True
    if isinstance(seq, abc.Sequence) and not hasattr(seq, "__array__"):
        return True
    return _is_attrs(kind) or hasattr(seq, "__tf_flatten__")


def _is_attrs(kind):
    return isinstance(kind, type) and hasattr(kind, "__attrs_attrs__")


def _is_namedtuple(value):
    return isinstance(value, tuple) and isinstance(getattr(value, _NAMED, None), tuple)


def _sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _children(structure):
    """The parts of a structure, in the order in which they are flattened."""
    if isinstance(structure, abc.Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    if _is_attrs(structure.__class__):
        return [getattr(structure, field.name) for field in structure.__attrs_attrs__]
    if hasattr(structure, "__tf_flatten__"):
        return list(structure.__tf_flatten__()[1])
    return list(structure)


def _like(structure, children):
    """A structure of the same type over other parts."""
    kind = structure.__class__
    if isinstance(structure, abc.Mapping):
        made = dict(zip(_sorted_keys(structure), children, strict=True))
        items = [(key, made[key]) for key in structure]
        if hasattr(structure, "default_factory"):
            return kind(structure.default_factory, items)
        return kind(items)
    if isinstance(structure, abc.MappingView):
        return list(children)
    if _is_namedtuple(structure) or _is_attrs(kind):
        return kind(*children)
    if hasattr(structure, "__tf_unflatten__"):
        return structure.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(children))
    if isinstance(structure, range):
        return list(children)
    return kind(children)


def flatten(structure, expand_composites=False):
    """The leaves of a structure as a flat list; of a leaf, a list with it alone."""
    if expand_composites:
        structure = _expanded(structure)
    if not is_nested(structure):
        return [structure]
    leaves = []
    _append_leaves(structure, leaves)
    return leaves


def _append_leaves(structure, leaves):
    for child in _children(structure):
        if is_nested(child):
            _append_leaves(child, leaves)
        else:
            leaves.append(child)


def _spec_of_composite(value):
    """The spec that takes a sparse, ragged, … value apart; None for any other."""
    spec = getattr(value, "_type_spec", None)
    return spec if hasattr(spec, "_to_components") and not hasattr(value, "assign") else None


def _expanded(structure):
    """The structure with each composite replaced by the structure of its tensors."""
    if is_nested(structure):
        return _like(structure, [_expanded(child) for child in _children(structure)])
    spec = _spec_of_composite(structure)
    if spec is not None:
        return _expanded(spec._to_components(structure))
    if hasattr(structure, "_component_specs") and structure._component_specs is not structure:
        return _expanded(structure._component_specs)
    return structure


def _contracted(structure, like):
    """The reverse of _expanded: composites where ``like`` has them."""
    if is_nested(like):
        parts = zip(_children(structure), _children(like), strict=True)
        return _like(like, [_contracted(part, inner) for part, inner in parts])
    spec = _spec_of_composite(like)
    if spec is None and hasattr(like, "_component_specs") and like._component_specs is not like:
        spec = like
    if spec is None:
        return structure
    return spec._from_components(_contracted(structure, spec._component_specs))


def flatten_up_to(shallow_tree, input_tree, check_types=True):
    """The parts of ``input_tree`` that stand where ``shallow_tree`` has its leaves."""
    if not is_nested(shallow_tree):
        return [input_tree]
    if not is_nested(input_tree):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree).__name__!r}."
        )
    ours, theirs = _children(shallow_tree), _children(input_tree)
    if isinstance(shallow_tree, abc.Mapping) and isinstance(input_tree, abc.Mapping):
        missing = [key for key in shallow_tree if key not in input_tree]
        if missing:
            raise ValueError(f"The input is missing the keys {missing}.")
        theirs = [input_tree[key] for key in _sorted_keys(shallow_tree)]
    if len(ours) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length "
            f"{len(theirs)}, while shallow structure has length {len(ours)}."
        )
    return [
        part
        for mine, other in zip(ours, theirs, strict=True)
        for part in flatten_up_to(mine, other, check_types)
    ]


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure with the leaves taken in order from a flat sequence."""
    if expand_composites:
        return _contracted(pack_sequence_as(_expanded(structure), flat_sequence), structure)
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {_shorten(flat_sequence)}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    flat = list(flat_sequence)
    if not is_nested(structure):
        if len(flat) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {_shorten(structure)}\n"
                f"However the input is a sequence ({type(flat_sequence)}) of length {len(flat)}.\n"
                f"  {_shorten(flat_sequence)}\nnest cannot guarantee that it is safe to map one to "
                "the other."
            )
        return flat[0]
    atoms = len(flatten(structure))
    if atoms != len(flat):
        raise ValueError(
            f"Could not pack sequence. Structure had {atoms} atoms, but flat_sequence had "
            f"{len(flat)} items.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat))


def _pack(structure, leaves):
    return _like(
        structure,
        [_pack(c, leaves) if is_nested(c) else next(leaves) for c in _children(structure)],
    )


def map_structure(func, *structure, **kwargs):
    """Calls ``func`` on the leaves of structures alike; a structure of the results."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    if expand_composites:
        mapped = map_structure(func, *map(_expanded, structure), check_types=check_types)
        return _contracted(mapped, structure[0])
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    results = [func(*leaves) for leaves in zip(*[flatten(s) for s in structure], strict=True)]
    return _pack(structure[0], iter(results)) if is_nested(structure[0]) else results[0]


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises ValueError, or TypeError for other types, unless both are built alike."""
    if expand_composites:
        nest1, nest2 = _expanded(nest1), _expanded(nest2)
    mismatch = _mismatch(nest1, nest2, check_types)
    if mismatch is None:
        return
    kind, text = mismatch
    raise kind(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
        f"More specifically: {text}\nEntire first structure:\n{_dotted(nest1)}\n"
        f"Entire second structure:\n{_dotted(nest2)}"
    )


def _mismatch(first, second, check_types):
    """The error type and text of the first difference, or None."""
    if is_nested(first) != is_nested(second):
        nested, leaf = (first, second) if is_nested(first) else (second, first)
        return ValueError, (
            f'Substructure "{_described(nested)}" is a sequence, while substructure '
            f'"{_described(leaf)}" is not'
        )
    if not is_nested(first):
        return None
    if check_types and not _same_type(first, second):
        return TypeError, (
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_described(first)} has type {type(first).__name__}, while second structure "
            f"{_described(second)} has type {type(second).__name__}"
        )
    both_mappings = isinstance(first, abc.Mapping) and isinstance(second, abc.Mapping)
    if both_mappings and set(first) != set(second):
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_described(list(first))}, while second structure has keys "
            f"{_described(list(second))}"
        )
    one, other = _children(first), _children(second)
    if len(one) != len(other):
        return ValueError, (
            "The two structures don't have the same number of elements. First structure: "
            f"{_described(first)}. Second structure: {_described(second)}"
        )
    for a, b in zip(one, other, strict=True):
        found = _mismatch(a, b, check_types)
        if found is not None:
            return found
    return None


def _same_type(first, second):
    if isinstance(first, abc.Mapping) and isinstance(second, abc.Mapping):
        return True
    if _is_namedtuple(first) and _is_namedtuple(second):
        alike = type(first).__name__ == type(second).__name__
        return alike and first._fields == second._fields
    return type(first) is type(second)


def _described(value):
    return f"type={type(value).__name__} str={value}"


def _dotted(structure):
    return str(map_structure(lambda _: _DOT, structure))


class _Dot:
    def __repr__(self):
        return "."


_DOT = _Dot()


def _shorten(value, longest=100):
    text = str(value)
    return text if len(text) <= longest else text[:longest] + "..."
