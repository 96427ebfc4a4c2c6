"""``tf.memory``: how much memory there may be, how much there is, and who has it.

tf.memory.set_limit("64MiB")
x = tf.zeros([1000, 1000])
tf.memory.stats().live              # bytes
print(tf.memory.report())           # a table: place, op, shape, holder, bytes
with tf.memory.limit("8MiB"):       # for what is allocated inside, on top of the outer limit
    y = x * 2
with tf.memory.budget("500MB"):     # for the functions that are traced inside, by planning
    model.fit(images, labels)
"""

from __future__ import annotations

import collections
import contextlib
import re
import time

from tidemark import _tidemark

_UNITS = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
    "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40,
}  # fmt: skip
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*")


def parse_bytes(size):
    """Bytes of a size given as a number or as text: 1024, "64MiB", "1.5 GB"."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        unit = _UNITS.get(match[2].upper()) if match else None
        if unit is None:
            raise ValueError(
                f"cannot read {size!r} as a size; write a number of bytes or a number with a unit "
                "such as '64MiB', '512KiB', '1.5GB'"
            )
        return int(float(match[1]) * unit) if "." in match[1] else int(match[1]) * unit
    try:
        return size.__index__()
    except AttributeError:
        if isinstance(size, float) and size.is_integer():
            return int(size)
        raise TypeError(
            f"a size is a whole number of bytes or text such as '64MiB', got {size!r}"
        ) from None


class Stats:
    """Counters of one moment; as attributes (``stats.live``) and items (``stats["live"]``).

    ``live + planned + retained + not_ours == resident + untouched``; ``untouched`` is what of the
    first three the system has not given yet, as nothing was written there: mostly 0.
    """

    __slots__ = ("_values",)

    def __init__(self, values):
        self._values = values

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(
                f"memory statistics have no {name!r}; there are {', '.join(self._values)}"
            ) from None

    def __getitem__(self, name):
        return self._values[name]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __contains__(self, name):
        return name in self._values

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def keys(self):
        return self._values.keys()

    def values(self):
        return self._values.values()

    def items(self):
        return self._values.items()

    def __eq__(self, other):
        return dict(self._values) == dict(other)

    __hash__ = None

    def __repr__(self):
        return f"Stats({', '.join(f'{name}={value}' for name, value in self._values.items())})"


def stats(device=None):
    """The counters now: live, planned, retained, not_ours, resident, peak, allocations, …

    With ``device``, those of that device: live, planned, retained, committed, peak, limit, …
    """
    return Stats(_tidemark.stats() if device is None else _tidemark.device_stats(str(device)))


def set_limit(limit, device=None):
    """Limits live, planned and retained memory of the process together; returns the old limit.

    Over it, retained memory is given back, then ResourceExhaustedError is raised and nothing is
    lost. With ``device``, the memory of that device, at most what it has.
    """
    if device is None:
        return _tidemark.set_limit(parse_bytes(limit))
    return _tidemark.set_device_limit(parse_bytes(limit), str(device))


def get_limit():
    """The limit of the process in bytes."""
    return _tidemark.limit()


def limit(size, name="limit scope"):
    """A context that limits what this thread allocates inside it, on top of all outer limits."""
    return _tidemark.LimitScope(parse_bytes(size), name)


@contextlib.contextmanager
def budget(size):
    """What a call of a function traced inside may take beside its arguments and variables.

    As ``memory_budget`` of ``tf.function``, for those that have none of their own; of scopes within
    each other the smallest counts. Traces that are there already stay as they are::

        with tf.memory.budget("500MB"):
            model.fit(images, labels)
    """
    from tidemark._functions.budgets import scope  # only functions need it

    wanted, outer = parse_bytes(size), scope.get()
    if wanted <= 0:
        raise ValueError(f"a memory budget must be above 0; {size!r} was given")
    token = scope.set(min(wanted, outer) if outer else wanted)
    try:
        yield
    finally:
        scope.reset(token)


def set_retained_limit(limit):
    """How many free bytes may be kept for the next request; returns the old value."""
    return _tidemark.set_retained_limit(parse_bytes(limit))


def release():
    """Gives all retained memory back to the system; returns how many bytes that was."""
    return _tidemark.release_retained()


def reset_peak(device=None):
    """Forgets the peak so far, of the process and of each place; returns it.

    With ``device``, that of that device.
    """
    return _tidemark.reset_peak() if device is None else _tidemark.reset_device_peak(str(device))


def report():
    """Who holds how much: text of 80 columns; a table in a notebook; ``.to_json()``.

    Python's objects are walked for it, which takes a tenth of a second or so.
    """
    from tidemark._explain.report import report as make  # only reports need it

    return make()


def explain():
    """Who keeps the live buffers, in words, largest first: ``.words``, ``.bytes``, ``.count``, ….

    ``list "results" in leaky() at train.py:12``; Python's objects are walked for it.
    """
    from tidemark._explain.holders import holders as walk  # only reports need it

    return walk()


def explain_peak(recording, planned=None):
    """What the peak of a recording is made of: [(words, bytes)], what was planned first.

    Together they are the peak. ``planned``: the bytes of a plan that was made before it began.
    """
    from tidemark._explain.peaks import items  # only reports need it

    return items(_tidemark.analyse_recording(str(recording)), planned)


def step(name=""):
    """Marks the beginning of a step, where the recorder should not find them by itself."""
    _tidemark.recording_mark("step", name)


class record:
    """Records what happens to memory: ``with tf.memory.record("run.tidemark"): ...``.

    Without a path the last ``events`` events stay in memory until ``save(path)``. ``tidemark
    report`` and ``tidemark export`` read the file; docs/recording-format.md tells its format.
    """

    def __init__(self, path=None, events=1 << 20):
        self._path, self._events = path, events

    def start(self):
        """Begins; raises when a recording is under way."""
        _tidemark.recording_start("" if self._path is None else str(self._path), self._events)
        return self

    def stop(self):
        """Ends; a dict of how it went: events, lost, path, error."""
        return _tidemark.recording_stop()

    def save(self, path):
        """Writes the last events down."""
        _tidemark.recording_save(str(path))

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        self.stop()
        return False


def allow_watching():
    """Lets ``tidemark watch PID`` of the same user look at this process; returns the socket."""
    from tidemark._explain.serving import enable  # only reports need it

    return enable()


_marks = collections.deque(maxlen=256)


def mark(text):
    """Notes that something happened now, a deploy or a model that was loaded again: recordings and
    ``tidemark watch --record`` show it beside the memory of that time."""
    _marks.append((time.time(), str(text)))
    if _tidemark.recording_status()["on"]:
        _tidemark.recording_mark("mark", str(text))


def marks():
    """The last marks: [(seconds since 1970, text)]."""
    return list(_marks)


def prometheus():
    """The counters in Prometheus's text format."""
    from tidemark._explain.exports import prometheus as text  # only reports need it

    return text()


def tracemalloc_snapshot():
    """The live buffers as a ``tracemalloc.Snapshot``, in a domain of their own."""
    from tidemark._explain.exports import tracemalloc_snapshot as make  # only reports need it

    return make()


def live():
    """The live buffers, largest first: place, op, holder, dtype, shape and bytes of each."""
    return _tidemark.live_buffers()


def places():
    """The source lines that made live or peak memory, largest first."""
    return _tidemark.places()


def holders():
    """Live and peak bytes by what holds them."""
    return _tidemark.holders()


def set_source_lines(enabled):
    """Whether each allocation notes the line of the user's code; returns the old value."""
    return _tidemark.set_source_lines(bool(enabled))


def __getattr__(name):
    if name == "Plan":  # of functions, whose module needs this one
        from tidemark._functions.plan import Plan  # only functions need it

        return Plan
    if name == "WorkersPlan":
        from tidemark.distribute._planning import WorkersPlan  # only plans of workers need it

        return WorkersPlan
    raise AttributeError(f"module 'tidemark.memory' has no attribute {name!r}")
