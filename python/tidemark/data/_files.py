"""Datasets of files."""

from __future__ import annotations

import gzip
import io
import zlib

from tidemark import _tidemark, dtypes, nest
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Tensor
from tidemark.data._dataset import AUTOTUNE, UNKNOWN_CARDINALITY, DatasetV2
from tidemark.data._staged_handles import made
from tidemark.data._traced import number_of

_TEXT = TensorSpec([], dtypes.string)


def _name_tensors(filenames):
    """The names as tensors, one or many each."""
    return [
        convert_to_tensor(name if isinstance(name, (Tensor, bytes)) else str(name))
        for name in nest.flatten(filenames)
    ]


def _texts(tensors):
    out = []
    for tensor in tensors:
        if tensor.dtype != dtypes.string:
            raise TypeError(
                f"The `filenames` argument must contain `tf.string` elements. Got {tensor.dtype!r}."
            )
        names = tensor.numpy()
        names = names.ravel().tolist() if tensor.shape.rank else [names]
        out.extend(name.decode() for name in names)
    return out


def _reading(filenames, reads, parallel):
    """A handle of what ``reads`` (names → handle) gives; several files in turn where parallel."""
    if not isinstance(filenames, DatasetV2):
        if parallel is None:
            return made(lambda names: reads(_texts(names)), _name_tensors(filenames))
        filenames = DatasetV2.from_tensor_slices(
            [n for tensor in _name_tensors(filenames) for n in _texts([tensor])]
        )
    if filenames.element_spec.dtype != dtypes.string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
            f"{filenames.element_spec.dtype!r} elements."
        )

    def one_file(name):
        return DatasetV2(made(lambda names: reads(_texts(names)), [name]), _TEXT)

    if parallel is None:
        return filenames.flat_map(one_file)._handle
    cycle = number_of(parallel, "num_parallel_reads")
    cycle = None if cycle == AUTOTUNE else cycle
    return filenames.interleave(one_file, cycle, num_parallel_calls=parallel)._handle


def _opened(path, compression):
    if compression == "GZIP":
        return gzip.open(path, "rb")
    if compression != "ZLIB":
        raise ValueError(f'compression_type must be "", "ZLIB" or "GZIP", got {compression!r}')
    with open(path, "rb") as file:
        return io.BytesIO(zlib.decompress(file.read()))


def _compression(given):
    if isinstance(given, Tensor):
        given = given.numpy().decode()
    return given or ""


class _Reader(DatasetV2):
    """What ``reads`` (names → handle) gives of files."""

    def __init__(self, filenames, reads, parallel):
        super().__init__(_reading(filenames, reads, parallel), _TEXT)
        self._files, self._of_files = filenames, lambda names: _Reader(names, reads, parallel)


class TextLineDataset(_Reader):
    """The lines of text files, without their ends."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None,
                 name=None):  # fmt: skip
        buffer, compression = int(buffer_size or 0), _compression(compression_type)

        def reads(names):
            if not compression:
                return _tidemark.dataset_text_lines(names, buffer)

            def lines():
                for path in names:
                    with _opened(path, compression) as file:
                        for line in file:
                            yield [convert_to_tensor(line.rstrip(b"\n").removesuffix(b"\r"))]

            return _tidemark.dataset_from_python(lines, UNKNOWN_CARDINALITY)

        super().__init__(filenames, reads, num_parallel_reads)


class TFRecordDataset(_Reader):
    """The records of TFRecord files, as strings."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None,
                 name=None):  # fmt: skip
        compression = _compression(compression_type)

        def reads(names):
            if not compression:
                return _tidemark.dataset_tf_records(names)
            from tidemark.io import _tfrecord  # loaded on first use

            def records():
                for path in names:
                    for record in _tfrecord.tf_record_iterator(path, compression):
                        yield [convert_to_tensor(record)]

            return _tidemark.dataset_from_python(records, UNKNOWN_CARDINALITY)

        super().__init__(filenames, reads, num_parallel_reads)


class FixedLengthRecordDataset(_Reader):
    """Pieces of files, all of one length."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None,
                 buffer_size=None, compression_type=None, num_parallel_reads=None,
                 name=None):  # fmt: skip
        size, compression = int(record_bytes), _compression(compression_type)
        head, foot = int(header_bytes or 0), int(footer_bytes or 0)

        def reads(names):
            if not compression:
                return _tidemark.dataset_fixed_records(names, size, head, foot)

            def records():
                for path in names:
                    with _opened(path, compression) as file:
                        body = file.read()
                    for at in range(head, len(body) - foot - size + 1, size):
                        yield [convert_to_tensor(body[at : at + size])]

            return _tidemark.dataset_from_python(records, UNKNOWN_CARDINALITY)

        super().__init__(filenames, reads, num_parallel_reads)
