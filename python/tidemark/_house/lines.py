"""The program's lines as they run, told by Python's own trace: of the thread that asks."""

from __future__ import annotations

import sys
import threading

from tidemark._explain import links

_MOST_CALLS = 20_000  # of libraries' functions, which are told of as well


class Lines:
    """``start(moved)`` calls ``moved(file, line)`` before each line of the program's, when one of
    its functions begins, and when one ends (with the line that goes on), until it answers
    False."""

    def __init__(self, is_alone=lambda: True):
        """``is_alone()``: whether no other thread is known to run the program's lines."""
        self._moved, self._calls, self._is_alone = None, 0, is_alone

    def is_sure(self):
        """Whether what happened since the last line is the doing of the thread that tells."""
        return self._is_alone() and not _runs_elsewhere()

    def start(self, moved):
        """Whether there is no trace yet: a debugger's is left alone."""
        if sys.gettrace() is not None:
            return False
        self._moved, self._calls = moved, 0
        frame = sys._getframe(1)
        while frame is not None:
            is_free = frame.f_trace is None or _is_ours(frame.f_trace)
            if is_free and links.is_programs(frame.f_code.co_filename):
                frame.f_trace = self._at_line
            frame = frame.f_back
        sys.settrace(self._at_call)
        return True

    def stop(self):
        """In another thread than the one that is traced: at its next event."""
        self._moved = None
        if _is_ours(sys.gettrace()):
            sys.settrace(None)

    def _tell(self, frame):
        moved = self._moved
        place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
        if moved is None or not moved(*place):
            self.stop()

    def _at_call(self, frame, event, arg):
        self._calls += 1
        if self._moved is None or self._calls > _MOST_CALLS:
            self.stop()
            return None
        if not links.is_programs(frame.f_code.co_filename):
            return None
        self._tell(frame)
        return self._at_line

    def _at_line(self, frame, event, arg):
        if event == "return":
            frame = frame.f_back
            while frame is not None and not links.is_programs(frame.f_code.co_filename):
                frame = frame.f_back
        self._tell(frame)
        return self._at_line


def _is_ours(trace):
    return isinstance(getattr(trace, "__self__", None), Lines)


def _runs_elsewhere():
    """Whether another thread runs lines of the program's: it may have been the one that added."""
    own = threading.get_ident()
    for other, frame in sys._current_frames().items():
        while frame is not None and other != own:
            if links.is_programs(frame.f_code.co_filename):
                return True
            frame = frame.f_back
    return False
