"""``tf.train.Saver``: the values of variables in files.

A checkpoint ``model-10`` is one file ``model-10.tidemark`` (docs/saved-model.md). It is written
under another name, flushed to the disk and renamed, so that a checkpoint is there as a whole or not
at all.
"""

from __future__ import annotations

import os
import re
import time

import numpy as np

from tidemark import _tidemark, errors
from tidemark._v1.graph import GraphKeys, get_default_graph
from tidemark.dtypes import as_dtype

_SUFFIX = ".tidemark"


def write_variables(prefix, values):
    """Writes arrays under their names."""
    tensors = {name: _tidemark.convert(value) for name, value in values.items()}
    _tidemark.write_tensors(prefix + _SUFFIX, tensors, "")


class CheckpointReader:
    """What a checkpoint holds; reads one variable at a time."""

    def __init__(self, prefix):
        path = prefix if prefix.endswith(_SUFFIX) else prefix + _SUFFIX
        try:
            self._file = _tidemark.TensorFile(path)
        except errors.NotFoundError as error:
            raise errors.NotFoundError(
                None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any "
                f"matching files for {prefix} ({error.message})",
            ) from None  # fmt: skip
        self._entries = self._file.entries

    def get_variable_to_shape_map(self):
        return {name: list(shape) for name, (_, shape) in self._entries.items()}

    def get_variable_to_dtype_map(self):
        return {name: as_dtype(dtype) for name, (dtype, _) in self._entries.items()}

    def has_tensor(self, name):
        return name in self._entries

    def get_tensor(self, name):
        """The array of this name."""
        if name not in self._entries:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._file.read(name).numpy()


# --- which checkpoints there are -----------------------------------------------------------------


class CheckpointState:
    """What the file ``checkpoint`` of a folder says."""

    def __init__(self, model_checkpoint_path="", all_model_checkpoint_paths=()):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                            latest_filename=None):  # fmt: skip
    """Writes which checkpoint of the folder is the latest."""
    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    relative = lambda p: os.path.relpath(p, save_dir or ".")  # noqa: E731
    lines = [f'model_checkpoint_path: "{relative(model_checkpoint_path)}"']
    lines += [f'all_model_checkpoint_paths: "{relative(path)}"' for path in paths]
    text = "\n".join(lines) + "\n"
    where = os.path.join(save_dir or ".", latest_filename or "checkpoint")
    _tidemark.write_file(where, text.encode())


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """What the folder says of its checkpoints; None where it says nothing."""
    where = os.path.join(checkpoint_dir, latest_filename or "checkpoint")
    try:
        with open(where, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    absolute = lambda p: p if os.path.isabs(p) else os.path.join(checkpoint_dir, p)  # noqa: E731
    latest = re.findall(r'^model_checkpoint_path: "(.*)"$', text, re.MULTILINE)
    every = re.findall(r'^all_model_checkpoint_paths: "(.*)"$', text, re.MULTILINE)
    return CheckpointState(absolute(latest[0]) if latest else "", map(absolute, every))


def checkpoint_exists(checkpoint_prefix):
    return os.path.exists(checkpoint_prefix + _SUFFIX)


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
    path = ckpt_dir_or_file
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
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.partition(":")[0])


# --- saving and restoring ------------------------------------------------------------------------


def _saved(var_list):
    if var_list is None:
        graph = get_default_graph()
        var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    if not isinstance(var_list, dict):
        var_list = {v.name.partition(":")[0]: v for v in var_list}
    if not var_list:
        raise ValueError("No variables to save")
    return dict(var_list)


class Saver:
    """Saves the session's values and gives them back."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5,
                 keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False,
                 saver_def=None, builder=None, defer_build=False, allow_empty=False,
                 write_version=None, pad_step_number=False, save_relative_paths=False,
                 filename=None):  # fmt: skip
        self._given, self._variables = var_list, None
        if not defer_build and not (allow_empty and not _any_variables(var_list)):
            self._variables = _saved(var_list)
        self._most, self._reshape = max_to_keep, reshape
        self._hours, self._pad = keep_checkpoint_every_n_hours, pad_step_number
        self._kept = []  # (path, time), the oldest first
        self._next_lasting = time.time() + self._hours * 3600

    last_checkpoints = property(lambda self: [path for path, _ in self._kept])

    def build(self):
        self._variables = _saved(self._given)

    def set_last_checkpoints(self, last_checkpoints):
        self._kept = [(path, time.time()) for path in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths):
        self._kept = [(p, time.time()) for p in checkpoint_paths if checkpoint_exists(p)]

    def save(self, sess, save_path, global_step=None, latest_filename=None,
             meta_graph_suffix="meta", write_meta_graph=True, write_state=True,
             strip_default_attrs=False, save_debug_info=False):  # fmt: skip
        """Writes the values of the session; the name of the checkpoint."""
        if self._variables is None:
            self.build()
        if global_step is not None:
            if not isinstance(global_step, (int, np.integer)):
                global_step = int(sess.run(global_step))
            number = f"{global_step:08d}" if self._pad else str(global_step)
            save_path = f"{save_path}-{number}"
        folder = os.path.dirname(save_path)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        write_variables(save_path, dict(zip(self._variables, sess.run(
            list(self._variables.values())), strict=True)))  # fmt: skip
        if write_state:
            self._forget_old(save_path)
            paths = [path for path, _ in self._kept]
            update_checkpoint_state(folder, save_path, paths, latest_filename)
        return save_path

    def _forget_old(self, newest):
        self._kept = [(path, at) for path, at in self._kept if path != newest]
        self._kept.append((newest, time.time()))
        while self._most and len(self._kept) > self._most:
            path, at = self._kept.pop(0)
            if at > self._next_lasting:
                self._next_lasting += self._hours * 3600
                continue
            if checkpoint_exists(path):
                os.unlink(path + _SUFFIX)

    def restore(self, sess, save_path):
        """Gives the session the values of a checkpoint."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if self._variables is None:
            self.build()
        if not checkpoint_exists(str(save_path)):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        reader = CheckpointReader(str(save_path))
        values = {}
        for name, variable in self._variables.items():  # all are read before any changes
            value = reader.get_tensor(name)
            if not variable.shape.is_compatible_with(value.shape):
                if not self._reshape:
                    raise errors.InvalidArgumentError(
                        None, None, f"Assign requires shapes of both tensors to match: {name} has "
                        f"shape {variable.shape} and the checkpoint {list(value.shape)}",
                    )  # fmt: skip
                value = value.reshape(variable.shape.as_list())
            values[name] = value
        for name, variable in self._variables.items():
            variable.load(values[name], sess)


def _any_variables(var_list):
    if var_list is not None:
        return bool(var_list)
    return bool(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
