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
