"""Which checkpoints a folder has, and what they hold."""

from __future__ import annotations

import contextlib
import os

from tidemark import _tidemark, errors
from tidemark._proto import text
from tidemark._proto.checkpoint_state import CheckpointState
from tidemark._proto.framework import DataType
from tidemark._trackable.checkpoint_files import checkpoint_exists, open_checkpoint
from tidemark._trackable.checkpoint_files import remove_checkpoint as remove_files


class CheckpointReader:
    """What a checkpoint holds; reads one variable at a time."""

    def __init__(self, prefix):
        self._file = open_checkpoint(prefix)

    def get_variable_to_shape_map(self):
        return {name: list(shape) for name, (_, shape) in self._file.entries.items()}

    def get_variable_to_dtype_map(self):
        return {name: dtype for name, (dtype, _) in self._file.entries.items()}

    def has_tensor(self, name):
        return name in self._file.entries

    def debug_string(self):
        """A line for each tensor: its name, type and shape."""
        rows = (
            f"{name} ({DataType.Name(dtype.as_datatype_enum)}) [{','.join(map(str, shape))}]\n"
            for name, (dtype, shape) in sorted(self._file.entries.items())
        )
        return "".join(rows).encode()

    def get_tensor(self, name):
        """The array of this name."""
        if name not in self._file.entries:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._file.read(name).numpy()


def _state(latest, paths, times, last_preserved_timestamp, placed):
    """What a folder's file says; ``placed``: how a path is written."""
    paths, times = list(paths or []), list(times or [])
    if latest not in paths:
        paths.append(latest)
    if times and len(times) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got {len(paths)} "
            f"paths and {len(times)} timestamps)"
        )
    state = CheckpointState(
        model_checkpoint_path=placed(latest),
        all_model_checkpoint_paths=list(map(placed, paths)),
        all_model_checkpoint_timestamps=times,
    )
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    return state


def generate_checkpoint_state_proto(save_dir, model_checkpoint_path,
                                    all_model_checkpoint_paths=None,
                                    all_model_checkpoint_timestamps=None,
                                    last_preserved_timestamp=None):  # fmt: skip
    """The message that names a folder's checkpoints; in a relative folder by relative paths."""

    def placed(path):
        is_whole = os.path.isabs(save_dir) or os.path.isabs(path)
        return path if is_whole else os.path.relpath(path, save_dir)

    return _state(
        model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps,
        last_preserved_timestamp, placed,
    )  # fmt: skip


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                            latest_filename=None, all_model_checkpoint_timestamps=None,
                            last_preserved_timestamp=None):  # fmt: skip
    """Writes which checkpoint of the folder is the latest."""
    folder = save_dir or "."

    def placed(path):
        """Relative to the folder, which may be moved; elsewhere it is where it is."""
        inside = os.path.relpath(path, folder)
        is_elsewhere = os.path.isabs(path) and inside.split(os.sep)[0] == os.pardir
        return path if is_elsewhere else inside

    state = _state(
        model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps,
        last_preserved_timestamp, placed,
    )  # fmt: skip
    where = os.path.join(save_dir or ".", latest_filename or "checkpoint")
    _tidemark.write_file(where, text.to_text(state).encode())


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When the checkpoints were written, in seconds; those that are not there are left out."""
    found = []
    for prefix in checkpoint_prefixes:
        for suffix in (".index", ""):
            if os.path.exists(prefix + suffix):
                found.append(os.path.getmtime(prefix + suffix))
                break
    return found


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Removes the files of a checkpoint and the graph beside it."""
    remove_files(checkpoint_prefix)
    if meta_graph_suffix != "meta":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{checkpoint_prefix}.{meta_graph_suffix}")


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """What the folder says of its checkpoints; None where it says nothing."""
    where = os.path.join(checkpoint_dir, latest_filename or "checkpoint")
    state = CheckpointState()
    try:
        with open(where, encoding="utf-8") as file:
            text.from_text(file.read(), state)
    except (OSError, ValueError):  # none, or a damaged one
        return None
    absolute = lambda p: p if os.path.isabs(p) else os.path.join(checkpoint_dir, p)  # noqa: E731
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = absolute(state.model_checkpoint_path)
    paths = list(map(absolute, state.all_model_checkpoint_paths))
    del state.all_model_checkpoint_paths[:]
    state.all_model_checkpoint_paths.extend(paths)
    return state


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The latest checkpoint of the folder that is there; None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    path = state.model_checkpoint_path if state else ""
    return path if path and checkpoint_exists(path) else None


def list_variables(ckpt_dir_or_file):
    """(name, shape) of everything in a checkpoint."""
    reader = load_checkpoint(ckpt_dir_or_file)
    return sorted(reader.get_variable_to_shape_map().items())


def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the latest one of a folder."""
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        path = latest_checkpoint(path)
        if path is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in {ckpt_dir_or_file}"
            )
    return CheckpointReader(path)


def NewCheckpointReader(filepattern):
    """A reader of the checkpoint with this prefix."""
    return CheckpointReader(filepattern)


def load_variable(ckpt_dir_or_file, name):
    """The array of one name."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
