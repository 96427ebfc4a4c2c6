"""``tf.train.CheckpointManager``: the newest checkpoints of a folder, older ones deleted."""

from __future__ import annotations

import itertools
import os
import time

from tidemark._trackable.checkpoint_files import (
    checkpoint_exists,
    modification_time,
    open_checkpoint,
    remove_checkpoint,
)
from tidemark._v1.train.checkpoint_state import (
    get_checkpoint_state,
    latest_checkpoint,
    update_checkpoint_state,
)
from tidemark.errors import DataLossError
from tidemark.train._checkpoints import objects


class CheckpointManager:
    """Saves numbered checkpoints into a folder and keeps the newest of them."""

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None,
                 checkpoint_name="ckpt", step_counter=None, checkpoint_interval=None,
                 init_fn=None, last_checkpoint_step=None):  # fmt: skip
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is set.")
        self._checkpoint, self._folder = checkpoint, os.fspath(directory)
        self._most, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._folder, checkpoint_name)
        self._counter, self._interval = step_counter, checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._last_lasting = time.time()
        self._kept = []  # (path, time), the oldest first
        state = get_checkpoint_state(self._folder)
        paths = state.all_model_checkpoint_paths if state else ()
        times = state.all_model_checkpoint_timestamps if state else ()
        for path, at in itertools.zip_longest(paths, times):
            if path is not None and checkpoint_exists(path):
                self._kept.append((path, modification_time(path) if at is None else at))
        if state and state.last_preserved_timestamp:
            self._last_lasting = state.last_preserved_timestamp

    directory = property(lambda self: self._folder)
    checkpoint = property(lambda self: self._checkpoint)
    checkpoint_interval = property(lambda self: self._interval)
    latest_checkpoint = property(lambda self: self._kept[-1][0] if self._kept else None)
    checkpoints = property(lambda self: [path for path, _ in self._kept])

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Writes a checkpoint; the path. None: the last one is too recent."""
        if self._interval is not None and check_interval:
            step = objects.number_of(self._counter)
            if self._last_step is not None and step < self._last_step + self._interval:
                return None
        counter = self._checkpoint.save_counter
        before = objects.number_of(counter)
        number = before + 1 if checkpoint_number is None else objects.number_of(checkpoint_number)
        objects.assign(counter, before + 1)
        try:
            path = self._checkpoint.write(f"{self._prefix}-{number}", options)
        except BaseException:
            objects.assign(counter, before)
            raise
        if self._interval is not None:
            self._last_step = objects.number_of(self._counter)
        self._kept = [(p, at) for p, at in self._kept if p != path] + [(path, time.time())]
        # The file that names the latest is replaced before an older checkpoint goes.
        gone = self._too_old()
        update_checkpoint_state(
            self._folder, path, self.checkpoints,
            all_model_checkpoint_timestamps=[at for _, at in self._kept],
            last_preserved_timestamp=self._last_lasting,
        )  # fmt: skip
        for old in gone:
            if self._is_ours(old):
                remove_checkpoint(old)
        return path

    def _is_ours(self, path):
        """The file that names the checkpoints may name others; those outside are left alone."""
        folder = os.path.realpath(os.path.dirname(path))
        return folder == os.path.realpath(self._folder)

    def _too_old(self):
        gone = []
        while self._most is not None and len(self._kept) > self._most:
            path, at = self._kept.pop(0)
            if self._hours is not None and at - self._last_lasting >= self._hours * 3600:
                self._last_lasting = at
                continue
            gone.append(path)
        return gone

    def restore_or_initialize(self):
        """Restores the latest checkpoint; without one calls init_fn. What was restored; None."""
        path = self.latest_checkpoint
        if path is not None:
            self._checkpoint.restore(path)
            if self._counter is not None:
                self._last_step = objects.number_of(self._counter)
            return path
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        """Writing is done when ``save`` returns."""


class CheckpointView:
    """The objects of a checkpoint, to look at without making them."""

    def __init__(self, save_path):
        self._records = open_checkpoint(save_path).objects()
        if self._records is None:
            raise DataLossError(
                None, None, f"{save_path} holds no objects, only names; tf.train.list_variables "
                "tells them",
            )  # fmt: skip

    def children(self, node_id):
        """name → number of the object."""
        return dict(self._records[node_id].children)

    def descendants(self):
        """The numbers of all objects."""
        return list(range(len(self._records)))


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yields the latest checkpoint of a folder whenever there is a new one."""
    last = None
    while True:
        began = time.time()
        while True:
            found = latest_checkpoint(checkpoint_dir)
            if found is not None and found != last:
                break
            if timeout is not None and time.time() - began >= timeout:
                found = None
                break
            time.sleep(min(1.0, timeout or 1.0))
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last = found
        yield found
        time.sleep(max(0.0, min_interval_secs - (time.time() - began)))
