"""What functions call the operations they make, in graphs of sessions.

An op's own operations are named by the table in ``graph_def``. Functions written in Python make
several; a name given to them, or their own, becomes the scope of all and the name of the last.
They are wrapped when the first such graph is built: programs that compute at once pay nothing.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
import types

from tidemark import _export, _tidemark, nest
from tidemark._graph import scopes
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def.table import FUNCTION_NAMES

# Function → what its scope is called, and what each result is called in there; the scope's own
# name where that is empty.
_SCOPES = {
    "tf.nn.moments": ("moments", "Squeeze", "Squeeze_1"),
    "tf.nn.batch_normalization": ("batchnorm", "add_1"),
    "tf.nn.dropout": ("dropout", "SelectV2"),
    "tf.nn.embedding_lookup": ("embedding_lookup", "Identity"),
    "tf.nn.softmax_cross_entropy_with_logits": ("softmax_cross_entropy_with_logits", "Reshape_2"),
    "tf.nn.sparse_softmax_cross_entropy_with_logits": (
        "SparseSoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits",
    ),
    "tf.nn.sigmoid_cross_entropy_with_logits": ("logistic_loss", ""),
    "tf.nn.l2_normalize": ("l2_normalize", ""),
    "tf.nn.l2_loss": ("L2Loss", ""),
    "tf.nn.bias_add": ("BiasAdd", ""),
    "tf.nn.conv2d": ("Conv2D", ""),
    "tf.nn.max_pool": ("MaxPool", ""),
    "tf.nn.max_pool2d": ("MaxPool2d", ""),
    "tf.nn.avg_pool": ("AvgPool", ""),
    "tf.nn.avg_pool2d": ("AvgPool2D", ""),
    "tf.nn.depthwise_conv2d": ("depthwise", ""),
    "tf.nn.conv2d_transpose": ("conv2d_transpose", ""),
    "tf.nn.separable_conv2d": ("separable_conv2d", ""),
    "tf.nn.log_softmax": ("LogSoftmax", ""),
    "tf.nn.softmax": ("Softmax", ""),
    "tf.nn.in_top_k": ("in_top_k", "InTopKV2"),
    "tf.math.in_top_k": ("in_top_k", "InTopKV2"),
    "tf.tensordot": ("Tensordot", "MatMul"),
    "tf.einsum": ("einsum", "Einsum"),
    "tf.eye": ("eye", "diag"),
    "tf.norm": ("norm", "Squeeze"),
    "tf.boolean_mask": ("boolean_mask", "GatherV2"),
    "tf.clip_by_value": ("clip_by_value", ""),
    "tf.clip_by_norm": ("clip_by_norm", ""),
    "tf.linalg.global_norm": ("global_norm", "global_norm"),
    "tf.zeros": ("zeros", ""),
    "tf.ones": ("ones", ""),
    "tf.fill": ("Fill", ""),
    "tf.range": ("range", ""),
    "tf.one_hot": ("one_hot", ""),
    "tf.zeros_like": ("zeros_like", ""),
    "tf.ones_like": ("ones_like", ""),
    "tf.stack": ("stack", ""),
    "tf.unstack": ("unstack", ""),
    "tf.split": ("split", ""),
    "tf.concat": ("concat", ""),
    "tf.transpose": ("transpose", ""),
    "tf.where": ("Select", ""),
    "tf.shape": ("Shape", ""),
    "tf.size": ("Size", ""),
    "tf.rank": ("Rank", ""),
    "tf.reduce_logsumexp": ("ReduceLogSumExp", ""),
    "tf.random.normal": ("random_normal", ""),
    "tf.random.uniform": ("random_uniform", "RandomUniform"),
    "tf.tuple": ("tuple", "control_dependency"),
    "tf.clip_by_global_norm": ("clip_by_global_norm", "clip_by_global_norm/_0"),
    "tf.random.truncated_normal": ("truncated_normal", ""),
    "tf.random.shuffle": ("RandomShuffle", ""),
    "tf.divide": ("truediv", ""),
    "tf.pad": ("Pad", ""),
    "tf.gather": ("GatherV2", ""),
    "tf.linalg.inv": ("MatrixInverse", ""),
    "tf.linalg.det": ("MatrixDeterminant", ""),
    "tf.linalg.diag_part": ("diag_part", ""),
    "tf.math.top_k": ("TopKV2", ""),
    "tf.cast": ("Cast", ""),
    "tf.squeeze": ("Squeeze", ""),
}
# Contexts, and functions that hand their argument on: what they give was not made by them.
_LEFT_ALONE = {"tf.name_scope", "tf.Variable", "tf.function", "tf.convert_to_tensor", "tf.cond",
               "tf.while_loop", "tf.map_fn", "tf.scan", "tf.foldl", "tf.foldr",
               "tf.group", "tf.no_op"}  # fmt: skip
_lock = threading.Lock()
_wrapped: dict = {}


def results_of(result):
    """The tensors of a graph among what a function gave."""
    items = nest.flatten(result) if isinstance(result, (list, tuple)) else [result]
    return [item for item in items if isinstance(item, Tensor) and _tidemark.is_symbolic(item)]


class scope_for:
    """A scope of a function's own; ``name(result)`` names what it made."""

    def __init__(self, place, name, results=("",), is_given=True):
        self._graph, self._results, self._is_given = place.graph, results, is_given
        outer = scopes.get_current_name_scope()
        if name.endswith("/"):  # a scope that is open already: exactly this name
            self._full = name[:-1]
        else:
            self._full = place.graph._shared.unique_name(f"{outer}/{name}" if outer else name)

    def __enter__(self):
        self._scope = scopes.name_scope(self._full + "/")
        self._scope.__enter__()
        self._start = _tidemark.SharedGraph("").id  # nodes made from now on have higher numbers
        return self

    def __exit__(self, *error):
        return self._scope.__exit__(*error)

    def name(self, result):
        from tidemark._v1.graph import Operation  # it imports this module

        seen = set()
        for tensor, own in zip(results_of(result), self._results, strict=False):
            node = _tidemark.node_of(tensor)
            if node.sequence < self._start or node.sequence in seen:
                continue  # an argument that was handed on, or another output of the same
            seen.add(node.sequence)
            if own:
                wanted = f"{self._full}/{own}"
                other = self._graph._shared.find(wanted)
                if other is not None and other.sequence != node.sequence:
                    other.set_name(f"{wanted}_0")  # one of those inside was called so
                node.set_name(wanted)
            else:
                node.label = self._full
            if self._is_given:
                with self._graph._lock:
                    self._graph._named[node.label] = Operation(node)


