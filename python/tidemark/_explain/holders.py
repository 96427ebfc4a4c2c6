"""Who keeps each live buffer, in words: found by walking Python's objects, on request only."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
import types

from tidemark import _tidemark
from tidemark._explain import hidden, kinds, links, source
from tidemark._explain.keeping import Holder, Root

_NATIVE = {
    "value": ("value", "a value on its way through native code"),
    "variable": ("variable", "variable that native code keeps"),
    "constant": ("constant", "constant in a graph"),
    "gradient": ("gradient", "gradient on its way"),
    "tape": ("tape", "GradientTape that is recording"),
    "workspace": ("workspace", "workspace of a running kernel"),
    "arena": ("arena", "arena of a compiled function"),
    "dataset": ("dataset", "dataset elements in flight"),
    "dataset shuffle buffer": ("dataset", "dataset shuffle buffer"),
    "dataset prefetch buffer": ("dataset", "dataset prefetch buffer"),
    "dataset cache": ("dataset", "dataset cache"),
    "cache": ("cache", "cache of the runtime"),
    "borrowed": ("borrowed", "memory of another owner, lent to tensors"),
}


kinds.know((_tidemark.Tensor,), (_tidemark.VariableBase,), (_tidemark.FunctionBase,))


def _locals_of(frame):
    """(name, value) of a running frame's variables, leaving no reference behind."""
    values = frame.f_locals
    items = list(values.items())
    if frame.f_code.co_flags & 1 and isinstance(values, dict):  # optimised: a snapshot of ours
        values.clear()
    return items


def _frame_roots():
    names = {t.ident: t.name for t in threading.enumerate()}
    # A frame that has itself among its variables when it ends is a cycle, which keeps all that
    # called it: none is left in a variable here.
    threads, frames = sys._current_frames(), []
    while threads:
        ident, frame = threads.popitem()
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
        while frames:  # the outermost first: what it calls only borrows
            frame = frames.pop()
            code = frame.f_code
            if not _tidemark.is_internal_code(code) and frame.f_locals is not frame.f_globals:
                for name, value in _locals_of(frame):
                    yield Root(
                        "local", name, value, code.co_name, code.co_filename, frame.f_lineno,
                        source.code_range(code), names.get(ident, ""),
                    )  # fmt: skip
            frame = None


def _module_roots():
    """The program's own modules, and those of libraries."""
    main = sys.modules.get("__main__")
    nearest, others = [], []
    for module in [main, *(m for m in list(sys.modules.values()) if m is not main)]:
        if not isinstance(module, types.ModuleType):
            continue
        file = getattr(module, "__file__", "") or ""
        is_near = module is main or links.is_programs(file)
        root = Root("global", module.__name__, vars(module), "", file)
        (nearest if is_near else others).append(root)
    return nearest, others


_looking = threading.RLock()
_MOST_OF_A_WALK = 5.0  # seconds by the clock, on a machine that is busy otherwise
_TRIES = 3  # to see one moment


@contextlib.contextmanager
def _undisturbed():
    """Frames and the objects they lead to are looked at as of one moment: other threads of Python
    wait, as far as they can be made to, and the collector does not come for the cycles that are to
    be seen because of the objects a look makes."""
    with _looking:
        collects = gc.isenabled()
        gc.disable()
        before = sys.getswitchinterval()
        sys.setswitchinterval(max(before, _MOST_OF_A_WALK))
        time.sleep(0)  # whoever has asked for a turn already gets it now, not in between
        try:
            yield
        finally:
            sys.setswitchinterval(before)
            if collects:
                gc.enable()


def holders():
    """All keepers of live buffers, largest first; together they have every live byte."""
    return look()[0]


