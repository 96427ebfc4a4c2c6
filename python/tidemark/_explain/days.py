"""Recordings over days: what ``tidemark watch --record`` writes, bounded, and what they say.

A file of JSON lines. The first tells what it is; then come samples, processes and marks, in order
of time. When there are too many samples every second one of the older ones goes: a week takes as
much room as a day, and the last hours are told most exactly.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field

from tidemark._explain import growth
from tidemark._explain.source import bytes_text

MOST_SAMPLES = 4096
_MOST_ROWS = 12  # lines of the program in a sample
_MOST_MARKS = 1024
_HEAD = {"tidemark": "watch", "version": 1}
_HOUR = 3600.0


class FormatError(ValueError):
    """The file is no recording of ``tidemark watch --record``."""


@dataclass
class Recording:
    """What was seen of a service, over processes and restarts."""

    samples: list = field(default_factory=list)  # of dict: t, live, resident, peak, rows
    marks: list = field(default_factory=list)  # (t, text)
    processes: list = field(default_factory=list)  # of dict: t, pid, command
    roots: list = field(default_factory=list)  # the last: (line, chain, bytes, tensors)

    def lines(self):
        """The file's, in order of time."""
        yield _HEAD
        rows = [{"process": one["pid"], **one} for one in self.processes]
        rows += [{"mark": text, "t": t} for t, text in self.marks]
        rows += self.samples
        yield from sorted(rows, key=lambda row: row["t"])
        if self.roots:
            yield {"roots": self.roots}

    def thin(self):
        """Drops every second of the older three quarters, when there are too many."""
        if len(self.samples) < MOST_SAMPLES:
            return False
        cut = 3 * len(self.samples) // 4
        self.samples = self.samples[:cut:2] + self.samples[cut:]
        self.marks = self.marks[-_MOST_MARKS:]
        return True


def read(path):
    """A Recording; raises FormatError where a file is none, and leaves out a line cut short."""
    found = Recording()
    with open(path, encoding="utf-8", errors="replace") as opened:
        lines = opened.read().splitlines()
    try:
        head = json.loads(lines[0]) if lines else None
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("tidemark") != "watch":
        raise FormatError(f"{path} is no recording of `tidemark watch --record`")
    for line in lines[1:]:
        try:
            row = json.loads(line)
            _take(found, row)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # the writer was stopped in the middle of it
    return found


def _take(found, row):
    if "roots" in row:
        found.roots = [tuple(one) for one in row["roots"]]
    elif "mark" in row:
        found.marks.append((float(row["t"]), str(row["mark"])))
    elif "process" in row:
        found.processes.append(
            {"t": float(row["t"]), "pid": int(row["process"]), "command": str(row["command"])}
        )
    else:
        sample = {key: int(row[key]) for key in ("live", "resident", "peak")}
        rows = [(str(place), str(op), int(size)) for place, op, size in row["rows"]]
        found.samples.append({"t": float(row["t"]), **sample, "rows": rows})


class Writer:
    """Adds to a recording, which may have been begun before."""

    def __init__(self, path):
        self._path = path
        exists = os.path.exists(path) and os.path.getsize(path)
        self.recording = read(path) if exists else Recording()
        self._known_marks = set(self.recording.marks)
        if not exists:
            self._rewrite()

    def begin(self, pid, command, now=None):
        """A process is watched from now on: another than before is a deploy."""
        now = time.time() if now is None else now
        before = self.recording.processes
        if before and before[-1]["pid"] == pid:
            return
        if before:
            self.mark(now, f"deploy: process {before[-1]['pid']} is followed by {pid}")
        before.append({"t": now, "pid": pid, "command": command})
        self._append({"process": pid, **before[-1]})

    def mark(self, when, text):
        """Something that happened: a deploy, a model that was loaded again."""
        if (when, text) not in self._known_marks:
            self._known_marks.add((when, text))
            self.recording.marks.append((when, text))
            self._append({"mark": text, "t": when})

    def add(self, moment, now=None):
        """One answer of a process."""
        stats = moment["stats"]
        rows = [(place, op, size) for place, op, _, size, *_ in moment["groups"][:_MOST_ROWS]]
        sample = {"t": time.time() if now is None else now, "live": stats["live"],
                  "resident": stats["resident"], "peak": stats["peak"], "rows": rows}  # fmt: skip
        self.recording.samples.append(sample)
        for when, text in moment.get("marks", ()):
            self.mark(when, text)
        if self.recording.thin():
            self._rewrite()
        else:
            self._append(sample)

    def add_roots(self, roots):
        """Who keeps most, of the last time it was looked at."""
        self.recording.roots = [tuple(one) for one in roots]
        self._append({"roots": roots})

    def _append(self, row):
        with open(self._path, "a", encoding="utf-8") as opened:
            opened.write(json.dumps(row) + "\n")

    def _rewrite(self):
        """As a whole or not at all."""
        new = f"{self._path}.new"
        with open(new, "w", encoding="utf-8") as opened:
            opened.writelines(json.dumps(row) + "\n" for row in self.recording.lines())
        os.replace(new, self._path)