def _wrapping(function, full_name):
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters]
    if "name" in names:
        at = names.index("name")
        own = parameters[at].default
        if own is not None and not isinstance(own, str):
            return None
    elif full_name in _SCOPES:  # takes it among keywords of any name
        at, own = len(names) + 100, None
    else:
        return None
    default, *results = _SCOPES.get(full_name) or (None, "")
    results = tuple(results)

    @functools.wraps(function)
    def named(*args, **kwargs):
        from tidemark._v1.graph import current_place  # it imports this module

        place = current_place()
        if place is None:
            return function(*args, **kwargs)
        given = args[at] if len(args) > at else kwargs.get("name")
        name = default if given is None or given == own else given
        if name is None or not isinstance(name, str):
            return function(*args, **kwargs)
        if given is not None:  # named here; functions inside must not do it again
            if len(args) > at:
                args = (*args[:at], own, *args[at + 1 :])
            else:
                kwargs["name"] = own
        with scope_for(place, name, results, given is not None) as scope:
            result = function(*args, **kwargs)
        scope.name(result)
        return result

    return named


_CORE = ("", ".nn", ".math", ".linalg", ".random", ".debugging", ".compat.v1", ".compat.v1.nn",
         ".compat.v1.math")  # fmt: skip
_OTHERS = (".bitwise", ".image", ".sets", ".signal", ".sparse", ".strings")


def _public_functions():
    """Yields module, full name ("tf.nn.relu"), last part of the name and function."""
    modules = [(suffix, importlib.import_module("tidemark" + suffix)) for suffix in _CORE]
    modules += [(suffix, sys.modules.get("tidemark" + suffix)) for suffix in _OTHERS]
    for suffix, module in modules:
        if module is None:
            continue
        prefix = "tf" + suffix.replace(".compat.v1", "")
        for last, function in list(vars(module).items()):
            if not last.startswith("_"):
                yield module, f"{prefix}.{last}", last, function


def install():
    """Wraps the functions of the public namespaces; once."""
    with _lock:
        if _wrapped:
            return
        found = {}
        for module, full_name, last, function in _public_functions():
            if type(function) is types.FunctionType:
                found.setdefault(function, []).append((module, full_name, last))
            elif full_name in FUNCTION_NAMES:
                _tidemark.set_function_label(function, FUNCTION_NAMES[full_name])
        for function, places in found.items():
            names = [full_name for _, full_name, _ in places]
            if _LEFT_ALONE.intersection(names):
                continue
            known = next((name for name in names if name in _SCOPES), names[0])
            made = _wrapped[function] = _wrapping(function, known)
            for module, _, last in places if made is not None else ():
                setattr(module, last, made)
                _export.replace(function, made)
