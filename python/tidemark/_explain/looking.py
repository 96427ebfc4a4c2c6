"""Looking at a program while it runs: the recorder, notes, and now and then who holds what."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import tempfile
import threading
import time

from tidemark import _tidemark, memory
from tidemark._explain import holders, links, notes, over_workers, rounds
from tidemark._explain.additions import Additions
from tidemark._explain.seen import Run, Seen

_SHARE = 0.1  # of the time that looks may take, after the first ones
_FREE_LOOKS = 6
_FREE_SECONDS = 2.0  # of looks at moments when memory has grown by a quarter
_FREE_LOOKS_AT_COLLECTIONS = 6
_MUCH_GARBAGE = 1 << 20


class _Lines:
    """The program's lines as they run, in all threads: see ``_house.lines.Lines``."""

    @staticmethod
    def is_sure():
        return True

    @staticmethod
    def start(moved):
        is_first = _tidemark.start_line_trace(moved, links.is_programs)
        if is_first and threading.gettrace() is None:
            threading.settrace(_begin_thread)
        return is_first

    @staticmethod
    def stop():
        _tidemark.stop_line_trace()
        if threading.gettrace() is _begin_thread:
            threading.settrace(None)


def _begin_thread(frame, event, arg):
    """The first event of a thread that begins while lines are told: its own are, too."""
    _tidemark.trace_lines_here()


class Looker:
    """Takes looks at moments the recorder tells and, for other threads' sake, by the clock."""

    def __init__(self):
        self.seen = Seen(additions=Additions(_Lines()))
        self._lock = threading.Lock()
        self._spent = 0.0  # of a processor: on a busy machine a clock would end the looks early
        self._began = time.monotonic()
        self._collections = 0  # that were looked at
        self._after_collection = 0  # live bytes
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._by_the_clock, daemon=True, name="tidemark-look"
        )

    def start(self):
        _tidemark.set_recording_looker(self._at_moment)
        gc.callbacks.append(self._at_collection)
        self._thread.start()

    def stop(self):
        _tidemark.set_recording_looker(None)
        gc.callbacks.remove(self._at_collection)
        self.seen.additions.end()
        self._end.set()
        self._thread.join()

    def _by_the_clock(self):
        while not self._end.wait(0.3):
            self.seen.additions.end_if_over()
            self._maybe_look()
            self.seen.additions.begin()

    def _at_collection(self, phase, _):
        """When Python's collector begins, what only cycles keep is at its most."""
        live = sum(use["live_bytes"] for use in _tidemark.holders())
        if phase == "stop":
            self._after_collection = live
        elif self._collections >= _FREE_LOOKS_AT_COLLECTIONS:
            self._maybe_look()
        elif live - self._after_collection >= _MUCH_GARBAGE:
            self._collections += 1
            self.look()

    def _at_moment(self):
        """The recorder says that there is more than before: what a short function gathers is seen
        while it runs, or never."""
        if self._spent < _FREE_SECONDS:
            self.look()
        else:
            self._maybe_look()
        self.seen.additions.begin()

    def _maybe_look(self):
        if _tidemark.stats()["live"] == 0:
            return  # as while modules are loaded: the free looks are for what comes then
        elapsed = time.monotonic() - self._began
        if self.seen.looks >= _FREE_LOOKS and self._spent > _SHARE * elapsed:
            return
        self.look()

    def look(self, is_last=False):
        """One look at everything that is alive; none while another is at it, but the last."""
        if not self._lock.acquire(blocking=is_last):
            return
        try:
            self.seen.additions.end()  # a look is no part of the program
            began = time.thread_time()
            self._note(*holders.look(self.seen.additions, is_last), is_last)
            self._spent += time.thread_time() - began
        finally:
            self._lock.release()

    def _note(self, found, owned, is_last):
        seen = self.seen
        seen.chains.note(found, owned)
        seen.note_holders(found, is_last)
        seen.looks += 1
        live = sum(h.bytes for h in found)
        if live >= sum(h.bytes for h in seen.fullest):
            seen.fullest = found
        for holder in found:
            known = seen.by_words.get(holder.words)
            if known is None or holder.bytes >= known.bytes:
                seen.by_words[holder.words] = holder
            if holder.thread and holder.thread != "MainThread":
                at = seen.threads.setdefault(holder.words, {})
                at[holder.thread] = max(at.get(holder.thread, 0), holder.bytes)
            if holder.kind == "tape":
                seen.tapes[holder.words] = seen.tapes.get(holder.words, 0) + 1
            if holder.kind == "dataset" and holder.bytes > seen.dataset[0]:
                seen.dataset = (holder.bytes, live, holder)
        self._note_sessions()

    def _note_sessions(self):
        session_module = sys.modules.get("tidemark._v1.session")
        if session_module is None:
            return
        open_now = {}
        for obj in gc.get_objects():
            if isinstance(obj, session_module.BaseSession) and not obj._session.is_closed:
                place = obj._opened_at or "?"
                open_now[place] = open_now.get(place, 0) + 1
        for place, count in open_now.items():
            self.seen.open_sessions[place] = max(self.seen.open_sessions.get(place, 0), count)


class Watched:
    """Around a program: ``with Watched(path) as w: ...``, then ``w.run()``."""

    def __init__(self, path=None):
        self._own = path is None
        if self._own:
            handle, path = tempfile.mkstemp(prefix="tidemark-", suffix=".recording")
            os.close(handle)
        self.path = path
        self._looker = Looker()
        self._worker = None

    def __enter__(self):
        self._notes = notes.start()
        _tidemark.recording_start(self.path)
        self._looker.start()
        return self

    def last_look(self):
        """At the end of the program, while its variables are still there."""
        self._looker.look(is_last=True)
        self._worker = over_workers.own_times()

    def __exit__(self, *error):
        self._looker.stop()
        self._stats = dict(memory.stats().items())
        self._status = _tidemark.recording_stop()
        notes.stop()
        return False

    def result(self):
        """All of it, analysed."""
        labels = {key: holder.words for key, (_, holder) in self._looker.seen.holder_of.items()}
        analysis = analysed(self.path, labels)
        run = Run(analysis, self._looker.seen, self._notes, memory.get_limit(), self._status,
                  self.path, self._stats, worker=self._worker)  # fmt: skip
        if self._own:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        return run


def analysed(path, labels=None):
    """What a recording tells; lines that the source runs now and then are no steps."""
    places = _tidemark.recorded_places(path)
    occasional = {place for place in places if rounds.is_occasional(place)}
    return _tidemark.analyse_recording(path, labels, occasional)


def recorded(path):
    """A run of which only the recording is left."""
    analysis = analysed(path)
    return Run(analysis, Seen(), notes.Notes(), analysis["limit"], {}, path, {})
