"""What looks find: roots, holders, owners, and the ways that lead to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark._explain import links


@dataclass
class Root:
    """Where a walk begins: a local variable, or the globals of a module."""

    kind: str
    name: str
    value: object
    function: str = ""
    file: str = ""
    line: int = 0
    lines: tuple = (1, 1 << 30)
    thread: str = ""


@dataclass
class Way:
    """How what a holder keeps is reached: links from the root on, and what is kept that way."""

    links: tuple  # of (Link, items)
    count: int = 0  # of holders
    groups: dict = field(default_factory=dict)  # (place, op, ledger's holder) → bytes

    def add(self, other):
        self.links = links.merged(self.links, other.links)
        self.count += other.count
        add_up(self.groups, other.groups)


def add_up(sums, more):
    """Adds each value to that of the same key."""
    for key, value in more.items():
        sums[key] = sums.get(key, 0) + value


@dataclass
class Holder:
    """One keeper of buffers."""

    words: str  # for people: list "results" in leaky() at train.py:12
    kind: str  # list, dict, local, global, attribute, closure, traceback, cycle, tape, variable, …
    name: str = ""
    file: str = ""
    line: int = 0
    bytes: int = 0
    count: int = 0
    groups: dict = field(default_factory=dict)  # (place, op, ledger's holder) → bytes
    thread: str = ""
    requested: dict = field(default_factory=dict)  # as groups: without headers and rounding
    ways: dict = field(default_factory=dict)  # links → Way

    def add(self, size, count, groups, requested):
        self.bytes += size
        self.count += count
        add_up(self.groups, groups)
        add_up(self.requested, requested)

    def add_way(self, links, groups, count=1):
        """One of the ways to what it keeps, from a root on."""
        way = Way(tuple(links), count, dict(groups))
        same = self.ways.setdefault(tuple(link for link, _ in links), way)
        if same is not way:
            same.add(way)

    @property
    def is_in_cycles(self):
        """Whether only cycles keep it, which the collector will come for."""
        return self.kind in ("cycle", "library's cycle")

    def forget(self, key):
        """Bytes that somebody else keeps."""
        self.bytes -= self.groups.pop(key, 0)
        self.requested.pop(key, None)
        for way in self.ways.values():
            way.groups.pop(key, None)

    def add_all(self, other):
        """What another of the same words keeps."""
        self.add(other.bytes, other.count, other.groups, other.requested)
        for way in other.ways.values():
            self.add_way(way.links, way.groups, way.count)

    @property
    def text(self):
        """The words, and of how many."""
        return f"{self.words}, {self.count} tensors" if self.count > 1 else self.words

    def to_json(self):
        return {
            "holder": self.text, "kind": self.kind, "name": self.name, "file": self.file,
            "line": self.line, "bytes": self.bytes, "count": self.count,
            "places": [[*key, value] for key, value in sorted(
                self.groups.items(), key=lambda item: -item[1])[:8]],
        }  # fmt: skip


@dataclass
class Owner:
    """Objects of one sort and one origin."""

    kind: str  # "function", "iterator" or "session"
    origin: tuple  # what is known of where it was made
    ways: list = field(default_factory=list)  # of Way
