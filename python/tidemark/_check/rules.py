"""The checks. Each looks at a program and yields (node, message, fix). A check that cannot be sure
is silent: what it does not see, the doctor finds when the program runs."""

from __future__ import annotations

import ast

from tidemark._check.reading import LOOPS

_MANY_ROUNDS = 100
# What is called to make nothing of a graph's, or a value that is no tensor.
_NO_TENSORS = (
    "data", "io", "train", "summary", "keras", "config", "distribute", "logging", "gfile", "flags",
    "saved_model", "profiler", "errors", "random_seed", "set_random_seed", "Session",
    "InteractiveSession", "Graph", "GradientTape", "function", "Variable", "TensorSpec", "device",
    "get_logger", "name_scope", "variable_scope", "executing_eagerly", "python_io", "test",
    "feature_column", "estimator", "ConfigProto", "GPUOptions", "reset_default_graph", "shape",
    "get_default_graph", "get_default_session", "get_collection", "py_function", "print", "Summary",
    "TensorShape", "app", "contrib", "app.run", "trainable_variables", "global_variables", "no_op",
    "control_dependencies", "as_dtype", "DType", "experimental", "autograph", "nest", "version",
    "is_tensor", "sysconfig", "initializers", "types", "Module", "lookup", "get_static_value",
    "local_variables", "Event", "RunOptions", "RunMetadata", "tables",
)  # fmt: skip
_USES_TENSORS = ("stack", "concat", "add_n", "convert_to_tensor", "group", "tuple", "pack", "array",
                 "reduce_mean", "reduce_sum", "merge")  # fmt: skip


def _makes_tensor(program, node):
    """Whether an expression is certainly a new tensor."""
    if isinstance(node, ast.BinOp):
        return _makes_tensor(program, node.left) or _makes_tensor(program, node.right)
    name = program.called(node)
    return bool(name) and name.split(".")[0] not in _NO_TENSORS and name not in _NO_TENSORS


