"""Files of Keras's models: written whole or not at all, loaded whole or not at all.

Keras writes ``.keras``, ``.weights.h5`` and ``.h5`` files in place: an interrupt, a full disk or
a killed process leaves half a file where a good one was. And it loads weights layer by layer: a
file that breaks off leaves a model of both. Keras itself stays as it is; when the modules through
which programs save and load are imported, the functions they call are put into others that write
under another name first, and that put weights back.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import io
import itertools
import os
import shutil
import socket
import stat
import types
import zlib

_NUMBER = itertools.count()


# --- saving --------------------------------------------------------------------------------------


def _mark():
    """Between the name and the writer's process, which means something on one machine alone."""
    return f".writing-{zlib.crc32(socket.gethostname().encode()):08x}-"


def _remove_abandoned(folder):
    """What processes that were killed while they wrote have left."""
    mark = _mark()
    for entry in os.scandir(folder):
        _, found, rest = entry.name.rpartition(mark)
        writer = rest.partition("-")[0]
        if not found or not writer.isdigit() or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            os.kill(int(writer), 0)
        except ProcessLookupError:
            shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:
            pass  # it runs, as somebody else


def _sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _room_beside(path):
    """A new folder beside ``path``; None where it cannot be replaced, which Keras then finds out
    itself, or where there is nothing to replace (a pipe, a device)."""
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
    try:
        _remove_abandoned(folder)
        room = os.path.join(folder, f".{name[:150]}{_mark()}{os.getpid()}-{next(_NUMBER)}")
        os.mkdir(room, 0o700)
    except OSError:
        return None
    return room


def _move_all(room, folder):
    """Files into the folder, with the permissions of those they replace. The list of a sharded
    file's parts comes last."""
    names = sorted(os.listdir(room), key=lambda name: name.endswith(".json"))
    for name in names:
        new, old = os.path.join(room, name), os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(old, new)
        _sync(new)
    for name in names:
        os.replace(os.path.join(room, name), os.path.join(folder, name))
    with contextlib.suppress(OSError):
        _sync(folder)


@contextlib.contextmanager
def written_whole(path):
    """A name to write to instead of ``path``; what is written there takes its place at the end,
    and goes when something is raised."""
    path = os.path.realpath(path)  # a link stays one
    room = _room_beside(path)
    if room is None:
        yield path
        return
    folder, name = os.path.split(path)
    try:
        yield os.path.join(room, name)
        _move_all(room, folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)


# --- HDF5 on a disk that may be full -------------------------------------------------------------


class _Full(io.FileIO):
    """A file whose reads fill what they are given: behind its end are zeros."""

    error = None

    def readinto(self, buffer):
        room = memoryview(buffer).cast("B")
        have = 0
        while have < len(room) and (more := super().readinto(room[have:])):
            have += more
        room[have:] = bytes(len(room) - have)
        return len(room)

    def seek(self, place, whence=os.SEEK_SET):
        if place >= 1 << 63:  # as damaged files say
            raise OSError(errno.EINVAL, f"no file has a byte {place}", self.name)
        return super().seek(place, whence)


class _Patient(_Full):
    """A new file that takes every write. The HDF5 library ends the process when it cannot write
    what is left at the end; so it never learns of an error, which is kept instead."""

    def __init__(self, path):
        super().__init__(path, "w+b")

    def write(self, data):
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while len(rest) and self.error is None:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = error
        if len(rest):
            self.seek(len(rest), os.SEEK_CUR)
        return size

    def truncate(self, size=None):
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size


def _opened(name, mode):
    """The file, if it is told by its name. By names the HDF5 library takes a file that it could not
    close, since it was damaged, for the one that is there by now."""
    if not isinstance(name, (str, os.PathLike)) or mode not in ("r", "w"):
        return None
    return _Patient(name) if mode == "w" else _Full(name, "rb")


def _file_class(h5py):
    class File(h5py.File):
        """h5py's; a file that is made by its name and could not be written says so when it is
        closed."""

        def __init__(self, name, mode="r", **kwargs):
            self._opened = _opened(name, mode)
            self._name = None if self._opened is None else os.fspath(name)
            try:
                super().__init__(self._opened or name, mode, **kwargs)
            except BaseException:
                self._end()
                raise

        @property
        def filename(self):
            return self._name or super().filename

        def close(self):
            super().close()
            self._end()

        def _end(self):
            opened, self._opened = self._opened, None
            if opened is not None:
                opened.close()
                if opened.error is not None:
                    raise opened.error

    return File


