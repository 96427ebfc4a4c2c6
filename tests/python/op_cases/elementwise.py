"""Elementwise ops against NumPy's functions in the widest dtype."""

import math

import numpy as np

from op_cases.drawing import Example, case, is_complex, is_float, is_int, narrow, wide


def scalar(function):
    """A function of one float as one of arrays; what it refuses is NaN."""

    def one(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(one, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_sigmoid(x):
    return -np.logaddexp(0, -x)


def elu(x):
    return np.where(x > 0, x, np.expm1(x))


def lgamma(x):
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == int(x)):
        return math.inf
    return math.lgamma(x)


def keep_nan(function):
    return lambda x: np.where(np.isnan(x), np.nan, function(x))


def c_sign(x):
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, 0, x / np.where(size == 0, 1, size))
    return np.sign(x)


ERF = scalar(math.erf)
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

# op: function, lowest and highest argument, multiple of the rounding allowed
UNARY = {
    "abs": (np.abs,),
    "negative": (np.negative,),
    "sign": (c_sign,),
    "square": (np.square,),
    "sqrt": (np.sqrt, -1, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9),
    "reciprocal": (lambda x: 1 / x, 0.3, 3),
    "exp": (np.exp,),
    "expm1": (np.expm1,),
    "log": (np.log, 0.1, 9),
    "log1p": (np.log1p, -0.9, 9),
    "sin": (np.sin,),
    "cos": (np.cos,),
    "tan": (np.tan, -1.4, 1.4, 16),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1),
    "atan": (np.arctan,),
    "sinh": (np.sinh,),
    "cosh": (np.cosh,),
    "tanh": (np.tanh,),
    "asinh": (np.arcsinh,),
    "acosh": (np.arccosh, 1.001, 9, 8),
    "atanh": (np.arctanh, -0.9, 0.9),
    "floor": (np.floor,),
    "ceil": (np.ceil,),
    "round": (np.round,),
    "rint": (np.rint,),
    "sigmoid": (sigmoid,),
    "log_sigmoid": (log_sigmoid,),
    "erf": (ERF,),
    "erfc": (scalar(math.erfc), -3, 3, 8),
    "lgamma": (scalar(lgamma), -3, 9, 32),
    "relu": (keep_nan(lambda x: np.maximum(x, 0)),),
    "relu6": (keep_nan(lambda x: np.minimum(np.maximum(x, 0), 6)), -3, 9),
    "elu": (elu,),
    "selu": (lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)),),
    "softplus": (lambda x: np.logaddexp(0, x),),
    "softsign": (lambda x: x / (1 + np.abs(x)),),
    "invert": (np.invert,),
    "conj": (np.conj,),
}


@case(*UNARY)
def unary(d):
    function, *rest = UNARY[d.op]
    low, high, ulps = (*rest, -3, 3, 4)[:3] if len(rest) != 2 else (*rest, 4)
    x = d.values(d.shape(), low=low, high=high)

    def expected():
        if is_int(d.dtype) and d.op in ("round", "conj"):
            return x
        if is_int(d.dtype) and d.op.startswith("relu"):
            return np.clip(x, 0, 6 if d.op == "relu6" else None)
        if is_complex(d.dtype) and d.op == "abs":
            return np.abs(x)
        return narrow(function(wide(x)), d.dtype)

    if is_float(d.dtype) and d.op in ("softsign",) and d.odd:
        x = d.finite(x.shape)
    if is_complex(d.dtype):
        ulps *= 4
    return Example([x], {}, expected, ulps=ulps, slow=d.op in ("erf", "erfc", "lgamma"))


@case("is_nan", "is_inf", "is_finite")
def kinds_of_numbers(d):
    x = d.values(d.shape())
    function = {"is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite}[d.op]
    return Example([x], {}, lambda: function(wide(x)))


@case("logical_not")
def logical_not(d):
    x = d.values(d.shape())
    return Example([x], {}, lambda: ~x)


@case("angle", "real", "imag")
def parts_of_complex(d):
    x = d.values(d.shape())
    part = {"complex64": "float32", "complex128": "float64"}.get(d.dtype, d.dtype)

    def expected():
        if d.op == "angle":
            # Real numbers have the angles 0 and pi.
            return narrow(np.angle(x) if is_complex(d.dtype) else np.pi * (wide(x) < 0), part)
        if d.op == "imag":
            return x.imag if is_complex(d.dtype) else np.zeros_like(x)
        return x.real if is_complex(d.dtype) else x

    return Example([x], {}, expected)


@case("complex")
def complex_of_parts(d):
    shape = d.shape()
    a, b = d.values(shape), d.values(shape)
    out = "complex64" if d.dtype == "float32" else "complex128"

    def expected():
        z = np.empty(shape, out)
        z.real, z.imag = a, b
        return z

    return Example([a, b], {}, expected)


def floormod(x, y):
    return np.fmod(np.fmod(x, y) + y, y)


def div(x, y):
    return x / y


def truncated(x, y):
    if x.dtype.kind in "iu":
        return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y)) if x.dtype.kind == "i" else x // y
    return np.trunc(x / y)


