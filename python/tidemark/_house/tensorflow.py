"""A house call to TensorFlow: what can be seen of it from outside.

Op callbacks tell each eager op with its results, and each op that a graph takes in; calls of
functions tell why they trace again. Not to be seen are values that native code alone keeps: what a
tape recorded, what a dataset's iterator has in its buffers, the intermediates of a function while
it runs.
"""

from __future__ import annotations

import functools
import sys
import threading

from tidemark._explain import links
from tidemark._house.visitor import Visitor as _Visitor
from tidemark._house.visitor import describe, place_of, users_frame

_NO_BYTES = ("resource", "variant", "string")


class Visitor(_Visitor):
    library = "tensorflow"
    number = "float(tf.reduce_mean({}))"
    not_seen = (
        "From outside of TensorFlow nothing can be seen of what native code alone keeps: what "
        "tapes recorded, buffers of datasets, intermediates of functions."
    )
    piles = {
        "tape": ("persistent-tape", "Tapes stay and keep their history",
                 "del tape   # after the last tape.gradient(…)\n"
                 "# or keep the gradients, not the tapes"),
        "graph": ("constants-baked-in", "Graphs stay, with all their constants",
                  "with tf.Graph().as_default(): …   # let the old graphs go, or\n"
                  "x = tf.placeholder(…)             # build one, and feed it the data"),
        "iterator": ("dataset-buffer", "Iterators stay and keep their buffers",
                     "iterator = iter(dataset)   # once, before the loop\n"
                     "# or let the old ones go"),
        "session": ("sessions-left-open", "Sessions stay, with all their variables",
                    "with tf.compat.v1.Session() as sess:   # closed at the end of the block\n"
                    "    sess.run(…)"),
    }  # fmt: skip

    def __init__(self):
        # The library's own installation; its inner names are what there is to look with.
        import tensorflow as tf
        from tensorflow.python.client import session
        from tensorflow.python.data.ops.iterator_ops import OwnedIterator
        from tensorflow.python.eager.polymorphic_function import polymorphic_function
        from tensorflow.python.framework import op_callbacks, ops
        from tensorflow.python.framework.func_graph import FuncGraph
        from tensorflow.python.ops import script_ops
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        self._callbacks = op_callbacks
        self._python_functions, self._threads = script_ops.FuncRegistry, threading.local()
        self._function = polymorphic_function.Function
        self._eager, self._base = ops.EagerTensor, ops._EagerTensorBase
        self._variable = BaseResourceVariable
        self._session = session.BaseSession
        self._of_function = FuncGraph
        sorts = {tf.Graph: "graph", tf.GradientTape: "tape", OwnedIterator: "iterator",
                 tf.compat.v1.Session: "session", self._function: "function"}  # fmt: skip
        super().__init__((self._eager,), (BaseResourceVariable,), (self._function,), sorts)

    def start(self):
        super().start()
        self.follow_arrays(self._base, "numpy", "__array__")
        self._note_runs()
        self._follow_threads()

    def begin_thread(self):
        self._threads.is_begun = True
        self._callbacks.add_op_callback(self._at_op)

    def _follow_threads(self):
        """Generators of datasets run in threads that are none of Python's."""
        call, visitor = self._python_functions.__call__, self

        @functools.wraps(call)
        def called(registry, *args, **kwargs):
            if not getattr(visitor._threads, "is_begun", False):
                visitor.begin_thread()
            return call(registry, *args, **kwargs)

        self._python_functions.__call__ = called

    def stop(self):
        self._callbacks.clear_op_callbacks()

    def sort_of(self, obj):
        return None if isinstance(obj, self._of_function) else super().sort_of(obj)

    def tensor_of(self, obj):
        return obj.handle if isinstance(obj, self._variable) else obj

    def origin_of(self, function):
        code = getattr(function.python_function, "__code__", None)
        return (code.co_filename, code.co_firstlineno) if code else ("", 0)

    def _at_op(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        if self._is_looking:
            return
        if graph is not None:
            self._in_graph(graph)
            return
        op_type = op_type.decode() if isinstance(op_type, bytes) else op_type
        if op_type == "VarHandleOp":
            named = dict(zip(attrs[::2], attrs[1::2], strict=False))
            elements = named["shape"].num_elements() or 0
            new = [(outputs[0], elements * named["dtype"].size, "variable")]
        else:
            new = [told for one in outputs for told in self.new_in(one)]
        self.ran(op_type, new)

    def new_in(self, obj):
        if isinstance(obj, self._eager) and obj.dtype.name not in _NO_BYTES:
            yield obj, obj.shape.num_elements() * obj.dtype.size, "value"

    def _in_graph(self, graph):
        if not hasattr(graph, "outer_graph"):  # TensorFlow 1's
            graph._tidemark_nodes = getattr(graph, "_tidemark_nodes", 0) + 1
            frame = users_frame()
            if frame is not None and self._runs:
                place = place_of(frame)
                self._new_fetches[place] = self._new_fetches.get(place, 0) + 1
        elif hasattr(graph.outer_graph, "outer_graph"):
            return  # a branch, a loop's body, a function within a function
        elif not getattr(graph, "_tidemark_seen", False):
            graph._tidemark_seen = True  # its first op: a function is traced
            self._at_trace()

    def _at_trace(self):
        frame, function, arguments = sys._getframe(1), None, ((), {})
        while frame is not None:
            if links.is_programs(frame.f_code.co_filename):
                if function is not None:
                    break
            elif frame.f_code.co_name == "__call__":
                owner = frame.f_locals.get("self")
                if isinstance(owner, self._function):
                    function = owner
                    arguments = frame.f_locals.get("args", ()), frame.f_locals.get("kwds", {})
            frame = frame.f_back
        if function is not None and frame is not None:
            told = [describe(a, self._eager) for a in (*arguments[0], *arguments[1].values())]
            code = getattr(function.python_function, "__code__", None)
            self.traced(function, function.__name__, code, told, place_of(frame))

    def _note_runs(self):
        """How many nodes a graph has from run to run of a session."""
        run, visitor = self._session.run, self

        @functools.wraps(run)
        def counted(session, *args, **kwargs):
            visitor._runs += 1
            runs = visitor._runs
            if runs % max(1, runs // 512) == 0:
                visitor._nodes.append((runs, getattr(session.graph, "_tidemark_nodes", 0)))
            visitor.went_on()
            return run(session, *args, **kwargs)

        self._session.run = counted
