"""What the cases are drawn with: shapes and choices by hypothesis, values by a generator whose seed
hypothesis draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
EPS = {
    "bfloat16": 2.0**-7,
    "float16": 2.0**-10,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-22,
    "complex128": 2.0**-51,
}

CASES: dict[str, Callable[[Draw], Example]] = {}


def case(*names):
    """Says that a function draws calls of these ops; ``Draw.op`` tells which."""

    def add(function):
        for name in names:
            assert name not in CASES, name
            CASES[name] = function
        return function

    return add


@dataclass
class Example:
    """One call. ``expected`` gives the arrays that the outputs must equal, where ``check`` does not
    look at them itself. Tolerances are multiples of the rounding of the output's dtype."""

    inputs: list[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    expected: Callable[[], Any] | None = None
    check: Callable[[list[np.ndarray]], None] | None = None
    ulps: float = 4
    atol: float = 1  # times the same rounding, for results near zero
    slow: bool = False  # the reference is, so large results are not compared with it
    keep: Any = None  # what must live while the call runs


def np_dtype(name):
    if name == "string":
        return np.dtype(object)
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def name_of(dtype):
    dtype = np.dtype(dtype)
    return "string" if dtype.kind in "OSU" else dtype.name


def is_float(name):
    return name in ("bfloat16", "float16", "float32", "float64")


def is_complex(name):
    return name.startswith("complex")


def is_int(name):
    return "int" in name


def wide(x):
    """The values in the widest dtype of their kind."""
    x = np.asarray(x)
    name = name_of(x.dtype)
    if is_float(name):
        return x.astype(np.float64)
    return x.astype(np.complex128) if is_complex(name) else x


def narrow(x, dtype):
    """Results in the dtype the op gives them."""
    with np.errstate(all="ignore"):
        if is_int(dtype) and np.asarray(x).dtype.kind == "O":
            bits = 8 * np_dtype(dtype).itemsize
            return np.asarray(np.asarray(x) % (1 << bits), np.dtype(f"uint{bits}")).view(dtype)
        return np.asarray(x).astype(np_dtype(dtype))


class Draw:
    """The choices of one example. ``large`` asks for sizes that several threads share."""

    def __init__(self, data, op, dtype, large=False):
        self._data = data
        self.op, self.dtype, self.large = op, dtype, large
        self.rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
        self.odd = not large and self.pick(
            False, False, True
        )  # NaN and infinities among the values

    def draw(self, strategy):
        return self._data.draw(strategy)

    def int(self, low, high):
        return self.draw(st.integers(low, high))

    def flag(self):
        return self.draw(st.booleans())

    def pick(self, *options):
        return self.draw(st.sampled_from(options))

    def index_dtype(self):
        return self.pick("int32", "int64")

    def dim(self, low=0):
        """One size: mostly small, past a vector or two now and then."""
        if self.large:
            return self.int(37, 61)
        return self.pick(*[n for n in (0, 1, 2, 3, 5, 8, 17, 33) if n >= low])

    def shape(self, low=0, high=4, dims=0, total=140_001):
        """A shape of low to high dimensions. Large ones are a little under ``total`` elements, no
        multiple of anything."""
        if not self.large:
            rank = self.int(low, min(high, low + 3))
            sizes = [n for n in (0, 1, 2, 3, 4, 5, 7, 16, 33) if n >= dims]
            shape = [self.pick(*sizes) for _ in range(rank)]
            while np.prod(shape, dtype=np.int64) > 3000:
                shape[int(np.argmax(shape))] = 2
            return tuple(shape)
        rank = self.int(max(low, 1), max(high if high < 3 else 3, low, 1))
        if rank == 1:
            return (total - 2 * self.int(0, 50),)
        inner = self.pick(*[n for n in (7, 13, 37, 101, 257) if n * 60 < total])
        rest = total // inner - self.int(0, 9)
        return (rest, inner) if rank == 2 else (*(1,) * (rank - 3), 3, rest // 3, inner)

    def values(self, shape, dtype=None, low=-3, high=3, odd=None):
        """Values of a dtype. For floats and unless ``odd`` is False, NaN and infinities among them
        in some examples."""
        dtype = dtype or self.dtype
        if dtype == "string":
            words = np.array([b"", b"a", b"tide", b"mark", b"\xc3\xa9t\xc3\xa9"], object)
            return np.asarray(words[self.rng.integers(0, len(words), shape)], object)
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if is_int(dtype):
            low = max(low, 0) if dtype.startswith("u") else low
            return np.asarray(self.rng.integers(int(low), int(high) + 1, shape)).astype(dtype)
        values = np.asarray(self.rng.uniform(low, high, shape))
        if is_complex(dtype):
            values = values + 1j * self.rng.uniform(low, high, shape)
        elif (self.odd if odd is None else odd) and values.size:
            at = self.rng.random(shape) < 0.15
            odd_ones = self.rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
            values = np.where(at, odd_ones, values)
        return np.asarray(values).astype(np_dtype(dtype))

    def finite(self, shape, dtype=None, low=-3, high=3):
        return self.values(shape, dtype, low, high, odd=False)

    def broadcast(self, count, high=3, total=140_001):
        """Shapes that broadcast with one another."""
        whole = self.shape(0, high, total=total)
        shapes = []
        for _ in range(count):
            shape = [1 if self.pick(False, False, True) else n for n in whole]
            shapes.append(tuple(shape[self.int(0, len(shape)) if self.flag() else 0 :]))
        if self.large:
            shapes[self.int(0, count - 1)] = whole
        return shapes

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank):
        """None or some axes, counted from either end."""
        if self.pick(False, False, True):
            return None
        chosen = [a for a in range(rank) if self.flag()]
        return [a - rank if self.flag() else a for a in chosen]


def dtypes_of(op):
    """The dtypes an op is drawn with: those of its type T, unless another input allows more where
    T allows but one."""
    inputs = [p for p in op["params"] if p["kind"] != "attr"]
    main = [p["dtypes"] for p in inputs if p["type_var"] == "T" and len(p["dtypes"]) > 1]
    return max(main or [p["dtypes"] for p in inputs] or [["none"]], key=len)
