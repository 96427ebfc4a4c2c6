"""Datasets of files."""

from __future__ import annotations

import gzip
import zlib

from tidemark import _tidemark, dtypes, nest
from tidemark._creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark._type_specs import TensorSpec
from tidemark.data._dataset import UNKNOWN_CARDINALITY, DatasetV2


def _names(filenames):
    if isinstance(filenames, DatasetV2):
        return [item.numpy().decode() for item in filenames]
    out = []
    for name in nest.flatten(filenames):
        if isinstance(name, Tensor):
            out.extend(item.decode() for item in name.numpy().ravel().tolist()
                       ) if name.shape.rank else out.append(name.numpy().decode())  # fmt: skip
        else:
            out.append(name.decode() if isinstance(name, bytes) else str(name))
    return out


def _opened(path, compression):
    if compression == "GZIP":
        return gzip.open(path, "rb")
    with open(path, "rb") as file:
        import io

        return io.BytesIO(zlib.decompress(file.read()))


class TextLineDataset(DatasetV2):
    """The lines of text files, without their ends."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None,
                 name=None):  # fmt: skip
        names = _names(filenames)
        if not compression_type:
            handle = _tidemark.dataset_text_lines(names, int(buffer_size or 0))
        else:

            def lines():
                for path in names:
                    with _opened(path, compression_type) as file:
                        for line in file:
                            yield [convert_to_tensor(line.rstrip(b"\r\n"))]

            handle = _tidemark.dataset_from_python(lines, UNKNOWN_CARDINALITY)
        super().__init__(handle, TensorSpec([], dtypes.string))


class TFRecordDataset(DatasetV2):
    """The records of TFRecord files, as strings."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None,
                 name=None):  # fmt: skip
        names = _names(filenames)
        if not compression_type:
            handle = _tidemark.dataset_tf_records(names)
        else:
            from tidemark.io import _tfrecord

            def records():
                for path in names:
                    for record in _tfrecord.tf_record_iterator(path, compression_type):
                        yield [convert_to_tensor(record)]

            handle = _tidemark.dataset_from_python(records, UNKNOWN_CARDINALITY)
        super().__init__(handle, TensorSpec([], dtypes.string))


class FixedLengthRecordDataset(DatasetV2):
    """Pieces of files, all of one length."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None,
                 buffer_size=None, compression_type=None, num_parallel_reads=None,
                 name=None):  # fmt: skip
        names, size = _names(filenames), int(record_bytes)
        head, foot = int(header_bytes or 0), int(footer_bytes or 0)

        def records():
            for path in names:
                with open(path, "rb") as file:
                    body = file.read()
                for at in range(head, len(body) - foot - size + 1, size):
                    yield [convert_to_tensor(body[at : at + size])]

        handle = _tidemark.dataset_from_python(records, UNKNOWN_CARDINALITY)
        super().__init__(handle, TensorSpec([], dtypes.string))
