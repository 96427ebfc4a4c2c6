"""What ``tensorflow.python.ops.control_flow_…`` has beyond public names."""

from __future__ import annotations

import tidemark
from tidemark._graph.control_flow import switch_case

ENABLE_CONTROL_FLOW_V2 = True


def GraphOrParentsInXlaContext(graph):
    """Whether XLA compiles this; it does nothing here."""
    return False


def get_enclosing_xla_context():
    return None


def EnableControlFlowV2(graph):
    return True


def with_dependencies(dependencies, output_tensor, name=None):
    """The tensor, once the dependencies have run."""
    with tidemark.control_dependencies(dependencies):
        return tidemark.identity(output_tensor, name=name)


def pfor(loop_fn, iters, fallback_to_while_loop=True, parallel_iterations=None, warn=False):
    """``loop_fn`` of each number below ``iters``, stacked."""
    return tidemark.vectorized_map(loop_fn, tidemark.range(iters))


for_loop = pfor


def _case_helper(cond_fn, pred_fn_pairs, default, exclusive, name, allow_python_preds=False,
                 **cond_kwargs):  # fmt: skip
    """``tf.case`` with another function in place of ``tf.cond``."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if default is None:
        *pairs, (_, default) = pairs
    chosen = default
    for predicate, function in reversed(pairs):
        chosen = _branch(cond_fn, predicate, function, chosen, cond_kwargs)
    return chosen()


def _branch(cond_fn, predicate, function, otherwise, cond_kwargs):
    return lambda: cond_fn(predicate, true_fn=function, false_fn=otherwise, **cond_kwargs)


__all__ = ["switch_case"]
