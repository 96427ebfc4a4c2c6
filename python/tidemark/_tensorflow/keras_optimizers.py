"""Keras's optimizers: built whole or not at all.

An optimizer marks itself as built before it makes its variables. Where there is no memory for
them the first time, every later ``fit`` finds an optimizer that is built and has no momentums.
Keras itself stays as it is; when its base class is imported, the ``build`` of the classes that
come from it is put into another that undoes what was made where it fails.
"""

from __future__ import annotations

import functools


def _snapshot(optimizer):
    """What undoes everything that is done to the optimizer from now on."""
    attributes = dict(vars(optimizer))
    variables = list(optimizer._variables)
    indices = dict(optimizer._trainable_variables_indices)
    ids = {name: set(kept) for name, kept in optimizer._tracker.stored_ids.items()}

    def undo():
        kept = vars(optimizer)
        for name in [name for name in kept if name not in attributes]:
            del kept[name]
        kept.update(attributes)
        del optimizer._variables[len(variables) :]
        optimizer._trainable_variables_indices.clear()
        optimizer._trainable_variables_indices.update(indices)
        for name, before in ids.items():
            optimizer._tracker.stored_ids[name].intersection_update(before)

    return undo


def _whole(build):
    @functools.wraps(build)
    def build_whole(self, *args, **kwargs):
        if self.built or "_is_being_built" in vars(self):  # a build calls its base class's
            return build(self, *args, **kwargs)
        undo = _snapshot(self)
        vars(self)["_is_being_built"] = True
        try:
            result = build(self, *args, **kwargs)
        except BaseException:
            undo()
            raise
        del vars(self)["_is_being_built"]
        return result

    return build_whole


def guard_base(module):
    """Of the module with the base class: classes made from it from now on are guarded."""
    base = module.BaseOptimizer
    inherited = base.__init_subclass__

    def guard(cls, **kwargs):
        inherited.__func__(cls, **kwargs) if hasattr(inherited, "__func__") else inherited(**kwargs)
        if "build" in vars(cls):
            cls.build = _whole(vars(cls)["build"])

    base.__init_subclass__ = classmethod(guard)


GUARDS = {"keras.src.optimizers.base_optimizer": guard_base}
