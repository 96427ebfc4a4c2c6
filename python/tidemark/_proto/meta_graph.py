"""What the file ``.meta`` beside a checkpoint of TensorFlow 1 holds: a graph, its collections."""

from __future__ import annotations

from tidemark._proto.fields import Enum, Field
from tidemark._proto.framework import GraphDef
from tidemark._proto.message import Message


class SaverDef(Message):
    CheckpointFormatVersion = Enum(LEGACY=0, V1=1, V2=2)
    LEGACY, V1, V2 = 0, 1, 2
    FIELDS = (
        Field(1, "filename_tensor_name", "string"),
        Field(2, "save_tensor_name", "string"),
        Field(3, "restore_op_name", "string"),
        Field(4, "max_to_keep", "int32"),
        Field(5, "sharded", "bool"),
        Field(6, "keep_checkpoint_every_n_hours", "float"),
        Field(7, "version", "int32"),
    )


class VariableDef(Message):
    FIELDS = (
        Field(1, "variable_name", "string"),
        Field(6, "initial_value_name", "string"),
        Field(2, "initializer_name", "string"),
        Field(3, "snapshot_name", "string"),
        Field(5, "is_resource", "bool"),
        Field(7, "trainable", "bool"),
        Field(8, "synchronization", "int32"),
        Field(9, "aggregation", "int32"),
    )


class _Names(Message):
    FIELDS = (Field(1, "value", "string", True),)


class _Bytes(Message):
    FIELDS = (Field(1, "value", "bytes", True),)


class _Int64s(Message):
    FIELDS = (Field(1, "value", "int64", True),)


class _Floats(Message):
    FIELDS = (Field(1, "value", "float", True),)


class CollectionDef(Message):
    FIELDS = (
        Field(1, "node_list", "message", message=_Names, oneof="kind"),
        Field(2, "bytes_list", "message", message=_Bytes, oneof="kind"),
        Field(3, "int64_list", "message", message=_Int64s, oneof="kind"),
        Field(4, "float_list", "message", message=_Floats, oneof="kind"),
    )


class _MetaInfoDef(Message):
    FIELDS = (
        Field(1, "meta_graph_version", "string"),
        Field(4, "tags", "string", True),
        Field(5, "tensorflow_version", "string"),
        Field(6, "tensorflow_git_version", "string"),
        Field(7, "stripped_default_attrs", "bool"),
    )


class MetaGraphDef(Message):
    MetaInfoDef = _MetaInfoDef
    FIELDS = (
        Field(1, "meta_info_def", "message", message=_MetaInfoDef),
        Field(2, "graph_def", "message", message=GraphDef),
        Field(3, "saver_def", "message", message=SaverDef),
        Field(4, "collection_def", "map", message=CollectionDef),
    )
