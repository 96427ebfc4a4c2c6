"""Which checkpoints a folder has, and what they hold."""

from __future__ import annotations

import os

from tidemark import _tidemark, errors
from tidemark._proto import text
from tidemark._proto.checkpoint_state import CheckpointState
from tidemark._trackable.checkpoint_files import checkpoint_exists, open_checkpoint


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

    def get_tensor(self, name):
        """The array of this name."""
        if name not in self._file.entries:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._file.read(name).numpy()


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                            latest_filename=None, all_model_checkpoint_timestamps=None,
                            last_preserved_timestamp=None):  # fmt: skip
    """Writes which checkpoint of the folder is the latest."""
    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got {len(paths)} "
            f"paths and {len(times)} timestamps)"
        )
    relative = lambda p: os.path.relpath(p, save_dir or ".")  # noqa: E731
    state = CheckpointState(
        model_checkpoint_path=relative(model_checkpoint_path),
        all_model_checkpoint_paths=list(map(relative, paths)),
        all_model_checkpoint_timestamps=times,
    )
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    where = os.path.join(save_dir or ".", latest_filename or "checkpoint")
    _tidemark.write_file(where, text.to_text(state).encode())


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
    if state.model_checkpoint_path:
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
