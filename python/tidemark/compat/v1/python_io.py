"""``tf.compat.v1.python_io``: records, from Python."""

from tidemark.compat.v1.io import TFRecordCompressionType, tf_record_iterator
from tidemark.io import TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]
