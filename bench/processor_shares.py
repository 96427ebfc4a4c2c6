"""Shares of the processors for groups of processes, so that what else a machine does hardly counts.

    with ProcessorShares() as shares:
        shares.give("server", server.pid)
        shares.give("attackers", pid, few=True)

Nothing where the system does not let us: ``are_given`` says so.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

# File → the largest and the smallest number it takes.
WEIGHTS = {"cpu.shares": (1 << 18, 2), "cpu.weight": (10_000, 1)}


def hierarchies():
    """Folders of the kernel's in which groups have shares of the processors."""
    with open("/proc/mounts") as mounts:
        for line in mounts:
            _, folder, kind, options = line.split()[:4]
            if kind == "cgroup" and "cpu" in options.split(","):
                yield Path(folder)
            elif kind == "cgroup2":
                used = Path(folder, "cgroup.subtree_control")
                if used.exists() and "cpu" in used.read_text().split():
                    yield Path(folder)


class ProcessorShares:
    def __init__(self):
        self._folder = None
        self._groups = {}

    @property
    def are_given(self):
        return self._folder is not None

    def give(self, name, process, few=False):
        """To a process and those that it starts from now on: nearly all, or nearly none."""
        if not self.are_given:
            return
        if name not in self._groups:
            self._groups[name] = self._made(self._folder / name, few)
        (self._groups[name] / "cgroup.procs").write_text(str(process))

    def _made(self, folder, few=False):
        folder.mkdir()
        for file, (most, least) in WEIGHTS.items():
            if (folder / file).exists():
                (folder / file).write_text(str(least if few else most))
        return folder

    def __enter__(self):
        for root in hierarchies():
            with contextlib.suppress(OSError):
                folder = self._made(root / f"tidemark-{os.getpid()}")
                self._folder = folder
                if (folder / "cgroup.subtree_control").exists():
                    (folder / "cgroup.subtree_control").write_text("+cpu")
                break
        return self

    def __exit__(self, *_):
        """Groups whose processes have ended go; others stay, and are empty before long."""
        for folder in [*self._groups.values(), self._folder]:
            with contextlib.suppress(OSError, TypeError, AttributeError):
                folder.rmdir()
