"""Three places where Keras 2 (``tf_keras``) relies on how TensorFlow is made.

Its symbolic tensors take the operators of ``tf.Tensor`` itself, which are functions there; here
they are slots of a C type, which take nothing else. It puts functions for cuDNN into the graph for
an optimizer to choose, which is not here. And it takes the last operation of a graph that is being
traced for the update of a metric; here the update itself is given.
"""

from __future__ import annotations

from tidemark.__internal__ import dispatch
from tidemark.__internal__.decorator import make_decorator
from tidemark._tensorflow.inner import exporting

# The function that stands for each operator, by its public name: layers are named, saved and made
# again by that.
_UNARY = {"abs": "math.abs", "neg": "math.negative", "invert": "math.logical_not"}
_BINARY = {
    "add": "__operators__.add", "sub": "math.subtract", "mul": "math.multiply",
    "truediv": "math.truediv", "floordiv": "math.floordiv", "mod": "math.floormod",
    "pow": "math.pow", "matmul": "linalg.matmul", "and": "math.logical_and",
    "or": "math.logical_or", "xor": "math.logical_xor", "lt": "math.less",
    "le": "math.less_equal", "gt": "math.greater", "ge": "math.greater_equal",
    "eq": "__operators__.eq", "ne": "__operators__.ne",
}  # fmt: skip
_REVERSED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")


def _asking(public_name):
    """An operator of a symbolic tensor: dispatchers make it a layer, tensors compute it."""
    function = exporting.get_symbol_from_name(public_name)

    def ask(*args):
        answer = dispatch.ask(function, args, {})
        return function(*args) if answer is NotImplemented else answer

    return ask


def _swapped(ask):
    return lambda x, y: ask(y, x)


def operators():
    """name → what a symbolic tensor does for the operator."""
    found = {f"__{name}__": _asking(public) for name, public in (_UNARY | _BINARY).items()}
    for name in _REVERSED:
        found[f"__r{name}__"] = _swapped(found[f"__{name}__"])
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
