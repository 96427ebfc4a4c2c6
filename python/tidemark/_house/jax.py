"""A house call to JAX: what can be seen of it from outside.

Every primitive that is not traced goes through one function, which tells its results; compiled
functions are kept from their shortest road, which leads past it. Not to be seen are values that
native code alone keeps: intermediates of compiled functions, constants in them.
"""

from __future__ import annotations

import functools
import sys
import threading

from tidemark._explain import links
from tidemark._house.visitor import Visitor as _Visitor
from tidemark._house.visitor import describe, place_of


class Visitor(_Visitor):
    library = "jax"
    number = "float(({}).mean())"
    not_seen = (
        "From outside of JAX nothing can be seen of what native code alone keeps: intermediates of "
        "compiled functions, constants in them, what is donated."
    )

    def __init__(self):
        # The library's own installation; its inner names are what there is to look with.
        import jax
        from jax._src import array, core, pjit

        self._array, self._core, self._pjit = array.ArrayImpl, core, pjit
        self._monitoring = jax.monitoring
        self._jitted = type(jax.jit(lambda: None))
        super().__init__((array.ArrayImpl,), (), (), {self._jitted: "function"})

    def start(self):
        super().start()
        trace, pjit = self._core.EvalTrace, self._pjit
        self._before = trace.process_primitive, pjit._run_python_pjit, pjit._get_fastpath_data
        process, run, _ = self._before

        inner = threading.local()  # a primitive may be computed by way of a compiled function

        def process_primitive(this, primitive, args, params, /):
            outer, inner.is_inside = getattr(inner, "is_inside", False), True
            try:
                result = process(this, primitive, args, params)
            finally:
                inner.is_inside = outer
            if not outer:
                self._called(params.get("name") or primitive.name, result)
            return result

        def run_compiled(p, args_flat, fun, args, kwargs):
            result = run(p, args_flat, fun, args, kwargs)
            if not getattr(inner, "is_inside", False):
                self._called(getattr(fun, "__name__", "jit"), result[1])
            return result

        trace.process_primitive = process_primitive
        pjit._run_python_pjit = run_compiled
        pjit._get_fastpath_data = lambda *_, **__: None
        self._monitoring.register_event_duration_secs_listener(self._at_event)

    def stop(self):
        trace, pjit = self._core.EvalTrace, self._pjit
        trace.process_primitive, pjit._run_python_pjit, pjit._get_fastpath_data = self._before

    def _at_event(self, event, *_, **__):
        """A function was traced: whose call it was stands in the frames above."""
        if not event.endswith("jaxpr_trace_duration") or self._is_looking:
            return
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "cache_miss":
            frame = frame.f_back
        if frame is None:
            return
        function, args = frame.f_locals.get("fun"), frame.f_locals.get("args", ())
        code = _code_of(function)
        while frame is not None and not links.is_programs(frame.f_code.co_filename):
            frame = frame.f_back
        if code is None or not links.is_programs(code.co_filename) or frame is None:
            return
        told = [describe(a, self._array) for a in args]
        self.traced(function, code.co_name, code, told, place_of(frame))

    def origin_of(self, function):
        code = _code_of(getattr(function, "_fun", None))
        return (code.co_filename, code.co_firstlineno) if code else ("", 0)

    def _called(self, name, result):
        if self._is_looking:
            return
        results = result if isinstance(result, (list, tuple)) else (result,)
        self.ran(name, [told for one in results for told in self.new_in(one)])

    def new_in(self, obj):
        if isinstance(obj, self._array) and not self.is_known(obj):
            yield obj, obj.nbytes, "value"


def _code_of(function):
    """Of a function, also one with some of its arguments given; None."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__code__", None)
