"""``tf.Variable.SaveSliceInfo``: which part of a larger tensor a variable is, in checkpoints."""

from __future__ import annotations


def _integers(text, separator, message):
    try:
        return [int(part) for part in text.split(separator)]
    except ValueError:
        raise ValueError(message) from None


class SaveSliceInfo:
    """A part by its place and its sizes; ``spec`` writes it as checkpoints do."""

    def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None,
                 save_slice_info_def=None, import_scope=None):  # fmt: skip
        if save_slice_info_def is not None:
            message = save_slice_info_def
            prefix = f"{import_scope}/" if import_scope else ""
            full_name = prefix + message.full_name
            full_shape, var_offset = list(message.full_shape), list(message.var_offset)
            var_shape = list(message.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self):
        """The sizes of the whole, then ``offset,size`` of each dimension."""
        sizes = " ".join(str(size) for size in self.full_shape)
        parts = zip(self.var_offset, self.var_shape, strict=True)
        return f"{sizes} {':'.join(f'{offset},{size}' for offset, size in parts)}"

    @classmethod
    def from_spec(cls, spec):
        """The part that a text of this form names."""
        sizes, _, parts = spec.rpartition(" ")
        if not sizes:
            raise ValueError(
                "Spec string must contain space-separated full_shape info and a slice; got "
                f"{spec!r}"
            )
        full_shape = _integers(sizes, " ", f"full_shape must be a sequence of int; got {sizes!r}")
        offsets, shape = [], []
        for part in parts.split(":"):
            offset, comma, size = part.partition(",")
            if not comma:
                raise ValueError("Spec string must contain comma-separated pairs of offsets and "
                                 f"shapes; got {part!r}")  # fmt: skip
            offsets += _integers(offset, " ", f"var_offset must be an integer; got {offset!r}")
            shape += _integers(size, " ", f"var_shape must be an integer; got {size!r}")
        return cls(full_shape=full_shape, var_offset=offsets, var_shape=shape)

    def to_proto(self, export_scope=None):
        """As a message, where the package protobuf is."""
        # Few programs need it, and it asks for a package of its own.
        from tensorflow.core.framework.variable_pb2 import SaveSliceInfoDef

        return SaveSliceInfoDef(full_name=self.full_name, full_shape=self.full_shape,
                                var_offset=self.var_offset, var_shape=self.var_shape)  # fmt: skip
