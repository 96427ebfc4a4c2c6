"""A house call to TensorFlow: what can be seen of it from outside.

Op callbacks tell each eager op with its line and results; a weak reference tells when a result
goes. Who keeps it is found by walking the program's own objects. Not to be seen are values that
native code alone keeps: what a tape recorded, what a dataset's iterator has in its buffers, the
intermediates of a function while it runs.
"""

from __future__ import annotations

import os
import resource
import sys
import time
import types
import weakref
from collections import Counter

from tidemark._explain import findings, growth, kinds, links, rules
from tidemark._explain.keeping import Holder, Owner, Way
from tidemark._explain.seen import Run, Seen
from tidemark._house.accounts import Accounts
from tidemark._house.walking import walk

_SHARE = 0.3  # of the time, for looks
_FIRST_LOOK = 16  # ops
_PILED_UP = 5  # objects of one sort that one container gained
UNSEEN = (
    "From outside of TensorFlow nothing can be seen of what native code alone keeps: what tapes "
    "recorded, buffers of datasets, intermediates of functions."
)
# kind of object → rule, title, fix
_PILES = {
    "tape": ("persistent-tape", "Tapes stay and keep their history",
             "del tape   # after the last tape.gradient(…)\n"
             "# or keep the gradients, not the tapes"),
    "iterator": ("dataset-buffer", "Iterators stay and keep their buffers",
                 "iterator = iter(dataset)   # once, before the loop\n# or let the old ones go"),
    "session": ("sessions-left-open", "Sessions stay, with all their variables",
                "with tf.compat.v1.Session() as sess:   # closed at the end of the block\n"
                "    sess.run(…)"),
}  # fmt: skip


def _resident():
    with open("/proc/self/statm") as opened:
        return int(opened.read().split()[1]) * resource.getpagesize()