def zero_where(zero, function):
    return lambda x, y: np.where(zero(x, y), 0, function(x, y))


# op: function, range of x, range of y
BINARY = {
    "subtract": (np.subtract,),
    "multiply": (np.multiply,),
    "maximum": (np.maximum,),
    "minimum": (np.minimum,),
    "squared_difference": (None,),
    "truediv": (div,),
    "floordiv": (np.floor_divide, (-9, 9), (1, 4)),
    "floormod": (np.mod, (-9, 9), (1, 4)),
    "truncatediv": (truncated, (-9, 9), (1, 4)),
    "truncatemod": (np.fmod, (-9, 9), (1, 4)),
    "pow": (np.power, (0.2, 3), (0, 3)),
    "atan2": (np.arctan2,),
    "bitwise_and": (np.bitwise_and,),
    "bitwise_or": (np.bitwise_or,),
    "bitwise_xor": (np.bitwise_xor,),
    "left_shift": (np.left_shift, (0, 3), (0, 4)),
    "right_shift": (np.right_shift, (0, 90), (0, 4)),
    "logical_and": (np.logical_and,),
    "logical_or": (np.logical_or,),
    "logical_xor": (np.logical_xor,),
    "equal": (np.equal,),
    "not_equal": (np.not_equal,),
    "greater": (np.greater,),
    "greater_equal": (np.greater_equal,),
    "less": (np.less,),
    "less_equal": (np.less_equal,),
    "divide_no_nan": (zero_where(lambda x, y: y == 0, div), (-3, 3), (-1, 1)),
    "multiply_no_nan": (zero_where(lambda x, y: y == 0, np.multiply),),
    "xdivy": (zero_where(lambda x, y: x == 0, div), (-1, 1), (0.5, 2)),
    "xlogy": (zero_where(lambda x, y: x == 0, lambda x, y: x * np.log(y)), (-1, 1), (0.1, 3)),
    "xlog1py": (zero_where(lambda x, y: x == 0, lambda x, y: x * np.log1p(y)), (-1, 1), (0.1, 3)),
    "nextafter": (np.nextafter,),
}
ANSWERS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
# Quotients round differently where x / y is close to a whole number.
HALVES = ("floordiv", "floormod", "truncatediv", "truncatemod")


def squared_difference(x, y):
    return np.conj(x - y) * (x - y) if x.dtype.kind == "c" else np.square(x - y)


BINARY["squared_difference"] = (squared_difference,)


@case("add", *BINARY)
def binary(d):
    function, *ranges = BINARY.get(d.op, (np.add,))
    (a, b), (c, e) = ranges or ((-3, 3), (-3, 3))
    first, second = d.broadcast(2)
    if d.op in HALVES and is_float(d.dtype):
        x = d.rng.integers(a, b + 1, first) * 0.5
        y = d.rng.choice([-2.0, -0.5, 0.5, 1.0, 4.0], second)
        x, y = narrow(x, d.dtype), narrow(y, d.dtype)
    else:
        x, y = d.values(first, low=a, high=b), d.values(second, low=c, high=e)
        if d.op in HALVES and d.dtype.startswith("i"):
            y = narrow(y * d.rng.choice([-1, 1], second), d.dtype)

    def expected():
        if d.dtype == "string":
            joined = np.frompyfunc(lambda p, q: p + q if d.op == "add" else function(p, q), 2, 1)
            out = np.asarray(joined(x, y), object)
            return out if d.op == "add" else out.astype(bool)
        if d.dtype == "bool" or d.op in ANSWERS:
            return function(x, y)
        if d.op == "nextafter":
            return function(x, y)
        return narrow(function(wide(x), wide(y)), d.dtype)

    return Example([x, y], {}, expected, ulps=16 if is_complex(d.dtype) else 4)


@case("select")
def select(d):
    c, x, y = d.broadcast(3)
    c, x, y = d.values(c, "bool"), d.values(x), d.values(y)
    return Example([c, x, y], {}, lambda: np.where(c, x, y))


