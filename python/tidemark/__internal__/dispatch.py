"""``tf.__internal__.dispatch``: a type answers for functions that cannot take its values.

A class defines ``__tf_dispatch__(function, args, kwargs)`` as a class method; functions of this
package ask it before they give up.
"""

from __future__ import annotations

from tidemark._export import dispatching as _dispatching


def add_dispatch_support(target=None, iterable_parameters=None):
    """Lets a function written elsewhere ask the types of its arguments, too."""
    return _dispatching if target is None else _dispatching(target)
