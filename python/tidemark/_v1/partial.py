"""``partial_run``: a run in several parts, in which everything is computed once."""

from __future__ import annotations

import itertools

from tidemark import _tidemark
from tidemark._tidemark import Tensor
from tidemark._v1.graph import Operation
from tidemark.errors import InvalidArgumentError

_numbers = itertools.count(1)


def _key(tensor):
    return (_tidemark.node_of(tensor).sequence, _tidemark.output_index(tensor))


def _label(item):
    return item.name


class Partial:
    """What is still to be fetched and fed, and the values that later parts need."""

    def __init__(self, session, fetches, feeds):
        self._session = session
        flat, _ = session._taken_apart(fetches)
        self._waiting = {self._id(item): item for item in map(session._fetch, flat)}
        graph = session.graph
        announced = [graph.as_graph_element(feed) for feed in feeds or ()]
        self._to_feed = {_key(tensor): tensor for tensor in announced}
        self._values = {}  # key → (tensor, value): fed, or computed and needed again
        self._done = set()  # sequence numbers of the nodes that have run
        self.name = f"partial_run_{next(_numbers)}"

    is_done = property(lambda self: not self._waiting)

    @staticmethod
    def _id(item):
        return item._node.sequence if isinstance(item, Operation) else _key(item)

    def run(self, fetches, feed_dict):
        """The values of the fetches, which were announced and have not been fetched."""
        session = self._session
        flat, pack = session._taken_apart(fetches)
        wanted = [session._fetch(item) for item in flat]
        for item in wanted:
            if self._id(item) not in self._waiting:
                raise InvalidArgumentError(
                    None, None, f"Must specify fetch {_label(item)} in setup. It was not "
                    "announced, or was fetched already"
                )  # fmt: skip
        for tensor, value in session._feeds(feed_dict) if feed_dict else ():
            if self._to_feed.pop(_key(tensor), None) is None:
                raise InvalidArgumentError(
                    None, None, f"Must specify feed {_label(tensor)} in setup. It was not "
                    "announced, or was fed already"
                )  # fmt: skip
            self._values[_key(tensor)] = (tensor, value)
        ready = self._nodes_before(wanted)
        self._check_fed(ready)
        for item in wanted:
            del self._waiting[self._id(item)]
        later = self._needed_later(ready)
        results = self._compute(wanted, later)
        self._done |= ready
        return pack(results)

    def _nodes_before(self, items):
        """The nodes that have to run for these: not beyond what has a value."""
        found, stack = {}, []

        def visit(item):
            if isinstance(item, Tensor):
                if not _tidemark.is_symbolic(item) or _key(item) in self._values:
                    return
                item = _tidemark.node_of(item)
            else:
                item = getattr(item, "_node", item)
            if item.sequence not in found and item.sequence not in self._done:
                found[item.sequence] = item
                stack.append(item)

        for item in items:
            visit(item)
        while stack:
            node = stack.pop()
            for item in (*node.inputs, *node.before):
                visit(item)
        self._nodes = found
        return set(found)

    def _check_fed(self, ready):
        for (sequence, _), tensor in self._to_feed.items():
            if sequence in ready:
                raise InvalidArgumentError(
                    None, None, f"{_label(tensor)} is needed for what is fetched here and was "
                    "announced to be fed: feed it now or before"
                )  # fmt: skip

    def _needed_later(self, ready):
        """Tensors made now that parts still to come look at."""
        nodes = dict(self._nodes)
        self._nodes_before(self._waiting.values())
        needed = {}
        for sequence, node in self._nodes.items():
            if sequence in ready:
                continue
            for tensor in node.inputs:
                if _tidemark.is_symbolic(tensor) and _key(tensor)[0] in ready:
                    needed[_key(tensor)] = tensor
        for item in self._waiting.values():
            if isinstance(item, Tensor) and _key(item)[0] in ready:
                needed[_key(item)] = item
        self._nodes = nodes
        return needed

    def _compute(self, wanted, later):
        session = self._session
        asked = {self._id(item): item for item in wanted if self._id(item) not in self._values}
        asked.update(later)
        keys = list(asked)
        items = [item._node if isinstance(item, Operation) else item for item in asked.values()]
        used = {key: pair for key, pair in self._values.items() if key not in asked}
        found = session._run(items, list(used.values()), None, None)
        values = dict(zip(keys, found, strict=True))
        for key, tensor in later.items():
            self._values[key] = (tensor, values[key])
        results = []
        for item in wanted:
            at = self._id(item)
            value = values[at] if at in values else self._values[at][1]
            results.append(None if value is None else value.numpy())
        return results
