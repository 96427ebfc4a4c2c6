"""``tf.train.Saver``: the values of a session's variables in files, by their names.

They are written and restored one after the other: no more than one of them is held twice.
"""

from __future__ import annotations

import os
import time

import numpy as np

from tidemark import _tidemark, errors
from tidemark._trackable.checkpoint_files import (
    checkpoint_exists,
    open_checkpoint,
    remove_checkpoint,
    write_tensors,
)
from tidemark._v1.graph import GraphKeys, get_default_graph
from tidemark._v1.train.checkpoint_state import update_checkpoint_state


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
        write_tensors(save_path, (
            (name, _tidemark.convert(sess.run(variable)))
            for name, variable in self._variables.items()
        ))  # fmt: skip
        if write_state:
            gone = self._forget_old(save_path)
            paths = [path for path, _ in self._kept]
            # The file that names the latest is replaced before an older checkpoint goes.
            update_checkpoint_state(folder, save_path, paths, latest_filename)
            for path in gone:
                remove_checkpoint(path)
        return save_path

    def _forget_old(self, newest):
        """The checkpoints that are no longer kept."""
        gone = []
        self._kept = [(path, at) for path, at in self._kept if path != newest]
        self._kept.append((newest, time.time()))
        while self._most and len(self._kept) > self._most:
            path, at = self._kept.pop(0)
            if at > self._next_lasting:
                self._next_lasting += self._hours * 3600
                continue
            gone.append(path)
        return gone

    def restore(self, sess, save_path):
        """Gives the session the values of a checkpoint."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if self._variables is None:
            self.build()
        if not checkpoint_exists(str(save_path)):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        file = open_checkpoint(str(save_path))
        keys = _keys_of(file, self._variables)
        for name, variable in self._variables.items():  # all are looked at before any changes
            shape = file.entries[keys[name]][1]
            if not self._reshape and not variable.shape.is_compatible_with(shape):
                raise errors.InvalidArgumentError(
                    None, None, f"Assign requires shapes of both tensors to match: {name} has "
                    f"shape {variable.shape} and the checkpoint {shape}",
                )  # fmt: skip
            file.verify(keys[name])
        for name, variable in self._variables.items():
            value = file.read(keys[name]).numpy()
            if not variable.shape.is_compatible_with(value.shape):
                value = value.reshape(variable.shape.as_list())
            variable.load(value, sess)


def _keys_of(file, names):
    """name → key. A checkpoint of objects knows the names their variables had."""
    if all(name in file.entries for name in names):
        return {name: name for name in names}
    known = {}
    for record in file.objects() or ():
        known.update({record.full_names.get(part): key for part, key in record.state.items()})
    for name in names:
        if known.get(name) not in file.entries:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
    return known


def _any_variables(var_list):
    if var_list is not None:
        return bool(var_list)
    return bool(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
