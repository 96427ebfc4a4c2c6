"""``tidemark check train.py``: patterns that cost memory, found in the source before it runs."""

from tidemark._check.command import ABOUT, add_arguments, run

__all__ = ["ABOUT", "add_arguments", "run"]
