"""What the file ``checkpoint`` of a folder holds, as text."""

from __future__ import annotations

from tidemark._proto.fields import Field
from tidemark._proto.message import Message


class CheckpointState(Message):
    FIELDS = (
        Field(1, "model_checkpoint_path", "string"),
        Field(2, "all_model_checkpoint_paths", "string", True),
        Field(3, "all_model_checkpoint_timestamps", "double", True),
        Field(4, "last_preserved_timestamp", "double"),
    )
