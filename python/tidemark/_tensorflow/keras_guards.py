"""Puts guards around modules of Keras as they are imported; Keras itself stays as it is."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery

from tidemark._tensorflow import keras_files, keras_optimizers, keras_workers

_GUARDS = {**keras_files.GUARDS, **keras_optimizers.GUARDS, **keras_workers.GUARDS}


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of Keras that need a guard, and puts it up once they have run."""

    def find_spec(self, fullname, path=None, target=None):
        guard = _GUARDS.get(fullname) or _guard_of_keras_2(fullname)
        spec = guard and importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if not spec or not spec.loader:
            return None
        execute = spec.loader.exec_module

        def then_guard(module):
            execute(module)
            guard(module)

        spec.loader.exec_module = then_guard
        return spec


def _guard_of_keras_2(name):
    if not name.startswith("tf_keras.src."):
        return None
    return importlib.import_module("tidemark._tensorflow.keras2_guards").GUARDS.get(name)
