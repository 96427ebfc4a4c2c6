"""Letting ``tidemark watch`` look: a socket that answers with the numbers of the moment."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import stat
import struct
import sys
import tempfile
import threading

_lock = threading.Lock()
_server = None


# Of an answer: some forty lines of text and a few numbers.
MOST_BYTES = 1 << 24
_MOST_ROOTS = 40
_LONGEST_WORD = 16
_PATIENCE, _PATIENCE_FOR_A_WALK = 5.0, 60.0  # seconds


def _folders():
    """Where the socket may lie, best first."""
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        yield runtime
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        yield os.path.join(home, ".cache", "tidemark", "run")
    yield os.path.join(tempfile.gettempdir(), f"tidemark-{os.getuid()}")


def _is_private(folder):
    """Nobody else can put a socket there, nor a link in the folder's place."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    )


def _name(folder, pid):
    path = os.path.join(folder, f"tidemark-{pid}.sock")
    return path if len(os.fsencode(path)) < 100 else None  # the system's bound is 107


def path_of(pid):
    """Where a process of this user answers. Raises FileNotFoundError where there is none."""
    for folder in _folders():
        path = _name(folder, pid)
        if path and _is_private(folder) and os.path.exists(path):
            return path
    raise FileNotFoundError(f"it has no socket in {' or '.join(_folders())}")


def _new_path():
    """Where this process answers: in the first folder that is ours alone, or can be made so."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        path = _name(folder, os.getpid())
        if path and _is_private(folder):
            return path
    raise PermissionError(
        f"none of {', '.join(_folders())} belongs to this user alone; make one so (mode 0700), or "
        "set XDG_RUNTIME_DIR to a folder that does"
    )


def enable(answers=None):
    """Begins to answer, on a thread of its own; returns the socket's path.

    ``answers``: {word: function} of what is told to whom asks with that word; without it this
    process runs Tidemark, and tells its own numbers."""
    global _server
    with _lock:
        if _server is not None and _server[0] == os.getpid():
            return _server[1]
        path = _new_path()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(old)
        listener.listen(4)
        threading.Thread(
            target=_serve, args=(listener, answers or _OWN), daemon=True, name="tidemark-watch"
        ).start()
        _server = (os.getpid(), path)
        atexit.register(_remove, os.getpid(), path)
        return path


def _remove(pid, path):
    if pid == os.getpid():
        with contextlib.suppress(OSError):
            os.unlink(path)


def _serve(listener, answers):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.settimeout(_PATIENCE)
            word = connection.recv(_LONGEST_WORD).decode("ascii", "replace")
            data = json.dumps(answers.get(word, answers["moment"])()).encode()
            connection.sendall(struct.pack("<I", len(data)) + data)


def snapshot():
    """The numbers; no object is walked."""
    from tidemark import _tidemark, memory  # what is watched may be another library

    groups = _tidemark.live_groups()
    return {
        **_workers(),
        "stats": dict(_tidemark.stats()), "holders": _tidemark.holders(),
        "groups": [list(group) for group in groups[:40]],
        "recording": _tidemark.recording_status(), "marks": memory.marks(),
    }  # fmt: skip


def _workers():
    """All workers, where this process is one of several: name, whether it is there, bytes now and
    at peak, what it does."""
    distribute = sys.modules.get("tidemark.distribute._workers")
    groups = distribute.joined_groups() if distribute else []
    seen = [list(one) for group in groups for one in group.seen]
    return {"workers": seen} if seen else {}


def roots():
    """Who keeps most: Python's objects are walked for it."""
    from tidemark._explain import holders  # what is watched may be another library

    return {"roots": [_root_of(holder) for holder in holders.holders()[:_MOST_ROOTS]]}


def _root_of(holder):
    ways = sorted(holder.ways.values(), key=lambda way: -sum(way.groups.values()))
    told = [link.words(items) for link, items in reversed(ways[0].links)] if ways else []
    place = max(holder.groups, key=holder.groups.get)[0] if holder.groups else ""
    return [place, " ← ".join(told) or holder.words, holder.bytes, holder.count]


_OWN = {"moment": snapshot, "roots": roots}


def ask(pid, word="moment"):
    """What a process answers. Raises OSError where it does not."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_PATIENCE if word == "moment" else _PATIENCE_FOR_A_WALK)
        connection.connect(path_of(pid))
        _, user, _ = struct.unpack(
            "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        )
        if user != os.getuid():
            raise PermissionError(f"user {user} answers, not {os.getuid()}")
        connection.sendall(word.encode())
        connection.shutdown(socket.SHUT_WR)
        (length,) = struct.unpack("<I", _exactly(connection, 4))
        if length > MOST_BYTES:
            raise OSError(f"an answer of {length} bytes; at most {MOST_BYTES} are read")
        return json.loads(_exactly(connection, length))


def _exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise OSError("the connection ended early")
        data += part
    return data
