"""What the front end tells while a doctor or a profile looks on: see ``listener.active``."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

from tidemark import _tidemark
from tidemark._explain import listener
from tidemark.autodiff._tape import GradientTape

_MOST = 20000  # of a kind; a program that makes more has been understood by then


@dataclass
class TraceNote:
    """One trace that was made."""

    function: str
    number: int  # of the function, as told apart while the program ran
    defined: tuple  # (file, line) of its code; ("", 0): a library's own
    place: str  # file:line of the call
    reason: str
    kinds: tuple
    nbytes: int
    python_steps: tuple  # (library function, place of the call) of those that could not be traced


@dataclass
class Notes:
    """All that was told."""

    traces: list = field(default_factory=list)
    changed_state: list = field(default_factory=list)  # (function, name, file, line, then, now)
    new_fetches: dict = field(default_factory=dict)  # place → runs that fetched a node made since
    nodes: list = field(default_factory=list)  # (run, live nodes)
    runs: int = 0
    bounces: list = field(default_factory=list)  # (op, place, copies, bytes) of this program
    _functions: weakref.WeakKeyDictionary = field(default_factory=weakref.WeakKeyDictionary)
    _made: int = 0
    _last_sequence: dict = field(default_factory=dict)

    def add_trace(self, function, trace):
        number = self._functions.get(function)
        if number is None:
            self._made += 1
            number = self._functions[function] = self._made
        code = getattr(function._python_function, "__code__", None)
        # What a library makes of its own code is not the program's doing.
        is_users = code is not None and not _tidemark.is_internal_code(code)
        defined = (code.co_filename, code.co_firstlineno) if is_users else ("", 0)
        if len(self.traces) < _MOST:
            self.traces.append(
                TraceNote(trace.name, number, defined, trace.line, trace.reason, trace.differed,
                          trace.nbytes, tuple(trace.graph.python_steps))
            )  # fmt: skip

    def add_changed_state(self, function, found):
        name, file, line, was, now = found
        if len(self.changed_state) < _MOST:
            text = (repr(was)[:60], repr(now)[:60]) if was is not None else ("", "")
            self.changed_state.append((function._name, name, file, line, *text))

    def add_run(self, fetches):
        """A session runs: how many nodes are there, and is what it asks for new?"""
        self.runs += 1
        if self.runs % max(1, self.runs // 512) == 0:
            self.nodes.append((self.runs, _tidemark.live_nodes()))
        nodes = [node for one in _each(fetches) if (node := _node_of(one)) is not None]
        newest = {}  # by place: one run may ask for several that a line makes
        for node in nodes:
            newest[node.place] = max(node.sequence, newest.get(node.place, 0))
        for place, sequence in newest.items():
            if sequence > self._last_sequence.setdefault(place, sequence):
                self._last_sequence[place] = sequence
                self.new_fetches[place] = self.new_fetches.get(place, 0) + 1


def _each(fetches):
    """What a session is asked for, out of lists and dicts."""
    if isinstance(fetches, dict):
        fetches = fetches.values()
    elif not isinstance(fetches, (list, tuple)):
        return [fetches]
    return [one for part in fetches for one in _each(part)]


def _node_of(fetch):
    """Of a tensor or an operation of a graph; None: it is neither."""
    if isinstance(fetch, _tidemark.Tensor):
        return _tidemark.node_of(fetch) if _tidemark.is_symbolic(fetch) else None
    return getattr(fetch, "_node", None)


def start():
    """Begins to take notes; returns them."""
    listener.active = Notes(bounces=_tidemark.bounces())
    _note_tapes(True)
    return listener.active


def stop():
    """Ends it."""
    before = {one[:2]: one[2:] for one in listener.active.bounces}
    listener.active.bounces = [
        (op, place, copies - before.get((op, place), (0, 0))[0],
         size - before.get((op, place), (0, 0))[1])
        for op, place, copies, size in _tidemark.bounces()
    ]  # fmt: skip
    listener.active = None
    _note_tapes(False)


def _note_tapes(on):
    """Tapes remember where they were made."""
    if on:

        def __init__(self, *args, **kwargs):
            self._made_at = _tidemark.current_place()

        GradientTape.__init__ = __init__
    elif "__init__" in vars(GradientTape):
        del GradientTape.__init__
