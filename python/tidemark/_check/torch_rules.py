"""The checks of programs for PyTorch. A tensor that ``backward()`` is called on has a graph behind
it: whoever keeps the tensor keeps the graph."""

from __future__ import annotations

import ast


def _losses(loop):
    """Names on which a loop calls `backward()`."""
    return {
        node.func.value.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward" and isinstance(node.func.value, ast.Name)
    }  # fmt: skip


def _in_training_loops(program, *kinds):
    """(node, names that have graphs) of nodes in loops that go back over graphs."""
    for node in program.of(*kinds):
        losses = set().union(*(_losses(loop) for loop in program.loops(node)))
        if losses:
            yield node, losses


def _has_graph(program, value, losses, loop):
    """The loss itself: not what the loop makes of it under the same name, as `loss.item()`."""
    if not isinstance(value, ast.Name) or value.id not in losses:
        return False
    made = program.assigned(value.id, loop)
    plain = ("item", "detach", "numpy", "tolist")
    return not any(
        isinstance(n, ast.Call) and getattr(n.func, "attr", "") in plain
        for one in made
        for n in ast.walk(one)
    )


def running_total(program):
    """`total += loss`: with the sum stay the graphs of all steps."""
    for node, losses in _in_training_loops(program, ast.AugAssign):
        loop = program.loops(node)[-1]
        is_sum = isinstance(node.op, ast.Add) and isinstance(node.target, (ast.Name, ast.Attribute))
        total = ast.unparse(node.target)
        if not is_sum or total in losses or not _has_graph(program, node.value, losses, loop):
            continue
        yield (node, f"{total} keeps the graph of every step",
               f"{total} += {node.value.id}.item()")  # fmt: skip


def losses_gathered(program):
    """`losses.append(loss)`: likewise."""
    for node, losses in _in_training_loops(program, ast.Call):
        func, loop = node.func, program.loops(node)[-1]
        is_added = isinstance(func, ast.Attribute) and func.attr == "append" and len(node.args) == 1
        if not is_added or not _has_graph(program, node.args[0], losses, loop):
            continue
        name = ast.unparse(func.value)
        is_new = any(program.assigned(name, loop) for loop in program.loops(node))
        if not is_new:
            yield (node, f"{name} keeps the graph of every step",
                   f"{name}.append({node.args[0].id}.item())")  # fmt: skip


ALL = {"history-kept": running_total, "tensors-gathered": losses_gathered}
