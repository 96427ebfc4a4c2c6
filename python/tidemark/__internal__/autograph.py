"""``tf.__internal__.autograph``: turning Python statements over tensors into graphs."""

from tidemark.autograph._context import control_status_ctx
from tidemark.autograph._impl import tf_convert
from tidemark.autograph._rules import is_artifact as is_autograph_artifact
from tidemark.autograph.experimental import do_not_convert

__all__ = ["control_status_ctx", "do_not_convert", "is_autograph_artifact", "tf_convert"]
