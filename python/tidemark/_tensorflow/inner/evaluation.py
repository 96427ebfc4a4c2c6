"""``tensorflow.python.training.evaluation``: a checkpoint is measured once, in a session."""

from __future__ import annotations

import tidemark.compat.v1 as tf

EVAL_STEP = "eval_step"


def _get_or_create_eval_step():
    """The variable that counts evaluations; one for each graph."""
    found = tf.get_collection(EVAL_STEP)
    if len(found) > 1:
        raise ValueError(f"Multiple tensors added to `{EVAL_STEP}`")
    if found:
        return found[0]
    return tf.get_variable(
        EVAL_STEP, shape=[], dtype=tf.int64, initializer=tf.zeros_initializer(), trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, EVAL_STEP],
    )  # fmt: skip


class _StopAfterNEvalsHook(tf.train.SessionRunHook):
    """Ends the session when evaluations were run a number of times."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals, self._done = num_evals, None

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._done = updated_eval_step

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"done": self._done})

    def after_run(self, run_context, run_values):
        if self._num_evals is not None and run_values.results["done"] >= self._num_evals:
            run_context.request_stop()


def _evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None,
                   final_ops=None, final_ops_feed_dict=None, hooks=None, config=None):  # fmt: skip
    """Runs ``eval_ops`` until a hook ends it; the values of ``final_ops`` after that."""
    step = _get_or_create_eval_step()
    hooks = list(hooks or [])
    counted = tf.assign_add(step, 1)
    for hook in hooks:
        if hasattr(hook, "_set_evals_completed_tensor"):
            hook._set_evals_completed_tensor(counted)
    last = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = tf.train.ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, config=config
    )
    with tf.train.MonitoredSession(creator, hooks=[*hooks, last]) as session:
        while not session.should_stop():
            session.run([op for op in (eval_ops, counted) if op is not None], feed_dict)
    return last.final_ops_values
