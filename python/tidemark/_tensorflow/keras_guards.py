"""Puts guards around modules of Keras as they are imported; Keras itself stays as it is."""

from __future__ import annotations

import importlib.abc
import importlib.machinery

from tidemark._tensorflow import keras_files, keras_optimizers

_GUARDS = {**keras_files.GUARDS, **keras_optimizers.GUARDS}


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of Keras that need a guard, and puts it up once they have run."""

    def find_spec(self, fullname, path=None, target=None):
        guard = _GUARDS.get(fullname)
        spec = guard and importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if not spec or not spec.loader:
            return None
        execute = spec.loader.exec_module

        def then_guard(module):
            execute(module)
            guard(module)

        spec.loader.exec_module = then_guard
        return spec
