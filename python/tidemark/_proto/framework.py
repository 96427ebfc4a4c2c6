"""Graphs: ``GraphDef``, ``NodeDef``, ``AttrValue``, ``TensorProto`` and what they hold."""

from __future__ import annotations

from tidemark._proto.fields import Enum, Field
from tidemark._proto.message import Message

_TYPES = [
    "DT_INVALID",
    "DT_FLOAT",
    "DT_DOUBLE",
    "DT_INT32",
    "DT_UINT8",
    "DT_INT16",
    "DT_INT8",
    "DT_STRING",
    "DT_COMPLEX64",
    "DT_INT64",
    "DT_BOOL",
    "DT_QINT8",
    "DT_QUINT8",
    "DT_QINT32",
    "DT_BFLOAT16",
    "DT_QINT16",
    "DT_QUINT16",
    "DT_UINT16",
    "DT_COMPLEX128",
    "DT_HALF",
    "DT_RESOURCE",
    "DT_VARIANT",
    "DT_UINT32",
    "DT_UINT64",
]
DataType = Enum(
    **{name: number for number, name in enumerate(_TYPES)},
    **{f"{name}_REF": number + 100 for number, name in enumerate(_TYPES) if number},
)


class TensorShapeProtoDim(Message):
    FIELDS = (Field(1, "size", "int64"), Field(2, "name", "string"))


class TensorShapeProto(Message):
    FIELDS = (
        Field(2, "dim", "message", True, TensorShapeProtoDim),
        Field(3, "unknown_rank", "bool"),
    )
    Dim = TensorShapeProtoDim


class TensorProto(Message):
    FIELDS = (
        Field(1, "dtype", "enum", enum=DataType),
        Field(2, "tensor_shape", "message", message=TensorShapeProto),
        Field(3, "version_number", "int32"),
        Field(4, "tensor_content", "bytes"),
        Field(13, "half_val", "int32", True),
        Field(5, "float_val", "float", True),
        Field(6, "double_val", "double", True),
        Field(7, "int_val", "int32", True),
        Field(8, "string_val", "bytes", True),
        Field(9, "scomplex_val", "float", True),
        Field(10, "int64_val", "int64", True),
        Field(11, "bool_val", "bool", True),
        Field(12, "dcomplex_val", "double", True),
        Field(16, "uint32_val", "uint32", True),
        Field(17, "uint64_val", "uint64", True),
    )


class AttrValueListValue(Message):
    FIELDS = (
        Field(2, "s", "bytes", True),
        Field(3, "i", "int64", True),
        Field(4, "f", "float", True),
        Field(5, "b", "bool", True),
        Field(6, "type", "enum", True, enum=DataType),
        Field(7, "shape", "message", True, TensorShapeProto),
        Field(8, "tensor", "message", True, TensorProto),
        Field(9, "func", "message", True, lambda: NameAttrList),
    )


class AttrValue(Message):
    FIELDS = (
        Field(2, "s", "bytes", oneof="value"),
        Field(3, "i", "int64", oneof="value"),
        Field(4, "f", "float", oneof="value"),
        Field(5, "b", "bool", oneof="value"),
        Field(6, "type", "enum", oneof="value", enum=DataType),
        Field(7, "shape", "message", message=TensorShapeProto, oneof="value"),
        Field(8, "tensor", "message", message=TensorProto, oneof="value"),
        Field(1, "list", "message", message=AttrValueListValue, oneof="value"),
        Field(10, "func", "message", message=lambda: NameAttrList, oneof="value"),
        Field(9, "placeholder", "string", oneof="value"),
    )
    ListValue = AttrValueListValue


class NameAttrList(Message):
    FIELDS = (Field(1, "name", "string"), Field(2, "attr", "map", message=AttrValue))


class NodeDef(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "op", "string"),
        Field(3, "input", "string", True),
        Field(4, "device", "string"),
        Field(5, "attr", "map", message=AttrValue),
    )


class VersionDef(Message):
    FIELDS = (
        Field(1, "producer", "int32"),
        Field(2, "min_consumer", "int32"),
        Field(3, "bad_consumers", "int32", True),
    )


class OpDefArgDef(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "description", "string"),
        Field(3, "type", "enum", enum=DataType),
        Field(4, "type_attr", "string"),
        Field(5, "number_attr", "string"),
        Field(6, "type_list_attr", "string"),
        Field(16, "is_ref", "bool"),
    )


class OpDefAttrDef(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "type", "string"),
        Field(3, "default_value", "message", message=AttrValue),
        Field(4, "description", "string"),
        Field(5, "has_minimum", "bool"),
        Field(6, "minimum", "int64"),
        Field(7, "allowed_values", "message", message=AttrValue),
    )


class OpDef(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "input_arg", "message", True, OpDefArgDef),
        Field(3, "output_arg", "message", True, OpDefArgDef),
        Field(20, "control_output", "string", True),
        Field(4, "attr", "message", True, OpDefAttrDef),
        Field(5, "summary", "string"),
        Field(6, "description", "string"),
        Field(18, "is_commutative", "bool"),
        Field(16, "is_aggregate", "bool"),
        Field(17, "is_stateful", "bool"),
    )
    ArgDef = OpDefArgDef
    AttrDef = OpDefAttrDef


class _StringEntry(Message):
    FIELDS = (Field(1, "key", "string"), Field(2, "value", "string"))


class FunctionDef(Message):
    FIELDS = (
        Field(1, "signature", "message", message=OpDef),
        Field(5, "attr", "map", message=AttrValue),
        Field(3, "node_def", "message", True, NodeDef),
        Field(4, "ret", "message", True, _StringEntry),
        Field(6, "control_ret", "message", True, _StringEntry),
    )


class GradientDef(Message):
    FIELDS = (Field(1, "function_name", "string"), Field(2, "gradient_func", "string"))


class FunctionDefLibrary(Message):
    FIELDS = (
        Field(1, "function", "message", True, FunctionDef),
        Field(2, "gradient", "message", True, GradientDef),
    )


class GraphDef(Message):
    FIELDS = (
        Field(1, "node", "message", True, NodeDef),
        Field(4, "versions", "message", message=VersionDef),
        Field(3, "version", "int32"),
        Field(2, "library", "message", message=FunctionDefLibrary),
    )