# --- what it says ---------------------------------------------------------------------------------


@dataclass
class Trend:
    """How one line of the program has gone."""

    place: str
    op: str
    first: int
    last: int
    an_hour: float  # bytes; 0 where it does not grow
    root: str = ""


def trends(recording):
    """[Trend] of the program's lines since the last deploy, what grows most first."""
    begin = recording.processes[-1]["t"] if recording.processes else 0.0
    samples = [one for one in recording.samples if one["t"] >= begin]
    roots = {}
    for place, chain, _, _ in recording.roots:
        roots.setdefault(place, chain)
    keys = dict.fromkeys((place, op) for one in samples for place, op, _ in one["rows"])
    found = []
    for place, op in keys:
        values = [sum(size for p, o, size in one["rows"] if (p, o) == (place, op))
                  for one in samples]  # fmt: skip
        grown = growth.judge([one["t"] - begin for one in samples], values)
        rate = grown.bytes_per_step * _HOUR if grown.is_growing else 0.0
        found.append(Trend(place, op, values[0], values[-1], rate, roots.get(place, "")))
    return sorted(found, key=lambda one: (-one.an_hour, -one.last))


def hours(recording):
    """[(seconds at the hour's beginning, live bytes at its end, change, [marks])]."""
    found = {}
    for one in recording.samples:
        found.setdefault(one["t"] // _HOUR * _HOUR, []).append(one["live"])
    rows, before = [], None
    for begin, values in sorted(found.items()):
        marks = [text for t, text in recording.marks if begin <= t < begin + _HOUR]
        rows.append((begin, values[-1], values[-1] - (values[0] if before is None else before),
                     marks))  # fmt: skip
        before = values[-1]
    return rows


def text(recording):
    """For a terminal: hour by hour, then what grows, by line and root."""
    samples = recording.samples
    if not samples:
        return "nothing was recorded yet"
    lines = [f"{len(samples):,} samples over {(samples[-1]['t'] - samples[0]['t']) / _HOUR:.1f} "
             "hours", "", f"{'hour':<18}{'live':>10}{'change':>11}"]  # fmt: skip
    for begin, live, change, marks in hours(recording):
        when = time.strftime("%a %d %b, %H:%M", time.localtime(begin))
        lines.append(f"{when:<18}{bytes_text(live):>10}{_signed(change):>11}")
        lines += [f"  * {mark}" for mark in marks]
    growing = [one for one in trends(recording) if one.an_hour > 0]
    lines += ["", "grows" if growing else "no line of the program grows"]
    for one in growing[:10]:
        lines.append(f"{bytes_text(one.an_hour):>10} an hour  {one.op} at {one.place}")
        lines += [f"{'':>10}   kept {one.root}"] if one.root else []
    return "\n".join(lines)


def difference(before, after):
    """[(place, op, bytes before, bytes after, bytes an hour before, after, root)], what grew most
    between two recordings first."""
    old = {(one.place, one.op): one for one in trends(before)}
    new = {(one.place, one.op): one for one in trends(after)}
    rows = []
    for place, op in dict.fromkeys([*new, *old]):
        was, now = old.get((place, op)), new.get((place, op))
        rows.append((place, op, was.last if was else 0, now.last if now else 0,
                     was.an_hour if was else 0.0, now.an_hour if now else 0.0,
                     (now or was).root))  # fmt: skip
    return sorted(rows, key=lambda row: (-(row[5] - row[4]), -(row[3] - row[2])))


def difference_text(before, after):
    """For a terminal."""
    rows = [row for row in difference(before, after) if row[3] > row[2] or row[5] > row[4]]
    if not rows:
        return "nothing grew"
    lines = [f"{'before':>10}{'after':>11}{'an hour':>11}{'':<12}what"]
    for place, op, was, now, rate, rate_now, root in rows[:20]:
        rates = f"{bytes_text(rate)} → {bytes_text(rate_now)}" if rate or rate_now else ""
        lines.append(f"{bytes_text(was):>10}{bytes_text(now):>11}  {rates:<21}{op} at {place}")
        lines += [f"{'':>23}kept {root}"] if root else []
    return "\n".join(lines)


def _signed(size):
    return f"{'+' if size >= 0 else '-'}{bytes_text(abs(size))}"
