"""Functions of ``tf.__internal__`` that stand in no module of it."""

from __future__ import annotations

import contextlib

from tidemark._graph.scopes import get_current_name_scope as get_name_scope
from tidemark.errors import UnimplementedError


def register_call_context_function(func):
    """Keras tells what layer is being called; nothing here asks."""


def register_clear_session_function(func):
    """Keras tells how its state is cleared; nothing here asks."""


def register_get_session_function(func):
    """Keras tells which session it uses; sessions here are opened by who uses them."""


def register_load_model_function(func):
    """Keras tells how its models are read; nothing here asks."""


def execute_fn_for_device(device_branch_fns, default_fn, name="execute_fn"):
    """The function for the processor, where there is one."""
    return device_branch_fns.get("CPU", default_fn)()


@contextlib.contextmanager
def load_context(load_options):
    """A context in which a model is loaded."""
    yield


def create_c_op(graph, node_def, inputs, control_inputs, op_def=None, extract_traceback=True):
    raise UnimplementedError(
        None, None, "operations are made by calling their functions, not from definitions"
    )


def record_gradient(op_name, inputs, attrs, outputs):
    """Tapes note calls themselves."""


__all__ = ["get_name_scope"]
