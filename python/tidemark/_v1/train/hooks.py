"""What is called around each run of a monitored session."""

from __future__ import annotations

import collections
import logging
import os
import time

import numpy as np

from tidemark._v1.train.steps import get_global_step

SessionRunArgs = collections.namedtuple(
    "SessionRunArgs", ["fetches", "feed_dict", "options"], defaults=(None, None)
)
SessionRunValues = collections.namedtuple(
    "SessionRunValues", ["results", "options", "run_metadata"], defaults=(None, None)
)
_log = logging.getLogger("tidemark")


class SessionRunContext:
    """One run, as hooks see it."""

    def __init__(self, original_args, session):
        self._args, self._session, self._stop = original_args, session, False

    original_args = property(lambda self: self._args)
    session = property(lambda self: self._session)
    stop_requested = property(lambda self: self._stop)

    def request_stop(self):
        self._stop = True


class SessionRunHook:
    """Subclasses override what they need."""

    def begin(self):
        """Before the graph is finalized."""

    def after_create_session(self, session, coord):
        """When there is a session."""

    def before_run(self, run_context):
        """More fetches, as SessionRunArgs, or None."""

    def after_run(self, run_context, run_values):
        """With what was fetched."""

    def end(self, session):
        """When the session ends without an error."""


class _Timer:
    """Every so many steps or seconds."""

    def __init__(self, every_steps=None, every_secs=None):
        if (every_steps is None) == (every_secs is None):
            raise ValueError("exactly one of every_steps and every_secs should be provided.")
        self._steps, self._seconds = every_steps, every_secs
        self._last_step, self._last_time = None, None

    def is_due(self, step):
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._steps is not None:
            return step >= self._last_step + self._steps
        return time.monotonic() >= self._last_time + self._seconds

    def note(self, step):
        self._last_step, self._last_time = step, time.monotonic()


class StopAtStepHook(SessionRunHook):
    """Stops after so many steps, or at a step."""

    def __init__(self, num_steps=None, last_step=None):
        if (num_steps is None) == (last_step is None):
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._count, self._last = num_steps, last_step

    def begin(self):
        self._step = get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")

    def after_create_session(self, session, coord):
        if self._last is None:
            self._last = int(session.run(self._step)) + self._count

    def after_run(self, run_context, run_values):
        # The step may be fetched before or after its own update: ask once the run is over.
        if int(run_context.session.run(self._step)) >= self._last:
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs or seconds."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False,
                 formatter=None):  # fmt: skip
        self._tensors = tensors if isinstance(tensors, dict) else {str(t): t for t in tensors}
        self._timer = _Timer(every_n_iter, every_n_secs) if every_n_iter or every_n_secs else None
        self._at_end, self._format, self._run = at_end, formatter, 0

    def before_run(self, run_context):
        self._due = self._timer is not None and self._timer.is_due(self._run)
        return SessionRunArgs(self._tensors) if self._due else None

    def after_run(self, run_context, run_values):
        if self._due:
            self._timer.note(self._run)
            self._show(run_values.results)
        self._run += 1

    def _show(self, values):
        text = ", ".join(f"{name} = {value}" for name, value in values.items())
        _log.info(self._format(values) if self._format else text)

    def end(self, session):
        if self._at_end:
            self._show(session.run(self._tensors))


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number any more."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops where the loss is not a number any more."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if np.isnan(run_values.results).any():
            if self._fails:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class CheckpointSaverHook(SessionRunHook):
    """Saves every so many steps or seconds, and at the end."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None,
                 checkpoint_basename="model.ckpt", scaffold=None, listeners=None,
                 save_graph_def=True):  # fmt: skip
        self._folder, self._saver, self._scaffold = checkpoint_dir, saver, scaffold
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = _Timer(save_steps, save_secs)

    def begin(self):
        self._step = get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use CheckpointSaverHook.")

    def _save(self, session, step):
        from tidemark._v1.train.saver import Saver  # loaded on first use

        if self._saver is None:
            self._saver = (self._scaffold and self._scaffold.saver) or Saver()
        os.makedirs(self._folder, exist_ok=True)
        self._saver.save(session, self._path, global_step=step)
        self._timer.note(step)

    def after_create_session(self, session, coord):
        self._save(session, int(session.run(self._step)))

    def after_run(self, run_context, run_values):
        step = int(run_context.session.run(self._step))
        if self._timer.is_due(step):
            self._save(run_context.session, step)

    def end(self, session):
        step = int(session.run(self._step))
        if step != self._timer._last_step:
            self._save(session, step)


class FinalOpsHook(SessionRunHook):
    """Fetches at the end."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._fetches, self._feeds, self._values = final_ops, final_ops_feed_dict, None

    final_ops_values = property(lambda self: self._values)

    def end(self, session):
        if self._fetches is not None:
            self._values = session.run(self._fetches, self._feeds)