def _is_tensor(program, node, loop):
    """A new tensor, or a name that the loop gives one."""
    if _makes_tensor(program, node):
        return True
    if isinstance(node, ast.Tuple):
        return any(_is_tensor(program, one, loop) for one in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "ref" and _is_tensor(program, node.func.value, loop)
    if not isinstance(node, ast.Name):
        return False
    given = program.assigned(node.id, loop)
    return bool(given) and all(
        isinstance(g, ast.Assign) and _makes_tensor(program, g.value) for g in given
    )


def _rounds(loop):
    """How many rounds a loop over a written number has; 0: not known."""
    over = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(over, ast.Call) or getattr(over.func, "id", "") != "range":
        return 0
    last = over.args[0 if len(over.args) == 1 else 1]
    return last.value if isinstance(last, ast.Constant) else 0


def _is_long(program, loops):
    """Whether it goes round often: many times as written, or as a training does."""
    return any(_rounds(loop) >= _MANY_ROUNDS or program.trains(loop) for loop in loops)


def _added(program):
    """(the node, what is added to, what is added, the loops) of each `x.append(y)` in a loop, and
    of what adds likewise: `x[i] = y` with the loop's own number, `heapq.heappush(x, y)`."""
    for node in program.of(ast.Assign):
        target, loops = node.targets[0], program.loops(node)
        if isinstance(target, ast.Subscript) and loops:
            numbers = {n.id for loop in loops if isinstance(loop, ast.For)
                       for n in ast.walk(loop.target) if isinstance(n, ast.Name)}  # fmt: skip
            is_key = isinstance(target.slice, ast.Name) and target.slice.id in numbers
            if is_key and program.function(node) not in program.traced:
                yield node, target.value, node.value, loops
    for call in program.of(ast.Call):
        func = call.func
        if getattr(func, "attr", "") == "heappush" and len(call.args) == 2 and program.loops(call):
            yield call, call.args[0], call.args[1], program.loops(call)
        if isinstance(func, ast.Attribute) and func.attr in ("append", "add") and call.args:
            loops = program.loops(call)
            is_librarys = bool(program.name_of(func))  # tf.add
            if loops and not is_librarys and program.function(call) not in program.traced:
                yield call, func.value, call.args[0], loops


def _is_emptied(program, name, loops):
    """Each round, or each round of an outer loop, begins with an empty one."""
    for loop in loops:
        if program.assigned(name, loop):
            return True
        for node in ast.walk(loop):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                takes = node.func.attr in ("clear", "pop", "popleft")
                if takes and ast.unparse(node.func.value) == name:
                    return True
            if isinstance(node, ast.Delete) and any(
                ast.unparse(t).startswith(f"{name}[") for t in node.targets
            ):
                return True
    return False


def _is_read(program, target, call):
    """Whether what is added to is used for more than its length, or what has it goes on."""
    name = ast.unparse(target)
    owner = ast.unparse(target.value) if isinstance(target, ast.Attribute) else None
    for node in program.of(ast.Name, ast.Attribute, ast.Subscript):
        if node is target or isinstance(node.ctx, ast.Store):
            continue
        user, text = program.parent(node), ast.unparse(node)
        if text == owner and not isinstance(user, ast.Attribute):
            return True
        if text != name:
            continue
        is_length = isinstance(user, ast.Call) and getattr(user.func, "id", "") == "len"
        is_another = isinstance(user, ast.Attribute) and user.attr == "append"
        if not is_length and not is_another:
            return True
    return False


def _is_used_as_tensors(program, name):
    """What was gathered is made into one tensor, or differentiated: it is needed."""
    for call in program.of(ast.Call):
        last = ast.unparse(call.func).rpartition(".")[2]
        if last in _USES_TENSORS and any(name in ast.unparse(a) for a in call.args):
            return True
    return False


def tensors_gathered(program):
    """`losses.append(loss)`: a tensor a round stays."""
    for call, target, value, loops in _added(program):
        name = ast.unparse(target)
        if not _is_tensor(program, value, loops[-1]):
            continue
        if not _is_long(program, loops) and _is_read(program, target, call):
            continue
        if _is_emptied(program, name, loops) or _is_used_as_tensors(program, name):
            continue
        yield call, f"each round adds a tensor to {name}", _number_instead(call, name, value)


def _number_instead(call, name, value):
    """What to write at the line that adds a tensor to ``name``."""
    is_pushed = getattr(getattr(call, "func", None), "attr", "") == "heappush"
    if is_pushed or isinstance(value, ast.Tuple):
        return f"add a number to {name}, or let the oldest go"
    number = f"float({ast.unparse(value)})"
    if isinstance(call, ast.Assign):
        return f"{ast.unparse(call.targets[0])} = {number}"
    return f"{name}.{call.func.attr}({number})"


def tapes_kept(program):
    """`tapes.append(tape)`: the history of every step stays."""
    tapes = {
        item.optional_vars.id
        for node in program.of(ast.With)
        for item in node.items
        if program.called(item.context_expr) == "GradientTape"
        and isinstance(item.optional_vars, ast.Name)
    }
    for call, target, value, loops in _added(program):
        is_tape = isinstance(value, ast.Name) and value.id in tapes
        if is_tape and not _is_emptied(program, ast.unparse(target), loops):
            yield (call, f"{ast.unparse(target)} keeps every tape, with all that it recorded",
                   f"keep what tape.gradient(…) gave, not {value.id}")  # fmt: skip


def errors_kept(program):
    """`errors.append(error)`: with the error stay the frames it went through, and their tensors."""
    for handler in program.of(ast.ExceptHandler):
        for call in (n for n in ast.walk(handler) if isinstance(n, ast.Call)):
            is_added = isinstance(call.func, ast.Attribute) and call.func.attr == "append"
            if is_added and len(call.args) == 1 and handler.name:
                value = call.args[0]
                if isinstance(value, ast.Name) and value.id == handler.name:
                    target = ast.unparse(call.func.value)
                    yield (call, f"{target} keeps the frames that the error went through",
                           f"{target}.append(str({value.id}))")  # fmt: skip


def function_in_loop(program):
    """tf.function in a loop: traced anew each round."""
    for node in program.of(ast.FunctionDef, ast.Call):
        is_made = node in program.traced if isinstance(node, ast.FunctionDef) else (
            program.called(node) == "function" and not isinstance(
                program.parent(node), ast.FunctionDef))  # fmt: skip
        if is_made and program.loops(node) and not _is_made_once(program, node):
            yield (
                node,
                "tf.function is applied anew, and traces anew, in every round",
                ("apply it once, before the loop"),
            )


def _is_made_once(program, node):
    """`if key not in made:` or `if step is None:` stands before it."""
    for outer in program.around(node):
        test = outer.test if isinstance(outer, ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.NotIn, ast.Is)):
            return True
        if isinstance(outer, LOOPS):
            return False
    return False


