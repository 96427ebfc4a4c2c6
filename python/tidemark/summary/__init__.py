"""``tf.summary``: event files for TensorBoard.

writer = tf.summary.create_file_writer("logs")
with writer.as_default():
    tf.summary.scalar("loss", 0.5, step=1)
"""

from tidemark.summary import experimental
from tidemark.summary._kinds import audio, histogram, image, scalar, text
from tidemark.summary._trace import trace_export, trace_off, trace_on
from tidemark.summary._writer import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
    graph,
    record_if,
    should_record_summaries,
    write,
)


def __getattr__(name):
    """What TensorFlow 1 has here: ``FileWriter``, ``merge``, ``merge_all``, …"""
    if name.startswith("_"):
        raise AttributeError(name)
    from tidemark._v1 import summary as _old  # it imports this module

    if hasattr(_old, name) and name in _OLD:
        return getattr(_old, name)
    raise AttributeError(f"module 'tidemark.summary' has no attribute {name!r}")


_OLD = ("FileWriter", "FileWriterCache", "Summary", "SummaryDescription", "merge", "merge_all",
        "tensor_summary", "get_summary_description", "all_v2_summary_ops", "Event",
        "SessionLog", "TaggedRunMetadata")  # fmt: skip