def _users_frame():
    """The innermost frame of the program's own; None."""
    frame = sys._getframe(1)
    while frame is not None and not links.is_programs(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _place_of(frame):
    code = frame.f_code
    where = f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
    return where if code.co_name == "<module>" else f"{where} in {code.co_name}"


class Visitor:
    """Around a program: ``start()``, the program, ``result()``."""

    def __init__(self):
        # The library's own installation; its inner names are what there is to look with.
        import tensorflow as tf
        from tensorflow.python.data.ops.iterator_ops import OwnedIterator
        from tensorflow.python.eager.polymorphic_function import polymorphic_function
        from tensorflow.python.framework import op_callbacks, ops
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        self._callbacks = op_callbacks
        self._function = polymorphic_function.Function
        self._eager = ops.EagerTensor
        self._sorts = {tf.GradientTape: "tape", OwnedIterator: "iterator",
                       tf.compat.v1.Session: "session", self._function: "function"}  # fmt: skip
        kinds.know((ops.EagerTensor,), (BaseResourceVariable,), (self._function,))
        self._accounts = Accounts()
        self._seen = Seen()
        self._traces = []
        self._numbers = 0
        self._last_arguments = {}
        self._spent, self._began = 0.0, time.monotonic()
        self._next_look, self._ops = _FIRST_LOOK, 0
        self._is_looking = False

    def start(self):
        self._resident = _resident()
        self._callbacks.add_op_callback(self._at_op)

    # --- while the program runs ----------------------------------------------------------------

    def _at_op(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        if self._is_looking:
            return
        if graph is not None:
            self._in_graph(graph)
            return
        frame = _users_frame()
        if frame is None:
            return
        place = _place_of(frame)
        op_type = op_type.decode() if isinstance(op_type, bytes) else op_type
        for output in outputs:
            if isinstance(output, self._eager):
                self._account(output, op_type, attrs, place)
        self._accounts.op(place, op_type)
        self._ops += 1
        if self._ops >= self._next_look:
            self._maybe_look()

    def _account(self, tensor, op_type, attrs, place):
        if op_type == "VarHandleOp":
            named = dict(zip(attrs[::2], attrs[1::2], strict=False))
            elements = named["shape"].num_elements() or 0
            key, size = (place, "variable", "variable"), elements * named["dtype"].size
        elif tensor.dtype.size and tensor.dtype.name not in ("resource", "variant", "string"):
            key, size = (place, op_type, "value"), tensor.shape.num_elements() * tensor.dtype.size
        else:
            return
        tensor._tidemark_made = (key, size)
        self._accounts.begin(key, size)
        weakref.finalize(tensor, self._accounts.end, key, size).atexit = False

    def _in_graph(self, graph):
        """The first op of a function's graph: it is traced."""
        if getattr(graph, "_tidemark_seen", False) or not hasattr(graph, "outer_graph"):
            return
        graph._tidemark_seen = True
        frame, body, function, arguments = sys._getframe(1), None, None, ((), {})
        while frame is not None:
            if links.is_programs(frame.f_code.co_filename):
                if function is not None:
                    break
                body = body or frame.f_code
            elif frame.f_code.co_name == "__call__":
                owner = frame.f_locals.get("self")
                if isinstance(owner, self._function):
                    function = owner
                    arguments = frame.f_locals.get("args", ()), frame.f_locals.get("kwds", {})
            frame = frame.f_back
        if function is not None and frame is not None:
            self._note_trace(function, arguments, _place_of(frame))

    def _note_trace(self, function, arguments, place):
        number = getattr(function, "_tidemark_number", None)
        if number is None:
            self._numbers += 1
            number = function._tidemark_number = self._numbers
        code = getattr(function.python_function, "__code__", None)
        is_users = code is not None and links.is_programs(code.co_filename)
        now = [_describe(a, self._eager) for a in (*arguments[0], *arguments[1].values())]
        before = self._last_arguments.get(number)
        self._last_arguments[number] = now
        what = _difference(before, now) if before is not None else ()
        self._traces.append(types.SimpleNamespace(
            function=function.__name__, number=number, place=place, nbytes=0, kinds=what,
            defined=(code.co_filename, code.co_firstlineno) if is_users else ("", 0),
            reason=f"another {what[0]}" if what else "the first call", python_steps=(),
        ))  # fmt: skip

    def _maybe_look(self):
        self._next_look = self._ops + max(_FIRST_LOOK, self._ops // 8)
        if self._seen.looks < 4 or self._spent < _SHARE * (time.monotonic() - self._began):
            self._look()

    def _look(self, is_last=False):
        began = time.monotonic()
        self._is_looking = True
        try:
            wanted = (*kinds.tensors, *kinds.variables, *self._sorts)
            self._note(walk(wanted), is_last)
        finally:
            self._is_looking = False
            self._spent += time.monotonic() - began

    def _note(self, reached, is_last):
        holders, owners, told = {}, {}, {}
        claimed = Counter()
        for one in reached:
            sort = self._sort_of(one.obj)
            tensor = one.obj.handle if isinstance(one.obj, kinds.variables) else one.obj
            made = getattr(tensor, "_tidemark_made", None)
            if sort is None and made is None:
                continue
            # Many things in one container are reached the same way.
            same = (id(one.parent), type(one.obj), made[0] if made else None)
            if same not in told or len(one.path) < 2:
                path, names = links.without_own_dicts(one.path, one.edges)
                told[same] = links.links_of(path, names, one.root)
            if sort is not None:
                origin = self._origin(one.obj) if sort == "function" else ()
                owner = owners.setdefault((sort, origin), Owner(sort, origin))
                owner.ways.append(Way(tuple(told[same]), 1))
                continue
            key, size = made
            inner, items = told[same][-1]
            kind = "variable" if key[2] == "variable" else "other"
            if any(link.kind == "traceback" for link, _ in told[same]):
                kind = "traceback"
            holder = Holder(inner.words(items), kind, inner.name)
            holder = holders.setdefault((holder.words, kind), holder)
            holder.add(size, 1, {key: size}, {key: size})
            holder.add_way(told[same], {key: size})
            claimed[key] += size
        # What native code keeps most of is not the program's variable that also has one.
        for key in [key for key in claimed if 2 * claimed[key] < self._accounts.live[key]]:
            for holder in holders.values():
                holder.forget(key)
        self._seen.looks += 1
        self._seen.chains.note(list(holders.values()), list(owners.values()))
        self._seen.note_holders(list(holders.values()), is_last)

    def _sort_of(self, obj):
        return next((sort for kind, sort in self._sorts.items() if isinstance(obj, kind)), None)

    def _origin(self, function):
        code = getattr(function.python_function, "__code__", None)
        return (code.co_filename, code.co_firstlineno) if code else ("", 0)

    # --- afterwards ----------------------------------------------------------------------------

    def result(self):
        """What was found, as ``tidemark doctor --json`` tells it, and as text."""
        self._look(is_last=True)
        self._callbacks.clear_op_callbacks()
        limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        analysis = self._accounts.analysis(limit)
        notes = types.SimpleNamespace(traces=self._traces, changed_state=[], new_fetches={},
                                      nodes=[], runs=0, bounces=[])  # fmt: skip
        run = Run(analysis, self._seen, notes, limit, {}, "", {})
        found = findings.find(run, [*rules.ALL, self._piles])
        verdict = growth.overall(analysis)
        return {
            "version": 1, "on": "tensorflow", "verdict": verdict.verdict,
            "bytes_per_step": round(verdict.bytes_per_step),
            "steps": {k: analysis["steps"][k] for k in ("count", "how", "place")},
            "peak": analysis["peak"], "limit": limit, "not_seen": UNSEEN,
            "resident_grown": _resident() - self._resident,
            "findings": [f.to_json() for f in found],
            "text": findings.text(found, run, can_fix=False),
        }  # fmt: skip

    def _piles(self, run):
        """Objects whose bytes cannot be seen, more and more of them in one container."""
        grown, _ = growth.growing_groups(run.analysis)
        unseen = [(key, by) for key, by in grown if key not in run.seen.holder_of]
        for kind, (rule, title, fix) in _PILES.items():
            chain = run.seen.chains.of_owner(kind, ())
            if chain is None or chain.grower is None:
                continue
            first, last = run.seen.chains.items[chain.grower]
            if last - first < _PILED_UP:
                continue
            of_tapes = unseen if kind == "tape" else []
            rate = sum(by.bytes_per_step for _, by in of_tapes)
            yield rules.finding(
                rule, title, chain.grower.file, chain.grower.line, chain.grower.words(last), fix,
                verdict=growth.GROWING, owner=(kind, ()), keys=[key for key, _ in of_tapes],
                bytes_per_step=rate,
                evidence=f"{last} {kind}s; what native code keeps for them cannot be seen",
            )  # fmt: skip


def _describe(value, eager):
    """What tracing tells values apart by: (sort, what it is)."""
    if isinstance(value, eager):
        return "shape", (tuple(value.shape), value.dtype)
    if isinstance(value, (list, tuple, dict)):
        return "structure", len(value)
    if callable(value):
        return "identity", id(value)
    return "value", repr(value)[:80]


def _difference(before, now):
    """By which sorts of arguments two calls differ."""
    if len(before) != len(now):
        return ("structure",)
    return tuple({b[0] for a, b in zip(before, now, strict=True) if a != b})