@case("clip_by_value")
def clip_by_value(d):
    x = d.values(d.shape())
    low, high = d.finite((), low=0, high=1), d.finite((), low=2, high=3)
    return Example([x, low, high], {}, lambda: np.minimum(np.maximum(x, low), high))


def fixed_point_product(x, multiplier, shift, halves_away):
    """In whole numbers of Python, which have no end."""
    up, down = min(max(shift, 0), 31), min(max(-shift, 0), 31)
    high = (narrow32(x << up) * multiplier + 2**30) >> 31
    if halves_away and down > 0 and high < 0:
        high -= 1
    return narrow32((high + (1 << down >> 1)) >> down)


def narrow32(number):
    return (number + 2**31) % 2**32 - 2**31


@case("multiply_fixed_point")
def multiply_fixed_point(d):
    first, second, third = d.broadcast(3)
    x = d.rng.integers(-(2**31), 2**31, first).astype(np.int32) >> d.pick(0, 8, 24)
    multiplier = d.rng.integers(2**30, 2**31, second).astype(np.int32)
    shift, halves_away = d.rng.integers(-33, 4, third).astype(np.int32), d.flag()

    def expected():
        found = np.frompyfunc(lambda a, b, c: fixed_point_product(a, b, c, halves_away), 3, 1)
        whole = (part.astype(object) for part in (x, multiplier, shift))
        return np.asarray(found(*whole)).astype(np.int32)

    return Example([x, multiplier, shift], {"halves_away": halves_away}, expected, slow=True)


@case("cast")
def cast(d):
    to = d.pick(*[name for name in CAST_TO])
    x = d.values(d.shape(), low=0 if to.startswith("u") else -9, high=9, odd=False)

    def expected():
        if to == "bool":
            return x != 0
        if is_complex(d.dtype) and not is_complex(to):
            return narrow(wide(x).real, to)
        return narrow(wide(x), to)

    return Example([x], {"dtype": to}, expected)


CAST_TO = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
)


@case("leaky_relu", "swish", "gelu")
def activations(d):
    x = d.values(d.shape())
    attr = {"leaky_relu": "alpha", "swish": "beta", "gelu": "approximate"}[d.op]
    value = d.flag() if d.op == "gelu" else d.pick(0.2, 0.5, 1.5)

    def expected():
        w = wide(x)
        if d.op == "leaky_relu":
            return narrow(np.where(w > 0, w, w * value), d.dtype)
        if d.op == "swish":
            return narrow(w * sigmoid(value * w), d.dtype)
        if value:
            inner = np.sqrt(2 / np.pi) * (w + 0.044715 * w**3)
            return narrow(0.5 * w * (1 + np.tanh(inner)), d.dtype)
        return narrow(0.5 * w * (1 + ERF(w / np.sqrt(2))), d.dtype)

    if d.op == "swish":  # inf * 0
        x = np.where(np.isinf(wide(x)), np.zeros_like(x), x)
    if d.op == "gelu":
        x = np.where(np.isinf(wide(x)), np.zeros_like(x), x)
    return Example([x], {attr: value}, expected, ulps=16, atol=4, slow=d.op == "gelu")


@case("add_n")
def add_n(d):
    shape = d.shape()
    xs = [d.values(shape) for _ in range(d.int(1, 4))]

    def expected():
        total = wide(xs[0])
        for x in xs[1:]:
            total = total + wide(x)
        return narrow(total, d.dtype)

    return Example(xs, {}, expected, ulps=8, atol=8)


@case("relu_grad")
def relu_grad(d):
    shape = d.shape()
    dy, y = d.values(shape), d.values(shape, odd=False)
    return Example([dy, y], {}, lambda: np.where(y > 0, dy, np.zeros_like(dy)))


@case("gelu_grad")
def gelu_grad(d):
    shape = d.shape()
    dy, x, approximate = d.finite(shape), d.finite(shape), d.flag()

    def expected():
        w = wide(x)
        if approximate:
            c = np.sqrt(2 / np.pi)
            t = np.tanh(c * (w + 0.044715 * w**3))
            slope = 0.5 * (1 + t) + 0.5 * w * (1 - t * t) * c * (1 + 3 * 0.044715 * w * w)
        else:
            cdf = 0.5 * (1 + ERF(w / np.sqrt(2)))
            slope = cdf + w * np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
        return narrow(wide(dy) * slope, d.dtype)

    return Example([dy, x], {"approximate": approximate}, expected, ulps=32, atol=16, slow=True)