def look(additions=None, is_last=False):
    """The keepers of live buffers, and the owners: what native code keeps buffers for. What is on
    the ways to them, ``additions`` may watch."""
    from tidemark._explain import owners, wording  # they import this module

    found = {}
    for _ in range(_TRIES):
        seen = None  # what was seen before would be among what keeps values
        seen, is_one_moment = _walk(owners)
        if is_one_moment:
            break
    walked, unclaimed, owning, roots, lines = seen
    del seen
    for item in walked:
        root = roots[item["root"]] if item["root"] >= 0 else None
        for holder in wording.explain(item, root):
            same = found.setdefault((holder.words, holder.thread), holder)
            if same is not holder:
                same.add_all(holder)
    owned = owners.owners(owning, roots)
    if additions is not None:
        additions.choose([*wording.ways(walked, roots), *owners.ways(owning, roots)], is_last)
    links.remember_frames(())
    del walked, roots, owning
    result = [*found.values(), *_native(unclaimed, lines)]
    return sorted(result, key=lambda holder: -holder.bytes), owned


def _walk(owners):
    """(what leads to live buffers, and the lines that run; whether that is of one moment: on a busy
    machine another thread may have asked for its turn before it could be kept waiting)."""
    with _undisturbed():
        lines = _running_lines()
        frames, (nearest, others) = list(_frame_roots()), _module_roots()
        # What the program calls by a name of its own, a library's function may only borrow.
        frames.sort(key=lambda root: not links.is_programs(root.file))
        near = [*frames, *nearest, *hidden.roots()]
        roots = [*near, *others]
        objects = gc.get_objects()
        walked, unclaimed, owning = _tidemark.walk_holders(
            [root.value for root in roots], len(near), objects, owners.types(objects)
        )
        del objects
        links.remember_frames([*walked, *owning])
        return (walked, unclaimed, owning, roots, lines), lines == _running_lines()


def _native(unclaimed, lines):
    """What no Python object keeps: the ledger knows why it lives, or which run has it."""
    by_words, made_at = {}, _dataset_lines()
    for place, op, kind, size, count, idle, run, asked, goes_on, requested in unclaimed:
        short, words = _NATIVE.get(kind, (kind, kind))
        name, at = "", made_at.get(kind, "")
        if at:
            words += f" made at {at}"
        elif kind == "arena":
            words = (f"arena of {op}" if op else words) + (", idle" if idle else "")
        elif kind == "value" and goes_on:
            name, at = run, asked or place
            short, words = "running", f"values of {run} while it runs, called at {at}"
        elif kind == "value" and run and (statement := source.statement_at(asked, lines)):
            name, at, short = run, statement, "running"
            words = f"result of {run} in the statement that runs at {statement}"
        elif kind == "value" and (statement := source.statement_at(place, lines)):
            short, words, at = "running", f"the statement that runs at {statement}", statement
        file, line, _ = source.parse_place(at)
        holder = by_words.setdefault(
            words, Holder(words, short, name, source.full_path(file) if line else "", line)
        )
        key = (place, op, kind)
        holder.add(size, count, {key: size}, {key: requested})
    return by_words.values()


def _dataset_lines():
    """{holder of the ledger: "train.py:9"} of the dataset whose buffer of the sort is largest."""
    lines = {}
    for kind, place, _, _ in _tidemark.dataset_buffers():
        file, line, _ = source.parse_place(place)
        if line:
            lines.setdefault(kind, f"{file}:{line}")
    return lines


def _running_lines():
    """Where the threads are: "train.py:12 in step" of every frame of the program's."""
    lines = []
    threads = sys._current_frames()
    while threads:
        _, frame = threads.popitem()
        while frame is not None:
            code = frame.f_code
            if not _tidemark.is_internal_code(code):
                lines.append((code.co_filename, frame.f_lineno or 0, code.co_name))
            frame = frame.f_back
    return lines


def is_known(holder, key):
    """Whether bytes of this (place, op, ledger's holder) have both a line and a holder."""
    return holder.kind != "value" and not key[0].startswith("(")


def coverage(found=None):
    """(live bytes, bytes with a known line and a known holder)."""
    found = holders() if found is None else found
    known = sum(size for h in found for key, size in h.groups.items() if is_known(h, key))
    return sum(holder.bytes for holder in found), known
