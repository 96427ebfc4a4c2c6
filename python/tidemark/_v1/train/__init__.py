"""What ``tf.train`` has in TensorFlow 1 beyond TensorFlow 2; loaded when it is asked for."""

from __future__ import annotations

import importlib

_HOMES = {
    "optimizer": ["Optimizer"],
    "optimizers": [
        "AdadeltaOptimizer", "AdagradOptimizer", "AdamOptimizer", "FtrlOptimizer",
        "GradientDescentOptimizer", "MomentumOptimizer", "RMSPropOptimizer",
    ],
    "coordinator": ["Coordinator", "LooperThread"],
    "hooks": [
        "CheckpointSaverHook", "FinalOpsHook", "LoggingTensorHook", "NanLossDuringTrainingError",
        "NanTensorHook", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
        "SessionRunValues", "StopAtStepHook",
    ],
    "monitored": [
        "ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "Scaffold",
        "SingularMonitoredSession",
    ],
    "events": ["summary_iterator"],
    "inputs": [
        "batch", "batch_join", "input_producer", "limit_epochs", "match_filenames_once",
        "range_input_producer", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
        "string_input_producer",
    ],
    "queues": ["QueueRunner", "add_queue_runner", "start_queue_runners"],
    "checkpoint_state": [
        "NewCheckpointReader", "checkpoint_exists", "generate_checkpoint_state_proto",
        "get_checkpoint_mtimes", "get_checkpoint_state", "latest_checkpoint", "list_variables",
        "load_checkpoint", "load_variable", "remove_checkpoint", "update_checkpoint_state",
    ],
    "meta_graph": ["export_meta_graph", "import_meta_graph"],
    "saver": ["Saver"],
    "steps": [
        "ExponentialMovingAverage", "assert_global_step", "cosine_decay", "create_global_step",
        "exponential_decay", "get_global_step", "get_or_create_global_step", "global_step",
        "inverse_time_decay", "natural_exp_decay", "piecewise_constant", "polynomial_decay",
    ],
}  # fmt: skip
HOMES = {name: module for module, names in _HOMES.items() for name in names}
HOMES["piecewise_constant_decay"] = "steps"
_ELSEWHERE = {"write_graph": "graph_def.rewriting"}


def find(name):
    """What ``tf.train.<name>`` stands for; None."""
    home = HOMES.get(name)
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f"tidemark._v1.{_ELSEWHERE[name]}"), name)
    if home is None:
        return None
    module = importlib.import_module(f"tidemark._v1.train.{home}")
    return getattr(module, "piecewise_constant" if name == "piecewise_constant_decay" else name)
