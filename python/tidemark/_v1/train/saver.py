"""``tf.train.Saver``: the values of a session's variables in files, by their names.

They are written and restored one after the other: no more than one of them is held twice.
"""

from __future__ import annotations

import os
import time

import numpy as np

from tidemark import _tidemark, errors
from tidemark._graph.scopes import get_logger
from tidemark._trackable.checkpoint_files import (
    checkpoint_exists,
    open_checkpoint,
    remove_checkpoint,
    write_tensors,
)
from tidemark._v1.graph import Graph, GraphKeys, get_default_graph
from tidemark._v1.train.checkpoint_state import update_checkpoint_state
from tidemark.io import gfile


def _saved(var_list, allow_empty):
    if var_list is None:
        graph = get_default_graph()
        var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        var_list = var_list + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
    if not isinstance(var_list, dict):
        var_list = {v.name.partition(":")[0]: v for v in var_list}
    if any(getattr(v, "_save_slice_info", None) is not None or hasattr(v, "_get_partitions")
           for v in var_list.values()):  # fmt: skip
        from tidemark._v1.partitioned import with_parts_together  # few programs cut variables

        var_list = with_parts_together(var_list)
    if not var_list and not allow_empty:
        raise ValueError("No variables to save")
    return dict(var_list)


class Saver:
    """Saves the session's values and gives them back."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5,
                 keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False,
                 saver_def=None, builder=None, defer_build=False, allow_empty=False,
                 write_version=None, pad_step_number=False, save_relative_paths=False,
                 filename=None):  # fmt: skip
        if saver_def is not None:
            max_to_keep = saver_def.max_to_keep
            keep_checkpoint_every_n_hours = saver_def.keep_checkpoint_every_n_hours
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set "
                             "defer_build=False or var_list=None.")  # fmt: skip
        self._given, self._allow_empty, self._variables = var_list, allow_empty, None
        if not defer_build:
            self.build()
        self._most, self._reshape = max_to_keep, reshape
        self._hours, self._pad = keep_checkpoint_every_n_hours, pad_step_number
        self._kept = []  # (path, time), the oldest first
        self._next_lasting = time.time() + self._hours * 3600

    last_checkpoints = property(lambda self: [path for path, _ in self._kept])

    def build(self):
        """Finds the variables to save, if it was deferred."""
        self._variables = _saved(self._given, self._allow_empty)

    def _built(self):
        if self._variables is None:
            raise RuntimeError("`build()` should be called before save or restore if "
                               "defer_build==True")  # fmt: skip
        return self._variables

    def as_saver_def(self):
        """How checkpoints are kept. No nodes of the graph save and restore here."""
        from tidemark._proto.meta_graph import SaverDef  # few programs ask

        return SaverDef(
            max_to_keep=self._most or 0,
            keep_checkpoint_every_n_hours=self._hours,
            version=SaverDef.V2,
        )

    to_proto = as_saver_def
    saver_def = property(as_saver_def)

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False,
                          export_scope=None, clear_devices=False, clear_extraneous_savers=False,
                          strip_default_attrs=False, save_debug_info=False):  # fmt: skip
        """The graph and its collections as a message, written to a file if one is named."""
        from tidemark._v1.train.meta_graph import export_meta_graph  # it imports this module

        return export_meta_graph(
            filename, collection_list=collection_list, as_text=as_text, export_scope=export_scope,
            clear_devices=clear_devices,
        )  # fmt: skip

    def set_last_checkpoints(self, last_checkpoints):
        self._kept = [(path, time.time()) for path in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths):
        self._kept = [(p, time.time()) for p in checkpoint_paths if checkpoint_exists(p)]

    def save(self, sess, save_path, global_step=None, latest_filename=None,
             meta_graph_suffix="meta", write_meta_graph=True, write_state=True,
             strip_default_attrs=False, save_debug_info=False):  # fmt: skip
        """Writes the values of the session; the name of the checkpoint.

        Eager variables are saved as they are, without a session.
        """
        variables = self._built()
        if global_step is not None:
            if not isinstance(global_step, (int, np.integer)):
                global_step = int(sess.run(global_step))
            number = f"{global_step:08d}" if self._pad else str(global_step)
            save_path = f"{save_path}-{number}"
        path = gfile._path(save_path)
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        write_tensors(path, (
            (name, _tidemark.convert(value_in(sess, variable)))
            for name, variable in variables.items()
        ))  # fmt: skip
        graph = getattr(sess, "graph", None)
        if write_meta_graph and isinstance(graph, Graph):
            _write_meta_graph(graph, f"{path}.{meta_graph_suffix}")
        if write_state:
            gone = self._forget_old(save_path)
            paths = [kept for kept, _ in self._kept]
            # The file that names the latest is replaced before an older checkpoint goes.
            update_checkpoint_state(folder, save_path, paths, latest_filename)
            for path in gone:
                remove_checkpoint(path)
        return save_path

    def _forget_old(self, newest):
        """The checkpoints that are no longer kept; none where all are, and none is remembered."""
        gone = []
        if not self._most:
            return gone
        self._kept = [(path, at) for path, at in self._kept if path != newest]
        self._kept.append((newest, time.time()))
        while len(self._kept) > self._most:
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
        variables, path = self._built(), gfile._path(save_path)
        if not variables:
            return
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        file = open_checkpoint(path)
        keys = _keys_of(file, variables)
        for name, variable in variables.items():  # all are looked at before any changes
            if _is_saveable(variable) and not hasattr(variable, "shape"):
                continue
            shape = file.entries[keys[name]][1]
            if not self._reshape and not variable.shape.is_compatible_with(shape):
                raise errors.InvalidArgumentError(
                    None, None, f"Assign requires shapes of both tensors to match: {name} has "
                    f"shape {variable.shape} and the checkpoint {shape}",
                )  # fmt: skip
            file.verify(keys[name])
        for name, variable in variables.items():
            value = file.read(keys[name]).numpy()
            if _is_saveable(variable):
                variable.load(value, sess)
                continue
            if not variable.shape.is_compatible_with(value.shape):
                value = value.reshape(variable.shape.as_list())
            if _is_eager(variable):
                variable.assign(value)
            else:
                variable.load(value, sess)


def _is_saveable(variable):
    """Whether it is no variable, and says itself what is saved of it."""
    return hasattr(variable, "value_in")


def _is_eager(variable):
    return not getattr(variable, "is_graph_variable", False)


def value_in(sess, variable):
    if _is_saveable(variable):
        return variable.value_in(sess)
    return variable.numpy() if _is_eager(variable) else sess.run(variable)


def _write_meta_graph(graph, path):
    """The graph beside its values; one that cannot be written is told of and left out."""
    from tidemark._v1.train.meta_graph import export_meta_graph  # it imports this module

    try:
        export_meta_graph(path, graph=graph)
    except (errors.UnimplementedError, NotImplementedError) as error:
        get_logger().warning("The graph is not written beside its values: %s", error)


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
