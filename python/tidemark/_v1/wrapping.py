"""``tf.compat.v1.wrap_function``: code of TensorFlow 1 as one traced function.

The code sees collections, scopes and a store of variables of its own; its variables are made once,
with their initial values, and live as long as the function.
"""

from __future__ import annotations

from tidemark import nest
from tidemark._functions.concrete import ConcreteFunction
from tidemark._functions.function import function as traced
from tidemark._graph.scopes import variable_creator_scope
from tidemark._tensor.specs import TypeSpec
from tidemark._v1.graph import Graph, GraphKeys, collecting_in
from tidemark.errors import UnimplementedError


class _Collections(Graph):
    """What holds the collections of wrapped code; its operations are the function's."""

    def as_default(self):
        """A context in which another thread sees them, too."""
        return collecting_in(self)


class VariableHolder:
    """The variables that wrapped code makes, by their names; with ``share_variables`` one of a name
    is made once for all code that is wrapped with this holder."""

    def __init__(self, fn=None, share_variables=False):
        self._function, self._shares = fn, share_variables
        self._collections = _Collections()
        self._by_name, self._all = {}, []

    variables = property(lambda self: {v.name.partition(":")[0]: v for v in self._all})

    def __call__(self, *args, **kwargs):
        return self.call_with_variable_creator_scope(self._function)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn):
        """The function, with variables that this holds."""

        def wrapped(*args, **kwargs):
            with variable_creator_scope(self._create), collecting_in(self._collections):
                return fn(*args, **kwargs)

        return wrapped

    def _create(self, next_creator, **kwargs):
        collections = kwargs.pop("collections", None)
        name = kwargs.get("name") or "Variable"
        made = self._by_name.get(name) if self._shares else None
        if made is not None:
            return made
        made = next_creator(**kwargs)
        self._by_name[name] = made
        self._all.append(made)
        names = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if made.trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
            names.append(GraphKeys.TRAINABLE_VARIABLES)
        self._collections.add_to_collections(names, made)
        return made


class WrappedFunction(ConcreteFunction):
    """A traced function that owns the variables its code made."""

    def __init__(self, concrete, holder):
        super().__init__(concrete._function, concrete._trace, concrete._signature,
                         concrete._variables)  # fmt: skip
        self._variable_holder = holder

    @property
    def graph(self):
        made = super().graph
        made.collections_of = self._variable_holder._collections
        return made

    def prune(self, feeds, fetches, name="pruned", input_signature=None):
        raise UnimplementedError(
            None, None, "prune() is not here: wrap a function that returns only what is needed"
        )


def wrap_function(fn, signature, name=None):
    """The function traced for a signature: specs of tensors, and values for other arguments."""
    return _wrapped(fn, signature, VariableHolder(fn), name)


def _wrapped(fn, signature, holder, name=None):
    leaves = nest.flatten(signature)
    is_tensor = [isinstance(leaf, TypeSpec) for leaf in leaves]
    code = holder.call_with_variable_creator_scope(fn)

    def inner(*given):
        given = iter(given)
        filled = [next(given) if tensor else leaf
                  for leaf, tensor in zip(leaves, is_tensor, strict=True)]  # fmt: skip
        packed = nest.pack_sequence_as(signature, filled)
        if isinstance(signature, tuple) and len(signature) == 2 and isinstance(signature[1], dict):
            return code(*packed[0], **packed[1])
        return code(*packed)

    inner.__name__ = name or getattr(fn, "__name__", None) or "wrapped_function"
    specs = [leaf for leaf, tensor in zip(leaves, is_tensor, strict=True) if tensor]
    made = traced(inner, input_signature=specs, autograph=False)
    made._makes_variables_once = True
    return WrappedFunction(made.get_concrete_function(), holder)
