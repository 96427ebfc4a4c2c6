"""``tf.compat.v1.make_template``: a function whose calls share the variables of the first one."""

from __future__ import annotations

import functools

from tidemark._v1.graph import current_place
from tidemark._v1.variable_scopes import VariableStore, exchange_variable_store, variable_scope


class Template:
    """The function, and the scope that its variables are in.

    Where a graph of sessions is built the variables are the graph's. Elsewhere they are the
    template's own and go with it.
    """

    def __init__(self, name, function, unique_name, custom_getter, given):
        functools.update_wrapper(self, function)
        self._function, self._given = function, given
        self._opening = {"name_or_scope": unique_name, "default_name": name,
                         "custom_getter": custom_getter}  # fmt: skip
        self._scope, self._was_called, self._store = None, False, None

    def make_scope(self):
        """The scope is made now, not with the first call."""
        with variable_scope(**self._opening) as self._scope:
            return self

    def __call__(self, *args, **kwargs):
        if current_place() is not None:
            return self._call(args, kwargs)
        if self._store is None:
            self._store = VariableStore(keeps_eager_variables=True)
        outer = exchange_variable_store(self._store)
        try:
            return self._call(args, kwargs)
        finally:
            exchange_variable_store(outer)

    def _call(self, args, kwargs):
        reuse = True if self._was_called else None
        opening = self._opening if self._scope is None else {"name_or_scope": self._scope}
        with variable_scope(**opening, reuse=reuse) as scope:
            if self._scope is None:
                self._scope = scope
            made = self._function(*args, **self._given, **kwargs)
            self._was_called = True
            return made

    name = property(lambda self: self._opening["default_name"])
    func = property(lambda self: self._function)
    variable_scope = property(lambda self: self._scope)
    var_scope = variable_scope
    variable_scope_name = property(lambda self: None if self._scope is None else self._scope.name)

    @property
    def variables(self):
        """Those made so far, by their names."""
        if self._store is not None:
            return sorted(self._store.variables(), key=lambda v: v.name)
        if self._scope is None:
            return []
        return [*self._scope.global_variables(), *self._scope.local_variables()]

    weights = variables
    trainable_variables = property(lambda self: [v for v in self.variables if v.trainable])
    trainable_weights = trainable_variables
    non_trainable_variables = property(lambda self: [v for v in self.variables if not v.trainable])
    non_trainable_weights = non_trainable_variables
    global_variables = property(lambda self: self._of_collection("global_variables"))
    local_variables = property(lambda self: self._of_collection("local_variables"))

    def _of_collection(self, name):
        if self._store is not None:
            return self.variables if name == "global_variables" else []
        return [] if self._scope is None else list(getattr(self._scope, name)())


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None,
                  **kwargs):  # fmt: skip
    """The function with variables that its later calls share."""
    made = Template(name_, func_, unique_name_, custom_getter_, kwargs)
    return made.make_scope() if create_scope_now_ else made
