"""Letting ``tidemark watch`` look: a socket that answers with the numbers of the moment."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import tempfile
import threading

from tidemark import _tidemark

_lock = threading.Lock()
_server = None


def path_of(pid):
    """Where a process answers; only its own user can look."""
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return os.path.join(folder, f"tidemark-{os.getuid()}-{pid}.sock")


def enable():
    """Begins to answer, on a thread of its own; returns the socket's path."""
    global _server
    with _lock:
        if _server is not None and _server[0] == os.getpid():
            return _server[1]
        path = path_of(os.getpid())
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
            target=_serve, args=(listener,), daemon=True, name="tidemark-watch"
        ).start()
        _server = (os.getpid(), path)
        import atexit

        atexit.register(_remove, os.getpid(), path)
        return path


def _remove(pid, path):
    if pid == os.getpid():
        with contextlib.suppress(OSError):
            os.unlink(path)


def _serve(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            data = json.dumps(snapshot()).encode()
            connection.sendall(struct.pack("<I", len(data)) + data)


def snapshot():
    """The numbers; no object is walked."""
    groups = _tidemark.live_groups()
    return {
        "stats": dict(_tidemark.stats()), "holders": _tidemark.holders(),
        "groups": [list(group) for group in groups[:40]],
        "recording": _tidemark.recording_status(),
    }  # fmt: skip


def ask(pid):
    """What a process answers. Raises OSError where it does not."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        connection.connect(path_of(pid))
        (length,) = struct.unpack("<I", _exactly(connection, 4))
        return json.loads(_exactly(connection, length))


def _exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise OSError("the connection ended early")
        data += part
    return data
