"""``tf.train.MonitoredSession``: a session that initializes or restores, and calls hooks."""

from __future__ import annotations

from tidemark import errors
from tidemark._v1.graph import get_default_graph
from tidemark._v1.old_functions import tables_initializer
from tidemark._v1.session import Session
from tidemark._v1.train.checkpoint_state import latest_checkpoint
from tidemark._v1.train.coordinator import Coordinator
from tidemark._v1.train.hooks import (
    CheckpointSaverHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
)
from tidemark._v1.train.queues import start_queue_runners
from tidemark._v1.train.saver import Saver
from tidemark._v1.variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
)


class Scaffold:
    """The operations that get a session ready; made where they are not given."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None,
                 ready_for_local_init_op=None, local_init_op=None, summary_op=None, saver=None,
                 copy_from_scaffold=None, local_init_feed_dict=None):  # fmt: skip
        self._init_op, self._feeds, self._init_fn = init_op, init_feed_dict, init_fn
        self._local_init_op, self._saver = local_init_op, saver

    init_op = property(lambda self: self._init_op)
    init_fn = property(lambda self: self._init_fn)
    local_init_op = property(lambda self: self._local_init_op)
    saver = property(lambda self: self._saver)

    def finalize(self):
        """Makes what is missing."""
        if self._init_op is None:
            self._init_op = global_variables_initializer()
        if self._local_init_op is None:
            self._local_init_op = [local_variables_initializer(), tables_initializer()]
        if self._saver is None and global_variables():
            self._saver = Saver()
        return self


class ChiefSessionCreator:
    """Makes sessions whose variables have values: from a checkpoint, else their initial ones."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None,
                 checkpoint_filename_with_path=None):  # fmt: skip
        self._scaffold, self._config = scaffold or Scaffold(), config
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self):
        scaffold = self._scaffold.finalize()
        session = Session(config=self._config)
        path = self._path or (latest_checkpoint(self._folder) if self._folder else None)
        if path is not None and scaffold.saver is not None:
            scaffold.saver.restore(session, path)
        else:
            session.run(scaffold.init_op, scaffold._feeds)
            if scaffold.init_fn:
                scaffold.init_fn(scaffold, session)
        session.run(scaffold.local_init_op)
        return session


class MonitoredSession:
    """Runs until a hook or an end of the input says stop."""

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        self._hooks, self._grace = list(hooks or ()), stop_grace_period_secs
        self._coordinator, self._stop = Coordinator(), False
        for hook in self._hooks:
            hook.begin()
        self._session = (session_creator or ChiefSessionCreator()).create_session()
        self.graph = self._session.graph
        self._threads = start_queue_runners(self._session, self._coordinator)
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)
        get_default_graph().finalize()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """As a session's, with what the hooks ask for."""
        if self._session is None:
            raise RuntimeError("Run called even after should_stop requested.")
        args = SessionRunArgs(fetches, feed_dict)
        context = SessionRunContext(args, self._session)
        wanted, feeds = {"caller": fetches}, dict(feed_dict or {})
        asking = []
        for number, hook in enumerate(self._hooks):
            more = hook.before_run(context)
            if more is not None:
                asking.append(number)
                wanted[f"hook {number}"] = more.fetches
                feeds.update(more.feed_dict or {})
        found = {key: self._fetched(value, feeds) for key, value in wanted.items()} if (
            None in wanted.values()) else self._session.run(wanted, feeds)  # fmt: skip
        for number, hook in enumerate(self._hooks):
            hook.after_run(context, SessionRunValues(found.get(f"hook {number}")))
        self._stop = self._stop or context.stop_requested
        return found["caller"]

    def _fetched(self, fetches, feeds):
        return None if fetches is None else self._session.run(fetches, feeds)

    def run_step_fn(self, step_fn):
        """Calls a function with a context that has ``session`` and ``run_with_hooks``."""
        return step_fn(_StepContext(self))

    def should_stop(self):
        return self._session is None or self._stop or self._coordinator.should_stop()

    def close(self):
        self._ended(None)

    def _ended(self, error):
        session, self._session = self._session, None
        if session is None:
            return
        try:
            if error is None:
                for hook in self._hooks:
                    hook.end(session)
        finally:
            self._coordinator.request_stop()
            try:
                self._coordinator.join(self._threads, self._grace, ignore_live_threads=True)
            finally:
                session.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        ends = (errors.OutOfRangeError, StopIteration)
        self._ended(None if kind is None or issubclass(kind, ends) else error)
        return kind is not None and issubclass(kind, ends)


class _StepContext:
    def __init__(self, monitored):
        self._monitored = monitored

    session = property(lambda self: self._monitored._session)

    def run_with_hooks(self, *args, **kwargs):
        return self._monitored.run(*args, **kwargs)

    def request_stop(self):
        raise StopIteration("step_fn has requested the iterations to stop.")


class SingularMonitoredSession(MonitoredSession):
    """The same; errors come through."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None,
                 stop_grace_period_secs=120, checkpoint_filename_with_path=None):  # fmt: skip
        maker = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(maker, hooks, stop_grace_period_secs)

    def raw_session(self):
        return self._session


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None,
                             hooks=None, chief_only_hooks=None, save_checkpoint_secs=600,
                             save_summaries_steps=None, save_summaries_secs=None, config=None,
                             stop_grace_period_secs=120, log_step_count_steps=100,
                             max_wait_secs=7200, save_checkpoint_steps=None,
                             summary_dir=None, save_graph_def=True):  # fmt: skip
    """A monitored session that saves checkpoints to the folder and goes on from the latest."""
    scaffold = scaffold or Scaffold()
    every = [*(hooks or ()), *(chief_only_hooks or ())]
    if checkpoint_dir:
        steps = save_checkpoint_steps
        seconds = None if steps else save_checkpoint_secs
        if steps or seconds:
            every.append(CheckpointSaverHook(checkpoint_dir, seconds, steps, scaffold=scaffold))
    maker = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(maker, every, stop_grace_period_secs)
