"""``tf.__internal__.nest``: ``tf.nest``, and what libraries need beyond it."""

from tidemark._tensorflow.inner.nesting import (
    flatten_up_to,
    get_traverse_shallow_structure,
    is_attrs,
    is_mapping,
    list_to_tuple,
    map_structure_up_to,
    sequence_like,
    yield_flat_paths,
)
from tidemark.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)

__all__ = [
    "assert_same_structure", "flatten", "flatten_up_to",
    "get_traverse_shallow_structure", "is_attrs", "is_mapping", "is_nested", "list_to_tuple",
    "map_structure", "map_structure_up_to", "pack_sequence_as", "sequence_like",
    "yield_flat_paths",
]  # fmt: skip
