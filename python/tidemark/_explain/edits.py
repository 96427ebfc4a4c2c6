"""Changes of a program's source, each small and by what was found: new text, or None where it does
not fit. The program itself is only read.

    Source(text).bounded("tapes", 13)     # the list keeps the last ones only
"""

from __future__ import annotations

import ast
import difflib

from tidemark._explain import kinds

KEPT = 4  # items of what is bounded: enough to look at, and soon reached
_ADDING = ("append", "add", "put", "appendleft", "insert")
_ADDING_SOME = ("extend", "update")  # what a list, a set or a dict that is written out has
_ADDING_TO_FIRST = ("heappush", "insort", "insort_left", "insort_right")


class Source:
    """The text of a file and its syntax tree."""

    def __init__(self, text):
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.tree = ast.parse(text)
        self._parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }

    # --- what stands there -------------------------------------------------------------------

    def statement(self, line):
        """The innermost statement that begins on a line."""
        found = [n for n in ast.walk(self.tree) if isinstance(n, ast.stmt) and n.lineno == line]
        return found[-1] if found else None

    def definition(self, line):
        """The function whose decorators or head begin on a line."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if first <= line <= node.body[0].lineno:
                    return node
        return None

    def loop_of(self, node):
        """The innermost loop a node stands in, within its function; None."""
        while (node := self._parents.get(node)) is not None:
            if isinstance(node, (ast.For, ast.While)):
                return node
            if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                return None
        return None

    def added(self, line):
        """(what is added to, the expression that is added) of the statement on a line, or None."""
        node = self.statement(line)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return _added_by(node.value)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            return node.targets[0].value, node.value
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            last = node.value.right if isinstance(node.value, ast.BinOp) else node.value
            written = _last_of(last)
            return (target, written) if written is not None else None
        return None

    def is_read(self, target, line):
        """Whether what is added to on a line is used anywhere else."""
        wanted = ast.unparse(target).rpartition(".")[2]
        for node in ast.walk(self.tree):
            name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)
            is_use = isinstance(node, (ast.Name, ast.Attribute)) and name == wanted
            if is_use and isinstance(node.ctx, ast.Load) and node.lineno != line:
                return True
        return False

    # --- changes ------------------------------------------------------------------------------

    def replaced(self, node, new):
        """The text with another expression in a node's place."""
        return self._with([(node, new)])

    def _with(self, changes):
        out = self.text.encode()
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line.encode()))
        for node, new in sorted(changes, key=lambda c: (-c[0].lineno, -c[0].col_offset)):
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            out = out[:first] + new.encode() + out[last:]
        return out.decode()

    def _indent(self, node):
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def _is_alone(self, node):
        """Nothing else stands in its block."""
        parent = self._parents[node]
        return any(getattr(parent, part, None) == [node] for part in ("body", "orelse"))

    def with_number(self, line):
        """A number of what is added is kept, not the tensor."""
        added = self.added(line)
        if added is None or isinstance(added[1], ast.Constant):
            return None
        return self.replaced(added[1], kinds.number.format(ast.unparse(added[1])))

    def with_numbers_of(self, line, names):
        """A number of each of these variables is stored, or handed on, and not they themselves."""
        node, changes = self.statement(line), []
        if not isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)):
            return None
        later = {
            id(part)
            for n in ast.walk(node.value)
            if isinstance(n, ast.Lambda)
            for part in ast.walk(n)
        }  # what a function that is made here uses when it is called
        for part in ast.walk(node.value):
            is_one = isinstance(part, ast.Name) and part.id in names and id(part) not in later
            if is_one and not isinstance(self._parents[part], (ast.Attribute, ast.BinOp)):
                changes.append((part, kinds.number.format(part.id)))
        return self._with(changes) if changes else None

    def with_text(self, line):
        """The text of an error is kept, not the error."""
        added = self.added(line)
        if added is None or not isinstance(added[1], ast.Name):
            return None
        return self.replaced(added[1], f"str({added[1].id})")

    def without_adding(self, line, instead="pass"):
        """Nothing is added to what nobody reads."""
        added, node = self.added(line), self.statement(line)
        if added is None or self.is_read(added[0], line):
            return None
        if self._is_alone(node) or instead != "pass":
            return self.replaced(node, instead)
        kept = self.lines[: node.lineno - 1] + self.lines[node.end_lineno :]
        return "".join(kept)

    def bounded(self, line, kind):
        """What is added to keeps the last items only."""
        added, node = self.added(line), self.statement(line)
        if added is None:
            return None
        name = ast.unparse(added[0])
        if kind in ("dict", "defaultdict", "OrderedDict"):
            more = f"if len({name}) > {KEPT}:\n    {name}.pop(next(iter({name})))"
        elif isinstance(node, ast.Expr) and getattr(node.value.func, "attr", "") == "put":
            more = f"if {name}.qsize() > {KEPT}:\n    {name}.get()"
        elif kind in ("list", "TrackedList"):
            more = f"del {name}[:-{KEPT}]"
        elif kind == "deque":
            more = f"if len({name}) > {KEPT}:\n    {name}.popleft()"
        elif kind in ("set", "frozenset"):
            more = f"if len({name}) > {KEPT}:\n    {name}.pop()"
        else:
            return None
        indent = self._indent(node)
        more = "".join(f"{indent}{part}\n" for part in more.splitlines())
        at = node.end_lineno
        return "".join([*self.lines[:at], more, *self.lines[at:]])

    def with_small_cache(self, line):
        """functools.cache, or one without a bound, forgets what was asked for long ago."""
        node = self.definition(line)
        for decorator in node.decorator_list if node else ():
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = ast.unparse(called)
            if name.rpartition(".")[2] in ("cache", "lru_cache"):
                whole = name.rpartition(".")[0]
                new = f"{whole}.lru_cache" if whole else "lru_cache"
                if not whole and name == "cache":
                    return None  # lru_cache is not imported
                return self.replaced(decorator, f"{new}(maxsize={KEPT})")
        for call in ast.walk(self.tree):
            is_there = isinstance(call, ast.Call) and call.lineno == line and call.keywords
            for keyword in call.keywords if is_there else ():
                if keyword.arg == "maxsize":  # lru_cache(maxsize=None)(f)
                    return self.replaced(keyword.value, str(KEPT))
        return None

    def without_past(self, line):
        """A link of a linked list does not lead to the one before it."""
        node = self.statement(line)
        is_link = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
        return self.replaced(node.value, "None") if is_link else None

    def with_weak_reference(self, line):
        """An attribute that does not keep what it refers to, and is used as before."""
        node = self.statement(line)
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
            return None
        name = node.value.id
        new = f"weakref.proxy({name})"
        if name != "self":
            new += f" if {name} is not None else None"
        return Source(self.replaced(node.value, new)).with_import("weakref")

    def with_import(self, name):
        for node in self.tree.body:
            if isinstance(node, ast.Import) and any(a.name == name for a in node.names):
                return self.text
        first = next(
            (n for n in self.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))), None
        )
        at = first.lineno - 1 if first else 0
        return "".join([*self.lines[:at], f"import {name}\n", *self.lines[at:]])

    def before_the_loop(self, node):
        """A statement that is the same in every round is moved before the loop."""
        loop = self.loop_of(node) if node is not None else None
        if loop is None or self._parents[node] is not loop or len(loop.body) < 2:
            return None
        if self._used_by(node) & self._bound_in(loop, node):
            return None
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) - 1
        block = self.lines[first : node.end_lineno]
        shift = len(self._indent(node)) - len(self._indent(loop))
        moved = [line[shift:] if line.strip() else line for line in block]
        rest = self.lines[node.end_lineno : loop.end_lineno]
        begin = self.lines[loop.lineno - 1 : first]
        if len(begin) > 1 and not begin[-1].strip() and rest and not rest[0].strip():
            rest = rest[1:]
        return "".join([*self.lines[: loop.lineno - 1], *moved, *begin, *rest,
                        *self.lines[loop.end_lineno :]])  # fmt: skip

    @staticmethod
    def _used_by(node):
        """Names that a node takes from around it; the defaults of arguments are among them."""
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        used -= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        for arguments in (n for n in ast.walk(node) if isinstance(n, ast.arguments)):
            for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
                used |= {n.id for n in ast.walk(default) if isinstance(n, ast.Name)}
        return used

    @staticmethod
    def _bound_in(loop, but):
        """Names that a loop binds, leaving out one of its statements."""
        parts = [n for n in loop.body if n is not but]
        parts += [loop.target] if isinstance(loop, ast.For) else []
        return {
            n.id
            for part in parts
            for n in ast.walk(part)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }

    def call_on(self, line, name):
        """The call of a function on a line."""
        for node in ast.walk(self.tree):
            is_there = isinstance(node, ast.Call) and node.lineno <= line <= node.end_lineno
            if is_there and ast.unparse(node.func).rpartition(".")[2] == name:
                return node
        return None

    def with_tensor_argument(self, line, name):
        """A number that changes from call to call is given as a tensor."""
        call = self.call_on(line, name)
        loop = self.loop_of(call) if call is not None else None
        if not isinstance(loop, ast.For) or "range" not in ast.unparse(loop.iter):
            return None
        rounds = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        changing = [a for a in call.args if isinstance(a, ast.Name) and a.id in rounds]
        changes = [(a, f"tf.constant({a.id})") for a in changing]
        return self._with(changes) if changes else None

    def with_shared_argument(self, line, name):
        """A lambda that is made anew for each call is made once, before the loop."""
        call = self.call_on(line, name)
        loop = self.loop_of(call) if call is not None else None
        made = [a for a in call.args if isinstance(a, ast.Lambda)] if loop is not None else []
        if not made or self._used_by(made[0]) & self._bound_in(loop, None):
            return None
        changed = self.replaced(made[0], "same").splitlines(keepends=True)
        first = f"{self._indent(loop)}same = {ast.unparse(made[0])}\n"
        return "".join([*changed[: loop.lineno - 1], first, *changed[loop.lineno - 1 :]])

    def function(self, name):
        """The definition of a function; None."""
        nodes = (n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef))
        return next((n for n in nodes if n.name == name), None)

    def with_any_shape(self, name):
        """A function that takes whatever shapes come, in one trace: sizes are asked for when it
        runs."""
        node, changes = self.function(name), []
        for decorator in node.decorator_list if node else ():
            text = ast.unparse(decorator)
            if text in ("tf.function", "tensorflow.function"):
                changes.append((decorator, f"{text}(reduce_retracing=True)"))
        given = {a.arg for a in node.args.args} if node else set()
        for part in ast.walk(node) if changes else ():
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute):
                of = part.value.value
                if part.value.attr == "shape" and isinstance(of, ast.Name) and of.id in given:
                    changes.append((part.value, f"tf.shape({of.id})"))
        return self._with(changes) if changes else None

    def with_stacked_argument(self, line, name):
        """A list that gets longer from call to call is given as one tensor."""
        call = self.call_on(line, name)
        given = [a for a in call.args if isinstance(a, ast.Name)] if call is not None else []
        return self.replaced(given[0], f"tf.stack({given[0].id})") if len(given) == 1 else None

    def with_argument(self, function, name):
        """A value from outside is given to a function with each call."""
        node = self.function(function)
        if node is None or not name.isidentifier() or node.args.vararg or node.args.kwonlyargs:
            return None
        calls = [n for n in ast.walk(self.tree) if isinstance(n, ast.Call)
                 and isinstance(n.func, ast.Name) and n.func.id == function]  # fmt: skip
        if not calls or not node.args.args or any(not n.args or n.keywords for n in calls):
            return None
        if node.args.defaults or name in {a.arg for a in node.args.args}:
            return None
        last = node.args.args[-1]
        changes = [(last, f"{ast.unparse(last)}, {name}")]
        changes += [(n.args[-1], f"{ast.unparse(n.args[-1])}, {name}") for n in calls]
        return self._with(changes)

    def before_the_function(self, name, line=0):
        """A value that a function makes anew in every call, of nothing that is its own, is made
        once, before it: on a line, or the first constant."""
        node = self.function(name)
        own = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)} if node else set()
        for part in node.body if node else ():
            is_one = isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
            if not is_one or len(node.body) < 2 or (line and part.lineno != line):
                continue
            called = ast.unparse(part.value.func) if isinstance(part.value, ast.Call) else ""
            is_constant = called.endswith(("tf.constant", "tf.convert_to_tensor"))
            if (line or is_constant) and not self._used_by(part.value) & (
                own | self._bound_in(node, part)
            ):
                return self._moved_before(part, node)
        return None

    def _moved_before(self, part, node):
        indent, begin = self._indent(part), min([node, *node.decorator_list], key=_line).lineno
        moved = [line.removeprefix(indent[len(self._indent(node)) :])
                 for line in self.lines[part.lineno - 1 : part.end_lineno]]  # fmt: skip
        return "".join([*self.lines[: begin - 1], *moved, "\n\n",
                        *self.lines[begin - 1 : part.lineno - 1],
                        *self.lines[part.end_lineno :]])  # fmt: skip

    def with_small_shuffle(self):
        """A shuffle buffer of a thousand elements."""
        changes = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "shuffle":
                size = node.args[0] if node.args else None
                if isinstance(size, ast.Constant) and isinstance(size.value, int):
                    changes += [(size, "1000")] if size.value > 1000 else []
        return self._with(changes) if changes else None


def _line(node):
    return node.lineno


def _added_by(call):
    """(what is added to, what is added) of a call; None: it adds nothing."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if isinstance(call.func, ast.Attribute) and name in _ADDING and call.args:
        return call.func.value, call.args[-1]
    if name in _ADDING_TO_FIRST and len(call.args) == 2:
        return call.args[0], call.args[1]
    if isinstance(call.func, ast.Attribute) and name in _ADDING_SOME and len(call.args) == 1:
        written = _last_of(call.args[0])
        return (call.func.value, written) if written is not None else None
    return None


def _last_of(node):
    """The last item of a list, a tuple, a set or a dict that is written out; None."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and node.elts:
        return node.elts[-1]
    return node.values[-1] if isinstance(node, ast.Dict) and node.values else None


def unified(path, before, after):
    """The change as `patch` takes it."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path
    )
    return "".join(lines)