def data_in_function(program):
    """tf.constant(DATA) in a traced function: every trace has a copy."""
    arrays = {
        target.id
        for node in program.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).split(".")[0] in ("np", "numpy", "pd", "pandas")
        for target in node.targets
        if isinstance(target, ast.Name)
    }  # fmt: skip
    for function in program.traced:
        own = program.names_bound_in(function) | {
            a.arg for a in ast.walk(function) if isinstance(a, ast.arg)
        }
        for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
            if program.called(call) in ("constant", "convert_to_tensor") and call.args:
                value = call.args[0]
                if isinstance(value, ast.Name) and value.id in arrays - own:
                    yield (call, f"every trace of {function.name}() has a copy of {value.id}",
                           f"give {value.id} to {function.name}() as an argument")  # fmt: skip


def _runs_a_session(program, loop):
    return [
        n for n in ast.walk(loop)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "run"
        and "sess" in ast.unparse(n.func.value).lower()
    ]  # fmt: skip


def graph_in_loop(program):
    """Ops made in a loop that runs a session: the graph grows each round."""
    told = set()
    for loop in program.of(*LOOPS):
        for run in _runs_a_session(program, loop):
            fetched = run.args[0] if run.args else None
            if isinstance(fetched, ast.BinOp) and run.lineno not in told:
                told.add(run.lineno)
                yield (run, f"{ast.unparse(fetched)} is a new node of the graph in every round",
                       f"y = {ast.unparse(fetched)}   # before the loop; then run y")  # fmt: skip
        if not _runs_a_session(program, loop):
            continue
        for call in (n for n in ast.walk(loop) if isinstance(n, ast.Call)):
            is_in_loop = loop in program.loops(call) and _is_graphs(program, call, loop)
            if is_in_loop and call.lineno not in told:
                told.add(call.lineno)
                yield (call, f"{ast.unparse(call.func)} adds to the graph in every round",
                       "make it once, before the loop, and run it in the loop")  # fmt: skip


def _is_graphs(program, call, loop):
    """Whether a call makes a node in a graph that stays: none that the loop makes anew."""
    if not _makes_tensor(program, call):
        return False
    return not any(
        "Graph(" in ast.unparse(n.func) + "(" or "reset_default_graph" in ast.unparse(n.func)
        for n in ast.walk(loop)
        if isinstance(n, ast.Call)
    )


