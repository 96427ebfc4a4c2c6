"""``tf.__internal__.train``."""

from __future__ import annotations

from tidemark._v1.train.checkpoint_state import update_checkpoint_state as _update


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                            all_model_checkpoint_timestamps=None,
                            last_preserved_timestamp=None, save_relative_paths=False,
                            latest_filename=None):  # fmt: skip
    """Notes the latest checkpoint of a folder."""
    _update(save_dir, model_checkpoint_path)


def assign_moving_average(variable, value, decay, zero_debias=False, name=None):
    """Moves a variable towards a value: ``variable -= (variable - value) * (1 - decay)``."""
    return variable.assign_sub((variable - value) * (1 - decay))


def is_mixed_precision_graph_rewrite_enabled():
    return False


def set_using_mixed_precision_policy(is_using):
    """A policy of Keras's is Keras's own business."""
