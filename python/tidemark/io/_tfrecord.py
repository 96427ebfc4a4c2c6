"""TFRecord files: records with their lengths and checksums."""

from __future__ import annotations

import struct
import zlib

from tidemark import _tidemark
from tidemark.errors import DataLossError, FailedPreconditionError
from tidemark.io import gfile

_TYPES = {"": "", None: "", 0: "", 1: "ZLIB", 2: "GZIP", "ZLIB": "ZLIB", "GZIP": "GZIP"}


class TFRecordCompressionType:
    """How a file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How records are written and read."""

    def __init__(
        self,
        compression_type=None,
        flush_mode=None,
        input_buffer_size=None,
        output_buffer_size=None,
        window_bits=None,
        compression_level=None,
        compression_method=None,
        mem_level=None,
        compression_strategy=None,
    ):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """ "", "ZLIB" or "GZIP" from options, a name or a number."""
        while isinstance(options, TFRecordOptions):  # given in place of a type
            options = options.compression_type
        if options not in _TYPES:
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return _TYPES[options]


def _masked(data):
    """The checksum of TFRecord files: CRC32C, turned so that a checksum of checksums is none."""
    crc = _tidemark.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _compressor(options, kind):
    """What compresses as the options say; unsaid ones are TensorFlow's defaults."""

    def said(value, default):
        return default if value is None else value

    return zlib.compressobj(
        said(options.compression_level, zlib.Z_DEFAULT_COMPRESSION),
        said(options.compression_method, zlib.DEFLATED),
        said(options.window_bits, zlib.MAX_WBITS) + (16 if kind == "GZIP" else 0),
        said(options.mem_level, 9),
        said(options.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
    )


class TFRecordWriter:
    """Writes records to a file."""

    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._file = gfile.GFile(path, "wb")
        kind = TFRecordOptions.get_compression_type_string(options)
        self._compress = _compressor(options, kind) if kind else None
        self._put(b"")

    def _put(self, data):
        self._opened().write(data if self._compress is None else self._compress.compress(data))

    def _opened(self):
        if self._file is None:
            raise FailedPreconditionError(
                None, None, "Writer not initialized or previously closed: open another one"
            )
        return self._file

    def write(self, record):
        """Appends one record."""
        if not isinstance(record, (bytes, bytearray, memoryview)):
            record = record.numpy() if hasattr(record, "numpy") else str(record).encode()
        record = bytes(record)
        length = struct.pack("<Q", len(record))
        checks = struct.pack("<I", _masked(length)), struct.pack("<I", _masked(record))
        self._put(length + checks[0] + record + checks[1])

    def flush(self):
        """Hands what was written to the system."""
        file = self._opened()
        if self._compress is not None:
            file.write(self._compress.flush(zlib.Z_SYNC_FLUSH))
        file.flush()

    def close(self):
        """Ends the file."""
        if self._file is None:
            return
        if self._compress is not None:
            self._file.write(self._compress.flush())
        self._file.close()
        self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Inflated:
    """A zlib or gzip file read as it is decompressed; one that is still written ends early."""

    def __init__(self, file):
        self._file, self._inflate, self._kept = file, _inflater(), b""

    def read(self, size):
        while len(self._kept) < size:
            block = self._inflate.unused_data or self._file.read(1 << 16)
            if not block:
                break
            if self._inflate.eof:  # one stream ended: another follows
                self._inflate = _inflater()
            self._kept += self._inflate.decompress(block)
        out, self._kept = self._kept[:size], self._kept[size:]
        return out


def _inflater():
    return zlib.decompressobj(zlib.MAX_WBITS + 32)  # + 32: whichever of the two the header says


def _read(stream, size, what, path):
    try:
        data = stream.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise DataLossError(None, None, f"{path}: {error}") from None
    if len(data) != size and (data or what != "a record's length"):
        raise DataLossError(None, None, f"truncated record in {path}: {what} is cut off")
    return data


_MAX_BLOCK = 1 << 24


def _read_record(stream, size, path):
    """A record in blocks, so that a false length costs no more memory than the file has bytes."""
    parts = []
    while size > 0:
        parts.append(_read(stream, min(size, _MAX_BLOCK), "a record", path))
        size -= len(parts[-1])
    return b"".join(parts)


class _Records:
    """The records of a file one by one; at its end, until it grows, there is none."""

    def __init__(self, path, kind):
        self._path, self._kind, self._place = path, kind, 0
        self._file = self._stream = None
        self.reopen()

    def close(self):
        """Lets the file go; `reopen` goes on behind the last record that was read."""
        if self._file is not None:
            self._file.close()
        self._file = self._stream = None

    def reopen(self):
        self.close()
        with gfile._translated():
            self._file = open(gfile._path(self._path), "rb")  # noqa: SIM115  close() closes it
        self._stream = _Inflated(self._file) if self._kind else self._file
        left = self._place
        while left > 0:
            skipped = len(_read(self._stream, min(left, _MAX_BLOCK), "what was read", self._path))
            left -= skipped

    def __iter__(self):
        return self

    def __next__(self):
        if self._stream is None:
            raise StopIteration
        stream, path = self._stream, self._path
        length = _read(stream, 8, "a record's length", path)
        if not length:
            raise StopIteration
        if struct.unpack("<I", _read(stream, 4, "a checksum", path))[0] != _masked(length):
            raise DataLossError(None, None, f"corrupted record in {path}: its length is wrong")
        record = _read_record(stream, struct.unpack("<Q", length)[0], path)
        if struct.unpack("<I", _read(stream, 4, "a checksum", path))[0] != _masked(record):
            raise DataLossError(None, None, f"corrupted record in {path}: its bytes are wrong")
        self._place += 16 + len(record)
        return record


def tf_record_iterator(path, options=None):
    """Yields the records of a file; DataLossError where it is damaged."""
    return _Records(path, TFRecordOptions.get_compression_type_string(options))
