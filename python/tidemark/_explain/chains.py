"""Chains: from the bytes of a finding to who keeps them alive, up to a name in the program.

exp (18 KiB) ← GradientTape made at train.py:5 ← list "tapes" (150 items) at train.py:9
← module __main__
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tidemark._explain import links
from tidemark._explain.source import bytes_text

_MOST_WAYS = 512  # of one sort of bytes
_FEWEST_ITEMS = 3
_ENOUGH_LOOKS = 3  # at which a container that does not gain shows that something else does
_MANY_NAMES = 8


@dataclass
class Chain:
    """The way that most of a finding's bytes are kept, and what grows on it."""

    links: tuple  # of (Link, items), from the root on
    grower: links.Link | None = None
    what: str = ""  # exp (18 KiB)

    @property
    def root(self):
        link, items = self.links[0]
        return link.words(items)

    def words(self):
        """From the bytes to the root."""
        told = [link.words(items) for link, items in reversed(self.links)]
        return [self.what, *told] if self.what else told

    def to_json(self):
        told = [
            {"words": link.words(items), "kind": link.kind, "name": link.name, "items": items,
             "file": link.file, "line": link.line}
            for link, items in reversed(self.links)
        ]  # fmt: skip
        what = {"words": self.what, "kind": "bytes", "name": self.what.partition(" ")[0]}
        return [{**what, "items": 0, "file": "", "line": 0}, *told] if self.what else told


@dataclass
class Seen:
    """The ways that looks have found, of each sort of bytes and of each owner."""

    ways: dict = field(default_factory=dict)  # group → (bytes, {links: (bytes, links with items)})
    cycles: dict = field(default_factory=dict)  # likewise, of what only a cycle keeps
    owned: dict = field(default_factory=dict)  # (kind, origin) → (count, …) likewise
    items: dict = field(default_factory=dict)  # Link → (items at the first look, at most)
    looks: Counter = field(default_factory=Counter)  # Link → at how many it was there
    requested: dict = field(default_factory=dict)  # group → share of the bytes that was asked for

    def note(self, found, owned):
        """One look."""
        now, garbage = {}, {}
        for holder in found:
            for key, size in holder.groups.items():
                if size > 0:
                    self.requested[key] = min(1.0, holder.requested.get(key, size) / size)
            for way in holder.ways.values():
                of_sort = garbage if holder.is_in_cycles else now
                for key, size in way.groups.items():
                    _add(of_sort.setdefault(key, {}), way.links, size)
        _keep_larger(self.ways, now)
        _keep_larger(self.cycles, garbage)
        now = {}
        for owner in owned:
            for way in owner.ways:
                _add(now.setdefault((owner.kind, owner.origin), {}), way.links, way.count)
        _keep_larger(self.owned, now)
        self._note_items([*now.values(), *(kept for _, kept in self.ways.values())])

    def _note_items(self, all_ways):
        seen = {}
        for kept in all_ways:
            for _, told in kept.values():
                seen.update({link: max(items, seen.get(link, 0))
                             for link, items in told if link.is_container})  # fmt: skip
        for link, items in seen.items():
            first, last = self.items.get(link, (items, items))
            self.items[link] = (first, max(last, items))
        self.looks.update(list(seen))

    def of_groups(self, keys, what="", in_cycles=False):
        """The chain of bytes of these groups; None: no look has seen them."""
        together = {}
        ways = self.cycles if in_cycles else self.ways
        for key in keys:
            for told, (size, links_) in ways.get(key, (0, {}))[1].items():
                size += together.get(told, (0, None))[0]
                together[told] = (size, links_)
        return self._heaviest(together, what)

    def of_owner(self, kind, origin, what=""):
        """The chain to most of the objects of one sort; None: no look has seen them."""
        return self._heaviest(self.owned.get((kind, origin), (0, {}))[1], what)

    def _heaviest(self, ways, what):
        if not ways:
            return None
        if (named := _by_names(ways)) is not None:
            return Chain(named, named[-1][0], what)
        by_grower = {}
        for told, (size, _) in ways.items():
            grower = self._grower(told)
            by_grower[grower] = by_grower.get(grower, 0) + size
        grower = max(by_grower, key=lambda one: by_grower[one])
        told = max((t for t in ways if self._grower(t) == grower), key=lambda t: ways[t][0])
        return Chain(ways[told][1], grower, what)

    def _grower(self, told):
        """What grows on the way: of containers the one that has gained most between looks, or has
        most where none was seen to gain; the innermost of equals. None: there is none."""
        containers = [link for link in reversed(told) if link in self.items]
        gained = {link: self.items[link][1] - self.items[link][0] for link in containers}
        if not any(gained.values()):
            gained = {link: self.items[link][1] for link in containers
                      if self.items[link][1] >= _FEWEST_ITEMS
                      and self.looks[link] < _ENOUGH_LOOKS}  # fmt: skip
        return max(gained, key=lambda link: gained[link], default=None)


def _by_names(ways):
    """The way to a namespace that keeps most of it, each by a name of its own; None: it is kept in
    another way."""
    by_owner = {}
    for told, (size, links_) in ways.items():
        is_named = len(told) > 1 and told[-1].kind in ("variable", "attribute")
        if is_named and not told[-1].is_container:
            by_owner.setdefault(told[:-1], []).append((size, links_))
    for named in by_owner.values():
        share = sum(size for size, _ in named)
        if len(named) >= _MANY_NAMES and 2 * share > sum(size for size, _ in ways.values()):
            (*owner, (last, _)) = named[0][1]
            sort = "attributes" if last.kind == "attribute" else "variables"
            return (*owner, (links.Link(sort, "names", is_container=True), len(named)))
    return None


def _add(ways, told, size):
    key = tuple(link for link, _ in told)
    if key in ways:
        size, told = size + ways[key][0], links.merged(ways[key][1], told)
    elif len(ways) >= _MOST_WAYS:
        return
    ways[key] = (size, told)


def _keep_larger(kept, now):
    """Of each sort the look at which there was most of it."""
    for key, ways in now.items():
        size = sum(one for one, _ in ways.values())
        if size >= kept.get(key, (0, {}))[0]:
            kept[key] = (size, ways)


def first_words(op, size):
    """What is kept: exp (18 KiB)."""
    return f"{op or 'values'} ({bytes_text(size)})"
