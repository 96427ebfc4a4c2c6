"""What was seen of a program while it ran."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tidemark._explain import additions, chains


@dataclass
class Seen:
    """What the looks have found."""

    holder_of: dict = field(default_factory=dict)  # (place, op, kind) → (bytes, Holder)
    by_words: dict = field(default_factory=dict)  # words → Holder with the most bytes seen
    fullest: list = field(default_factory=list)  # the holders when most was live
    threads: dict = field(default_factory=dict)  # (name, words) → {thread: bytes}
    tapes: dict = field(default_factory=dict)  # words → looks at which it was there
    open_sessions: dict = field(default_factory=dict)  # place → most at once
    dataset: tuple = (0, 0, None)  # bytes, live bytes, Holder
    chains: chains.Seen = field(default_factory=chains.Seen)
    additions: additions.Additions = field(default_factory=additions.Additions)
    looks: int = 0
    least_coverage: float = 1.0

    def note_holders(self, found, is_last):
        """Of each sort of bytes the look at which most of it was there, and its largest holder.

        When the program has ended, what its functions held may be left in cycles: that tells less
        than who held it before."""
        sums = {}
        for holder in sorted(found, key=lambda one: one.bytes):
            for key, size in holder.groups.items():
                if holder.kind != "value":
                    together = sums.get((key, holder.is_in_cycles), (0, None))[0]
                    sums[key, holder.is_in_cycles] = (together + size, holder)
        for (key, is_cycle), (size, holder) in sums.items():
            known_size, known = self.holder_of.get(key, (0, None))
            is_left = is_last and is_cycle and known is not None and not known.is_in_cycles
            if size >= known_size and not is_left:
                self.holder_of[key] = (size, holder)


@dataclass
class Run:
    """A program that was looked at."""

    analysis: dict
    seen: Seen
    notes: object  # notes.Notes, or what a house call has of it
    limit: int
    status: dict
    path: str
    stats: dict
    reported_constants: set = field(default_factory=set)
    worker: dict | None = None  # of several, and its time in collectives
    device: str = ""  # whose buffers the analysis is about; "": the CPU's

    def of_devices(self):
        """The same run as each device other than the CPU saw it."""
        for device, analysis in self.analysis.get("devices", {}).items():
            yield replace(self, analysis=analysis, limit=analysis["limit"], device=device)
