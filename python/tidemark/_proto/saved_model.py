"""What ``saved_model.pb`` holds: graphs, signatures, and the objects that were saved."""

from __future__ import annotations

from tidemark._proto.fields import Enum, Field
from tidemark._proto.framework import GraphDef, OpDef, TensorShapeProto, VersionDef
from tidemark._proto.message import Message
from tidemark._proto.meta_graph import CollectionDef, SaverDef


class Empty(Message):
    FIELDS = ()


class TensorSpecProto(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "shape", "message", message=TensorShapeProto),
        Field(3, "dtype", "enum"),
    )


class TypeSpecProto(Message):
    TypeSpecClass = Enum(SPARSE_TENSOR_SPEC=1, INDEXED_SLICES_SPEC=2, RAGGED_TENSOR_SPEC=3)
    FIELDS = (
        Field(1, "type_spec_class", "enum", enum=TypeSpecClass),
        Field(2, "type_state", "message", message=lambda: StructuredValue),
        Field(3, "type_spec_class_name", "string"),
        Field(4, "num_flat_components", "int32"),
    )


class ListValue(Message):
    FIELDS = (Field(1, "values", "message", True, lambda: StructuredValue),)


class DictValue(Message):
    FIELDS = (Field(1, "fields", "map", message=lambda: StructuredValue),)


class PairValue(Message):
    FIELDS = (
        Field(1, "key", "string"),
        Field(2, "value", "message", message=lambda: StructuredValue),
    )


class NamedTupleValue(Message):
    FIELDS = (Field(1, "name", "string"), Field(2, "values", "message", True, PairValue))


class StructuredValue(Message):
    """A nested Python value. ``zigzag``: an int as ``sint64`` has it."""

    FIELDS = (
        Field(1, "none_value", "message", message=Empty, oneof="kind"),
        Field(11, "float64_value", "double", oneof="kind"),
        Field(12, "zigzag", "uint64", oneof="kind"),
        Field(13, "string_value", "string", oneof="kind"),
        Field(14, "bool_value", "bool", oneof="kind"),
        Field(31, "tensor_shape_value", "message", message=TensorShapeProto, oneof="kind"),
        Field(32, "tensor_dtype_value", "enum", oneof="kind"),
        Field(33, "tensor_spec_value", "message", message=TensorSpecProto, oneof="kind"),
        Field(34, "type_spec_value", "message", message=TypeSpecProto, oneof="kind"),
        Field(51, "list_value", "message", message=ListValue, oneof="kind"),
        Field(52, "tuple_value", "message", message=ListValue, oneof="kind"),
        Field(53, "dict_value", "message", message=DictValue, oneof="kind"),
        Field(54, "named_tuple_value", "message", message=NamedTupleValue, oneof="kind"),
    )


class FunctionSpec(Message):
    FIELDS = (
        Field(1, "fullargspec", "message", message=StructuredValue),
        Field(2, "is_method", "bool"),
        Field(5, "input_signature", "message", message=StructuredValue),
    )


class SavedUserObject(Message):
    FIELDS = (
        Field(1, "identifier", "string"),
        Field(2, "version", "message", message=VersionDef),
        Field(3, "metadata", "string"),
    )


class SavedAsset(Message):
    FIELDS = (Field(1, "asset_file_def_index", "int32"),)


class SavedFunction(Message):
    FIELDS = (
        Field(1, "concrete_functions", "string", True),
        Field(2, "function_spec", "message", message=FunctionSpec),
    )


class SavedConcreteFunction(Message):
    FIELDS = (
        Field(2, "bound_inputs", "int32", True),
        Field(3, "canonicalized_input_signature", "message", message=StructuredValue),
        Field(4, "output_signature", "message", message=StructuredValue),
    )


class SavedBareConcreteFunction(Message):
    FIELDS = (
        Field(1, "concrete_function_name", "string"),
        Field(2, "argument_keywords", "string", True),
        Field(3, "allowed_positional_arguments", "int64"),
        Field(4, "function_spec", "message", message=FunctionSpec),
    )


class SavedConstant(Message):
    FIELDS = (Field(1, "operation", "string"),)


class SavedVariable(Message):
    FIELDS = (
        Field(1, "dtype", "enum"),
        Field(2, "shape", "message", message=TensorShapeProto),
        Field(3, "trainable", "bool"),
        Field(6, "name", "string"),
    )


class SavedResource(Message):
    FIELDS = (Field(1, "device", "string"),)


class ObjectReference(Message):
    FIELDS = (Field(1, "node_id", "int32"), Field(2, "local_name", "string"))


class SavedObject(Message):
    FIELDS = (
        Field(1, "children", "message", True, ObjectReference),
        Field(15, "dependencies", "message", True, ObjectReference),
        Field(4, "user_object", "message", message=SavedUserObject, oneof="kind"),
        Field(5, "asset", "message", message=SavedAsset, oneof="kind"),
        Field(6, "function", "message", message=SavedFunction, oneof="kind"),
        Field(7, "variable", "message", message=SavedVariable, oneof="kind"),
        Field(8, "bare_concrete_function", "message", message=SavedBareConcreteFunction,
              oneof="kind"),
        Field(9, "constant", "message", message=SavedConstant, oneof="kind"),
        Field(10, "resource", "message", message=SavedResource, oneof="kind"),
    )  # fmt: skip


class SavedObjectGraph(Message):
    FIELDS = (
        Field(1, "nodes", "message", True, SavedObject),
        Field(2, "concrete_functions", "map", message=SavedConcreteFunction),
    )


class TensorInfo(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "dtype", "enum"),
        Field(3, "tensor_shape", "message", message=TensorShapeProto),
    )


class SignatureDef(Message):
    FIELDS = (
        Field(1, "inputs", "map", message=TensorInfo),
        Field(2, "outputs", "map", message=TensorInfo),
        Field(3, "method_name", "string"),
    )


class AssetFileDef(Message):
    FIELDS = (
        Field(1, "tensor_info", "message", message=TensorInfo),
        Field(2, "filename", "string"),
    )


class OpList(Message):
    FIELDS = (Field(1, "op", "message", True, OpDef),)


class StringMapEntry(Message):
    FIELDS = (Field(1, "key", "string"), Field(2, "value", "string"))


class MetaInfoDef(Message):
    FIELDS = (
        Field(2, "stripped_op_list", "message", message=OpList),
        Field(4, "tags", "string", True),
        Field(5, "tensorflow_version", "string"),
        Field(8, "function_aliases", "message", True, StringMapEntry),
    )


class SavedMetaGraph(Message):
    """A ``MetaGraphDef`` with all that saved models have in it."""

    FIELDS = (
        Field(1, "meta_info_def", "message", message=MetaInfoDef),
        Field(2, "graph_def", "message", message=GraphDef),
        Field(3, "saver_def", "message", message=SaverDef),
        Field(4, "collection_def", "map", message=CollectionDef),
        Field(5, "signature_def", "map", message=SignatureDef),
        Field(6, "asset_file_def", "message", True, AssetFileDef),
        Field(7, "object_graph_def", "message", message=SavedObjectGraph),
    )


class SavedModel(Message):
    FIELDS = (
        Field(1, "saved_model_schema_version", "int64"),
        Field(2, "meta_graphs", "message", True, SavedMetaGraph),
    )