class _With(types.ModuleType):
    """A module with some of its names replaced."""

    def __init__(self, module, **replaced):
        super().__init__(module.__name__)
        self.__dict__.update(replaced, _of=module)

    def __getattr__(self, name):
        return getattr(self._of, name)


# --- the functions -------------------------------------------------------------------------------


def _is_local(path):
    return isinstance(path, (str, os.PathLike)) and "://" not in os.fspath(path)


def _saving(module, name, writes_file, opens=None):
    """The module's function ``name(model, filepath, …)``. Where ``writes_file(arguments, path)``
    says that it writes files named by its path alone, these come whole. It gets the path, or what
    ``opens(path)`` gives."""
    signature = inspect.signature(getattr(module, name))

    @functools.wraps(getattr(module, name))
    def save(*args, **kwargs):
        function = getattr(module, name)  # by now it may be another one
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        path = given.arguments["filepath"]
        if not _is_local(path) or not writes_file(given.arguments, str(path)):
            return function(*args, **kwargs)
        with written_whole(path) as instead, (opens or contextlib.nullcontext)(instead) as given_to:
            given.arguments["filepath"] = given_to
            return function(*given.args, **given.kwargs)

    return save


def _variables_of(model):
    optimizer = getattr(model, "optimizer", None)
    found = [*model.variables, *(optimizer.variables if optimizer is not None else ())]
    return {id(v): v for v in found}.values()


def _loading(module, name):
    """The module's function ``name(model, filepath, …)``, which loads all or raises and changes
    nothing. Until it is through, the values that were there are kept: as much memory again as the
    weights have."""

    @functools.wraps(getattr(module, name))
    def load(model, filepath, *args, **kwargs):
        before = [(v, v.value.read_value()) for v in _variables_of(model)]
        try:
            return getattr(module, name)(model, filepath, *args, **kwargs)
        except BaseException as error:
            for variable, value in before:
                variable.assign(value)
            # What the HDF5 library says of damage inside of a file that it could open.
            if type(error) is RuntimeError:
                raise OSError(
                    f"{filepath} cannot be read as weights; the file is damaged ({error}). The "
                    "model has the weights it had."
                ) from error
            raise

    return load


# --- when Keras is imported ----------------------------------------------------------------------


def _writes_one_file(arguments, path):
    return arguments["zipped"] and path.endswith(".keras")


def _writes_weights(arguments, path):
    return path.endswith((".weights.h5", "weights.json"))


def _may_replace(arguments, path):
    in_a_folder = os.path.isdir(os.path.dirname(os.path.realpath(path)))
    return in_a_folder and (arguments["overwrite"] or not os.path.exists(path))


def _guarded_saving_lib(module):
    return _With(
        module,
        save_model=_saving(module, "save_model", _writes_one_file),
        save_weights_only=_saving(module, "save_weights_only", _writes_weights),
        load_weights_only=_loading(module, "load_weights_only"),
    )


def _guarded_legacy(module):
    if module.h5py is None:
        return module

    def opens(path):  # it takes an open file as well as a name
        return _file_class(module.h5py)(path, "w")

    save = _saving(module, "save_model_to_hdf5", _may_replace, opens)
    return _With(module, save_model_to_hdf5=save)


def _guard_users(module):
    """Of a module through which programs save and load."""
    module.saving_lib = _guarded_saving_lib(module.saving_lib)
    if hasattr(module, "legacy_h5_format"):
        module.legacy_h5_format = _guarded_legacy(module.legacy_h5_format)


def _guard_hdf5(module):
    if module.h5py is not None:
        module.h5py = _With(module.h5py, File=_file_class(module.h5py))


GUARDS = {
    "keras.src.saving.saving_lib": _guard_hdf5,
    "keras.src.saving.saving_api": _guard_users,
    "keras.src.layers.preprocessing.feature_space": _guard_users,
}
