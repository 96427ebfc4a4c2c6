"""Reading the files that writers of summaries made."""

from __future__ import annotations

import tidemark as tf
from tidemark._proto.summary import Event


def summary_iterator(path):
    """The events of a file, one after the other."""
    for record in tf.data.TFRecordDataset(path):
        yield Event.FromString(record.numpy())