def state_captured(program):
    """A number that a traced function reads and a loop changes: the trace keeps the first."""
    changed = {}
    for node in program.of(ast.Assign, ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        is_modules = program.function(node) is None
        if isinstance(target, ast.Name) and is_modules and program.loops(node):
            changed[target.id] = node
    numbers = {
        n.targets[0].id
        for n in program.tree.body
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
        and isinstance(n.targets[0], ast.Name) and isinstance(n.value.value, (int, float))
    }  # fmt: skip
    for function in program.traced:
        own = program.names_bound_in(function) | {
            a.arg for a in ast.walk(function) if isinstance(a, ast.arg)
        }
        for name in sorted((program.names_used_in(function) - own) & set(changed) & numbers):
            use = next(n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name)
            yield (use, f"{function.name}() keeps {name} as it is when it is traced; line "
                   f"{changed[name].lineno} changes it", f"def {function.name}(…, {name}), or a "
                   f"tf.Variable")  # fmt: skip


def running_total(program):
    """`total += loss` over a dataset under one tape: it keeps every step."""
    for node in program.of(ast.AugAssign):
        loops = program.loops(node)
        data = next((loop for loop in loops if isinstance(loop, ast.For) and any(
            word in ast.unparse(loop.iter).lower() for word in ("dataset", "loader", "_ds"))),
            None)  # fmt: skip
        if data is None:
            continue
        for outer in program.around(data):
            if isinstance(outer, ast.With) and any(
                program.called(item.context_expr) == "GradientTape" for item in outer.items
            ):
                yield (node, f"the tape of line {outer.lineno} keeps what every round computes",
                       "with tf.GradientTape() as tape:   # inside the loop")  # fmt: skip
                break


def dataset_in_loop(program):
    """A dataset that is the same each round, made anew each round."""
    for call in program.of(ast.Call):
        name = program.called(call)
        loops = program.loops(call)
        if not name.startswith("data.Dataset.") or not loops or not _is_long(program, loops):
            continue
        bound = set().union(*(program.names_bound_in(loop) for loop in loops))
        statement = next(n for n in (call, *program.around(call)) if isinstance(n, ast.stmt))
        if isinstance(statement, ast.Assign) and not program.names_used_in(call) & bound:
            yield (call, "the same dataset is made anew in every round",
                   "make it once, before the loop; each `for` over it starts anew")  # fmt: skip


def variable_in_loop(program):
    """tf.Variable in a loop that trains."""
    for call in program.of(ast.Call):
        loops = program.loops(call)
        if program.called(call) not in ("Variable", "get_variable"):
            continue
        if any(_runs_a_session(program, loop) or program.trains(loop) for loop in loops):
            yield (call, "a variable is made in every round",
                   "make it once, before the loop, and assign to it: v.assign(…)")  # fmt: skip


def session_in_loop(program):
    """A session that each round opens and none closes."""
    for node in program.of(ast.Assign):
        loops = program.loops(node)
        if loops and program.called(node.value) in ("Session", "InteractiveSession"):
            name = ast.unparse(node.targets[0])
            closes = any(
                isinstance(n, ast.Call) and ast.unparse(n.func) == f"{name}.close"
                for n in ast.walk(loops[0])
            )
            if not closes:
                yield (
                    node,
                    "a session is opened in every round and never closed",
                    (f"with {ast.unparse(node.value)} as {name}:"),
                )


def retraced_by_argument(program):
    """A traced function that is given another Python number, or another lambda, each round."""
    traced = {f.name for f in program.traced if all(
        not isinstance(d, ast.Call) or not d.keywords for d in f.decorator_list)}  # fmt: skip
    for call in program.of(ast.Call):
        loops = program.loops(call)
        if not isinstance(call.func, ast.Name) or call.func.id not in traced or not loops:
            continue
        counted = {
            n.id
            for loop in loops
            if isinstance(loop, ast.For) and ast.unparse(loop.iter).startswith("range(")
            for n in ast.walk(loop.target)
            if isinstance(n, ast.Name)
        }
        for value in call.args:
            if isinstance(value, ast.Lambda):
                yield (value, f"{call.func.id}() is traced anew for each new lambda",
                       "name it once, before the loop, and pass the name")  # fmt: skip
            elif isinstance(value, ast.Name) and value.id in counted:
                yield (value, f"{call.func.id}() is traced anew for each value of {value.id}",
                       f"{call.func.id}(…, tf.constant({value.id}))")  # fmt: skip


ALL = {
    "tensors-gathered": tensors_gathered,
    "persistent-tape": tapes_kept,
    "traceback-holds": errors_kept,
    "function-in-loop": function_in_loop,
    "constants-baked-in": data_in_function,
    "graph-grows": graph_in_loop,
    "captured-state": state_captured,
    "history-kept": running_total,
    "dataset-in-loop": dataset_in_loop,
    "variables-each-step": variable_in_loop,
    "sessions-left-open": session_in_loop,
    "retrace-argument": retraced_by_argument,
}
