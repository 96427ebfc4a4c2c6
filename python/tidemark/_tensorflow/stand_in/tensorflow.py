"""Found by ``import tensorflow`` in processes that a program under the runner starts: they begin
with its ``sys.path``, which this folder is on, and nothing else of it."""

import importlib
import sys

import tidemark

sys.modules.pop(__name__, None)
tidemark.install_as_tensorflow()
importlib.import_module(__name__)
