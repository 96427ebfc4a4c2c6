"""What event files hold: ``Summary``, ``Event`` and the messages inside them."""

from __future__ import annotations

from tidemark._proto.fields import Enum, Field
from tidemark._proto.framework import TensorProto
from tidemark._proto.message import Message


class HistogramProto(Message):
    FIELDS = (
        Field(1, "min", "double"),
        Field(2, "max", "double"),
        Field(3, "num", "double"),
        Field(4, "sum", "double"),
        Field(5, "sum_squares", "double"),
        Field(6, "bucket_limit", "double", True),
        Field(7, "bucket", "double", True),
    )


class SummaryMetadataPluginData(Message):
    FIELDS = (Field(1, "plugin_name", "string"), Field(2, "content", "bytes"))


class SummaryMetadata(Message):
    FIELDS = (
        Field(1, "plugin_data", "message", message=SummaryMetadataPluginData),
        Field(2, "display_name", "string"),
        Field(3, "summary_description", "string"),
        Field(4, "data_class", "enum"),
    )
    PluginData = SummaryMetadataPluginData


class SummaryImage(Message):
    FIELDS = (
        Field(1, "height", "int32"),
        Field(2, "width", "int32"),
        Field(3, "colorspace", "int32"),
        Field(4, "encoded_image_string", "bytes"),
    )


class SummaryAudio(Message):
    FIELDS = (
        Field(1, "sample_rate", "float"),
        Field(2, "num_channels", "int64"),
        Field(3, "length_frames", "int64"),
        Field(4, "encoded_audio_string", "bytes"),
        Field(5, "content_type", "string"),
    )


class SummaryValue(Message):
    FIELDS = (
        Field(7, "node_name", "string"),
        Field(1, "tag", "string"),
        Field(9, "metadata", "message", message=SummaryMetadata),
        Field(2, "simple_value", "float", oneof="value"),
        Field(4, "image", "message", message=SummaryImage, oneof="value"),
        Field(5, "histo", "message", message=HistogramProto, oneof="value"),
        Field(6, "audio", "message", message=SummaryAudio, oneof="value"),
        Field(8, "tensor", "message", message=TensorProto, oneof="value"),
    )


class Summary(Message):
    FIELDS = (Field(1, "value", "message", True, SummaryValue),)
    Value = SummaryValue
    Image = SummaryImage
    Audio = SummaryAudio


class SessionLog(Message):
    SessionStatus = Enum(STATUS_UNSPECIFIED=0, START=1, STOP=2, CHECKPOINT=3)
    STATUS_UNSPECIFIED, START, STOP, CHECKPOINT = range(4)
    FIELDS = (
        Field(1, "status", "enum", enum=SessionStatus),
        Field(2, "checkpoint_path", "string"),
        Field(3, "msg", "string"),
    )


class LogMessage(Message):
    FIELDS = (Field(1, "level", "enum"), Field(2, "message", "string"))


class TaggedRunMetadata(Message):
    FIELDS = (Field(1, "tag", "string"), Field(2, "run_metadata", "bytes"))


class Event(Message):
    FIELDS = (
        Field(1, "wall_time", "double"),
        Field(2, "step", "int64"),
        Field(3, "file_version", "string", oneof="what"),
        Field(4, "graph_def", "bytes", oneof="what"),
        Field(5, "summary", "message", message=Summary, oneof="what"),
        Field(6, "log_message", "message", message=LogMessage, oneof="what"),
        Field(7, "session_log", "message", message=SessionLog, oneof="what"),
        Field(8, "tagged_run_metadata", "message", message=TaggedRunMetadata, oneof="what"),
        Field(9, "meta_graph_def", "bytes", oneof="what"),
    )
