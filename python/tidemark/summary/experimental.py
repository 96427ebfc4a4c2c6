"""``tf.summary.experimental``: the step of summaries, and ready-made messages."""

from tidemark.summary._writer import get_step, set_step, summary_scope, write_raw_pb
