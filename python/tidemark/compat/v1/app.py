"""``tf.compat.v1.app``: runs a program's ``main`` once its flags are read."""

from __future__ import annotations

import sys as _sys

from tidemark.compat.v1 import flags
from tidemark.compat.v1.flags import _absl


def run(main=None, argv=None):
    """Runs ``main``, that of the script unless given, with the arguments that are no flags."""
    _absl("app").run(
        main=main or _sys.modules["__main__"].main,
        argv=argv,
        flags_parser=lambda args: flags.FLAGS(_sys.argv if args is None else args, known_only=True),
    )
