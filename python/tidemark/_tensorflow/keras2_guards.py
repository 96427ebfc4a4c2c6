"""Three places where Keras 2 (``tf_keras``) relies on how TensorFlow is made.

Its symbolic tensors take the operators of ``tf.Tensor`` itself, which are functions there; here
they are slots of a C type, which take nothing else. It puts functions for cuDNN into the graph for
an optimizer to choose, which is not here. And it takes the last operation of a graph that is being
traced for the update of a metric; here the update itself is given.
"""

from __future__ import annotations

import operator

from tidemark.__internal__ import dispatch
from tidemark.__internal__.decorator import make_decorator

_UNARY = {"__abs__": abs, "__neg__": operator.neg, "__invert__": operator.invert}
_BINARY = {
    name: getattr(operator, name)
    for name in ("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__",
                 "__pow__", "__matmul__", "__and__", "__or__", "__xor__", "__lt__", "__le__",
                 "__gt__", "__ge__", "__eq__", "__ne__")
}  # fmt: skip
_REVERSED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")


def _asking(function):
    """An operator of a symbolic tensor: dispatchers make it a layer, tensors compute it."""

    def ask(*args):
        answer = dispatch.ask(function, args, {})
        return function(*args) if answer is NotImplemented else answer

    ask.__name__ = function.__name__
    return ask


def _swapped(function):
    def swapped(x, y):
        return function(y, x)

    swapped.__name__ = f"r{function.__name__}"
    return swapped


def operators():
    """name → a function that stands for the operator of a symbolic tensor."""
    found = {name: _asking(does) for name, does in {**_UNARY, **_BINARY}.items()}
    for name in _REVERSED:
        found[f"__r{name}__"] = _asking(_swapped(_BINARY[f"__{name}__"]))
    return found


def _give_operators(module):
    import tidemark  # it imports this package

    cls = module.KerasTensor
    for name, function in operators().items():
        setattr(cls, name, function)
    cls.__getitem__ = lambda self, key: tidemark.__operators__.getitem(self, key)
    cls.__hash__ = object.__hash__
    cls.__tf_dispatch__ = staticmethod(dispatch.ask)


def _leave_cudnn_out(module):
    module.function_register = lambda func, *args, **kwargs: None


def _give_updates(module):
    def update_state_wrapper(update_state_fn):
        def decorated(metric_obj, *args, **kwargs):
            with module.tf_utils.graph_context_for_symbolic_tensors(*args, **kwargs):
                return update_state_fn(*args, **kwargs)

        return make_decorator(update_state_fn, decorated)

    module.update_state_wrapper = update_state_wrapper


GUARDS = {
    "tf_keras.src.engine.keras_tensor": _give_operators,
    "tf_keras.src.layers.rnn.gru_lstm_utils": _leave_cudnn_out,
    "tf_keras.src.utils.metrics_utils": _give_updates,
}
