"""Extension types whose values datasets batch: ``tf.experimental.BatchableExtensionType``."""

from __future__ import annotations

from tidemark._tensor.specs import TensorSpec, TypeSpec
from tidemark.experimental.extension_type._specs import ExtensionTypeSpec, _mapped
from tidemark.experimental.extension_type._types import ExtensionType
from tidemark.tensor_shape import TensorShape


class ExtensionTypeBatchEncoder:
    """How values of an extension type are put together to batches, and taken out of them."""

    def batch(self, spec, batch_size):
        """The spec of a batch of values."""
        return spec._made(_mapped(lambda part: _batched(part, batch_size), spec._parts()))

    def unbatch(self, spec):
        """The spec of one value of a batch."""
        return spec._made(_mapped(_unbatched, spec._parts()))

    def encode(self, spec, value, minimum_rank=0):
        """The tensors that a value is batched by."""
        return spec._to_components(value)

    def decode(self, spec, encoded_value):
        """The value again."""
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec):
        """The specs of the tensors."""
        return spec._component_specs


def _batched(part, size):
    if isinstance(part, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(part.shape), part.dtype)
    return part._batch(size) if isinstance(part, TypeSpec) else part


def _unbatched(part):
    if isinstance(part, TensorSpec):
        return TensorSpec(part.shape[1:], part.dtype)
    return part._unbatch() if isinstance(part, TypeSpec) else part


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """The spec of values that datasets batch."""

    @property
    def __batch_encoder__(self):
        return self.value_type.__batch_encoder__

    def _batch(self, batch_size):
        return self.__batch_encoder__.batch(self, batch_size)

    def _unbatch(self):
        return self.__batch_encoder__.unbatch(self)


class BatchableExtensionType(ExtensionType):
    """An extension type whose values datasets batch and take rows of."""

    _tf_extension_type_do_not_transform_this_class = True
    __batch_encoder__ = ExtensionTypeBatchEncoder()
