"""Elements of datasets taken apart into tensors, and put together again."""

from __future__ import annotations

from tidemark import nest
from tidemark._tensor.specs import TensorSpec, TypeSpec


class NoneTensorSpec(TypeSpec):
    """The spec of None, which an element may have in the place of a tensor."""

    value_type = property(lambda self: type(None))
    _component_specs = ()

    def _serialize(self):
        return ()

    def _to_components(self, value):
        return ()

    def _from_components(self, components):
        return None


def flat_specs(spec):
    """The TensorSpecs of the tensors of an element."""
    out = []
    for leaf in nest.flatten(spec):
        out.extend([leaf] if isinstance(leaf, TensorSpec) else flat_specs(leaf._component_specs))
    return out


def pack(spec, tensors):
    """An element of the spec from its tensors."""
    leaves, at = [], 0
    for leaf in nest.flatten(spec):
        if isinstance(leaf, TensorSpec):
            leaves.append(tensors[at])
            at += 1
            continue
        count = len(flat_specs(leaf._component_specs))
        packed = pack(leaf._component_specs, tensors[at : at + count])
        leaves.append(leaf._from_components(packed))
        at += count
    return nest.pack_sequence_as(spec, leaves)
