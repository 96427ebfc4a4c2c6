"""``tf.train.TrackableView``: an object and what it holds, as a checkpoint would see it."""

from __future__ import annotations

import collections
import weakref


class TrackableView:
    """The trackable objects that can be reached from a root."""

    def __init__(self, root):
        self._root = root if isinstance(root, weakref.ref) else weakref.ref(root)

    root = property(lambda self: self._root())

    @classmethod
    def children(cls, obj, save_type="checkpoint", **kwargs):
        """What an object holds, by name."""
        find = getattr(obj, "_trackable_children", None)
        return {} if find is None else dict(find(save_type, **kwargs))

    def descendants(self):
        """The root and all objects below it, nearest first, each once."""
        found, waiting = {}, collections.deque([self.root])
        while waiting:
            at = waiting.popleft()
            if id(at) not in found:
                found[id(at)] = at
                waiting.extend(self.children(at).values())
        return list(found.values())
