"""``tf.io.gfile``: local files under TensorFlow's names and errors."""

from __future__ import annotations

import contextlib as _contextlib
import errno as _errno
import glob as _glob
import os as _os
import shutil as _shutil

from tidemark import errors as _errors

_ERRORS = {
    _errno.ENOENT: _errors.NotFoundError,
    _errno.EEXIST: _errors.AlreadyExistsError,
    _errno.ENOTEMPTY: _errors.FailedPreconditionError,
    _errno.ENOTDIR: _errors.FailedPreconditionError,
    _errno.EISDIR: _errors.FailedPreconditionError,
    _errno.EACCES: _errors.PermissionDeniedError,
    _errno.EPERM: _errors.PermissionDeniedError,
    _errno.EINVAL: _errors.InvalidArgumentError,
}


@_contextlib.contextmanager
def _translated():
    """Errors of the system as TensorFlow's."""
    try:
        yield
    except OSError as error:
        kind = _ERRORS.get(error.errno, _errors.UnknownError)
        raise kind(None, None, f"{error.filename}; {error.strerror}") from None


def _path(path):
    """A local path from a string, bytes or an object that is one."""
    path = _os.fspath(path)
    text = _os.fsdecode(path)
    if text.startswith("file://"):
        return text[len("file://") :]
    scheme, found, _ = text.partition("://")
    if found and scheme.isalnum():
        raise _errors.UnimplementedError(
            None,
            None,
            f"File system scheme '{scheme}' not implemented (file: '{text}'); local files are",
        )
    return text


def _like(given, text):
    return _os.fsencode(text) if isinstance(given, bytes) else text


class GFile:
    """A file, opened when it is first read or written.

    Reading and writing have places of their own, as in TensorFlow: what is written and flushed can
    be read from the start on. The first write empties the file in all modes but "a" and "a+".
    """

    def __init__(self, name, mode="r"):
        base = mode.replace("b", "")
        if base not in ("r", "w", "a", "r+", "w+", "a+"):
            raise _errors.InvalidArgumentError(
                None, None, f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}"
            )
        self._name = name
        self._mode = mode
        self._readable, self._writable = base in ("r", "r+", "w+", "a+"), base != "r"
        self._reader = self._writer = None

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _reading(self):
        if not self._readable:
            raise _errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._reader is None:
            with _translated():
                self._reader = open(_path(self._name), "rb")  # noqa: SIM115  close() closes it
        return self._reader

    def _writing(self):
        if not self._writable:
            raise _errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._writer is None:
            with _translated():
                mode = "ab" if self._mode.startswith("a") else "wb"
                self._writer = open(_path(self._name), mode)  # noqa: SIM115  close() closes it
        return self._writer

    def _decoded(self, data):
        return data if "b" in self._mode else data.decode()

    def read(self, n=-1):
        """The next n bytes (all that are left by default)."""
        with _translated():
            return self._decoded(self._reading().read(-1 if n is None else n))

    def readline(self):
        """The next line, with its end."""
        return self._decoded(self._reading().readline())

    def readlines(self):
        """All lines that are left."""
        return [self._decoded(line) for line in self._reading().readlines()]

    def write(self, file_content):
        """Appends to what was written before."""
        data = file_content
        if not isinstance(data, (bytes, bytearray, memoryview)):
            data = str(data).encode()
        with _translated():
            self._writing().write(data)

    def seek(self, offset=None, whence=0, position=None):
        """Goes to a place in the file, to read there."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set at the same time")
        if whence not in (0, 1, 2):
            raise _errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        with _translated():
            self._reading().seek(position if offset is None else offset, whence)

    def seekable(self):
        return True

    def tell(self):
        """The place in the file: where it is read next, or written where it cannot be read."""
        return (self._reading() if self._readable else self._writing()).tell()

    def size(self):
        """The size of the file in bytes."""
        self.flush()
        return stat(self._name).length

    def flush(self):
        """Hands what was written to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self):
        """Closes the file; one that nothing was written to is left as it was."""
        for file in (self._reader, self._writer):
            if file is not None:
                file.close()
        self._reader = self._writer = None

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class FileStatistics:
    """Size and time of a file."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def exists(path):
    """Whether there is a file or folder."""
    return _os.path.exists(_path(path))


def isdir(path):
    """Whether it is a folder."""
    return _os.path.isdir(_path(path))


def stat(path):
    """Size and time of a file."""
    with _translated():
        found = _os.stat(_path(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, _os.path.isdir(_path(path)))


def glob(pattern):
    """The files that match a pattern, or one of several, sorted."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, _os.PathLike)) else pattern
    return sorted(_like(each, name) for each in patterns for name in _glob.glob(_path(each)))


def listdir(path):
    """The names in a folder."""
    if not isdir(path):
        raise _errors.NotFoundError(None, None, f"Could not find directory {path!r}")
    with _translated():
        return [_like(path, name) for name in _os.listdir(_path(path))]


def mkdir(path):
    """Makes a folder in one that is there."""
    with _translated():
        _os.mkdir(_path(path))


def makedirs(path):
    """Makes a folder and those it lies in; fine when it is there."""
    with _translated():
        _os.makedirs(_path(path), exist_ok=True)


def remove(path):
    """Removes a file."""
    with _translated():
        _os.remove(_path(path))


def rmtree(path):
    """Removes a folder and all in it."""
    if not exists(path):
        raise _errors.NotFoundError(None, None, f"{path!r}; No such file or directory")
    with _translated():
        _shutil.rmtree(_path(path))


def rename(src, dst, overwrite=False):
    """Gives a file or folder another name."""
    if not overwrite and exists(dst):
        raise _errors.AlreadyExistsError(None, None, f"file already exists: {dst!r}")
    with _translated():
        _os.replace(_path(src), _path(dst))


def copy(src, dst, overwrite=False):
    """Copies a file."""
    if not overwrite and exists(dst):
        raise _errors.AlreadyExistsError(None, None, f"file already exists: {dst!r}")
    with _translated():
        _shutil.copyfile(_path(src), _path(dst))


def walk(top, topdown=True, onerror=None):
    """Yields (folder, its folders, its files) for a folder and all under it."""
    for folder, folders, files in _os.walk(_path(top), topdown, onerror):
        yield (
            _like(top, folder),
            [_like(top, name) for name in folders],
            [_like(top, name) for name in files],
        )


def join(path, *paths):
    """Parts of a path put together."""
    return _os.path.join(path, *paths)


def get_registered_schemes():
    """Schemes of paths that are known: local files."""
    return ["", "file"]
