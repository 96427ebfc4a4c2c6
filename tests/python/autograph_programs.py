"""Small programs whose statements depend on tensors, and what they are called with.

They run on TensorFlow, whose results `tools/record_autograph.py` writes down, and on Tidemark.
"""

import functools
import importlib
import os

import numpy as np

tf = importlib.import_module(os.environ.get("AUTOGRAPH_PROGRAMS_ON", "tidemark"))

PROGRAMS = []  # (function, calls)


def calls(*arguments):
    """Each argument is one call: a tuple of values that become tensors."""

    def note(function):
        PROGRAMS.append((function, [a if isinstance(a, tuple) else (a,) for a in arguments]))
        return function

    return note


# --- if -------------------------------------------------------------------------------------------


@calls(3, -3, 0)
def absolute(x):
    if x >= 0:  # noqa: SIM108
        y = x
    else:
        y = -x
    return y


@calls(3, -3)
def one_sided(x):
    y = x * 2
    if x < 0:
        y = x
    return y


@calls(5, 0, -5)
def chain_of_elif(x):
    if x > 0:
        sign = 1
    elif x < 0:
        sign = -1
    else:
        sign = 0
    return sign


@calls((3, 4), (4, 3), (-1, -2))
def nested_if(x, y):
    if x > 0:
        if y > x:
            x = y
    else:
        x, y = y, x
    return x, y


@calls(1, -1)
def structures_in_branches(x):
    pair = (x, x)
    if x > 0:
        pair, table = (x + 1, x), {"a": x, "b": [x, 2 * x]}
    else:
        table = {"a": -x, "b": [x, x]}
    return pair, table


@calls(1, -1)
def strings(x):
    return "positive" if x > 0 else "negative"


@calls(1, -1)
def shapes_differ(x):
    return tf.zeros([2]) if x > 0 else tf.ones([3])


@calls(1, 0)
def integer_condition(x):
    if x:  # noqa: SIM108
        y = 10
    else:
        y = 20
    return y


@calls((1.0, 2.0), (3.0, 2.0))
def python_condition(x, y):
    deep = True
    if deep:
        x = x + y
    return x


@calls(1, -1)
def dtype_differs(x):
    if x > 0:  # noqa: SIM108
        y = 1
    else:
        y = 2.0
    return y


@calls(1, -1)
def missing_in_else(x):
    if x > 0:
        y = x
    return y


@calls(1, -1)
def missing_in_main(x):
    if x > 0:
        pass
    else:
        y = x
    return y


@calls(1, -1)
def none_in_else(x):
    y = None
    if x > 0:
        y = x
    return y


@calls(1, -1)
def structure_differs(x):
    if x > 0:  # noqa: SIM108
        y = (x, x)
    else:
        y = x
    return y


@calls(([1, 2],))
def vector_condition(x):
    if x > 0:
        return x
    return -x


@calls(1, -1)
def expression_dtype_differs(x):
    return 1 if x > 0 else 2.0


# --- return ---------------------------------------------------------------------------------------


@calls(1, -1)
def early_return(x):
    if x < 0:
        return -x
    x = x * 2
    return x + 1


@calls(1, 50, -1)
def several_returns(x):
    if x < 0:
        return x
    if x > 10:
        x = x - 10
        if x > 20:
            return x * 100
    return x + 1


@calls(1, -1)
def return_in_one_branch(x):
    if x > 0:
        return x


@calls(1, -1)
def no_return(x):
    if x > 0:
        x = x + 1


@calls(3)
def nothing_after_return(x):
    return x
    x = x + 1


# --- while ----------------------------------------------------------------------------------------


@calls(0, 5)
def countdown(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total, n


@calls(27, 1)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:  # noqa: SIM108
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@calls(10, 3)
def while_with_break(n):
    i = tf.constant(0)
    while i < n:
        if i * i > 20:
            break
        i += 1
    return i


@calls(10)
def while_with_continue(n):
    i, odd = tf.constant(0), tf.constant(0)
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        odd += i
    return odd


@calls(3, 7)
def nested_while(n):
    total = tf.constant(0)
    i = tf.constant(0)
    while i < n:
        j = tf.constant(0)
        while j < i:
            if j == 3:
                break
            total += j
            j += 1
        i += 1
    return total


@calls(3, 0)
def first_value_in_loop(n):
    while n > 0:
        last = n * 10
        n -= 1
    return last


@calls(3)
def dtype_changes(n):
    value = 0
    while n > 0:
        n -= 1
        value = 1.5
    return value


@calls(3)
def shape_changes(n):
    values = tf.constant([1])
    while n > 0:
        n -= 1
        values = tf.concat([values, [1]], 0)
    return values


@calls(3)
def structure_changes(n):
    value = (n,)
    while n > 0:
        n -= 1
        value = (n, n)
    return value


@calls(3)
def becomes_none(n):
    value = n
    while n > 0:
        n -= 1
        value = None
    return value


@calls(3, 0)
def starts_as_none(n):
    value = None
    while n > 0:
        n -= 1
        value = n
    return value


@calls(4)
def structure_carried(n):
    state = {"a": n, "b": (0, [n, n])}
    while n > 0:
        a, (b, (c, d)) = state["a"], state["b"]
        state = {"a": a + b, "b": (b + 1, [d, c + n])}
        n -= 1
    return state


@calls(2, 7)
def python_while(n):
    i = 0
    while i < 4:
        n = n + i
        i += 1
    return n


@calls(4)
def shape_invariant(n):
    values = tf.constant([0])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(values, tf.TensorShape([None]))]
        )
        values = tf.concat([values, [i]], 0)
    return values


@calls(9)
def at_most_three(n):
    count = 0
    while n > 0:
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        n -= 1
        count += 1
    return n, count


# --- for ------------------------------------------------------------------------------------------


@calls(0, 5)
def for_over_range(n):
    total = 0
    for i in tf.range(n):
        total += i
    return total


@calls((2, 9), (9, 2))
def for_over_steps(start, stop):
    total = 0
    for i in tf.range(start, stop, 3):
        total = total * 10 + i
    return total


@calls((9, 2))
def for_downwards(start, stop):
    total = 0
    for i in tf.range(start, stop, -2):
        total = total * 10 + i
    return total


@calls(([1.0, 2.0, 4.0],), ([[1.0, 2.0], [3.0, 4.0]],))
def for_over_tensor(x):
    total = tf.zeros_like(x[0])
    for row in x:
        total = total * 2.0 + row
    return total


@calls(5, 0)
def target_after_loop(n):
    for i in tf.range(n):  # noqa: B007
        pass
    return i


@calls(3, 20)
def for_with_break(n):
    total = 0
    for i in tf.range(n):
        if i > 5:
            break
        total += i
    return total


@calls(10)
def for_with_continue_and_break(n):
    total = 0
    for i in tf.range(n):
        if i % 3 == 0:
            continue
        if i > 7:
            break
        total += i
    return total


@calls(5)
def built_in_range(n):
    total = 0
    for i in range(n):
        total += i
    return total


@calls(2)
def python_for(x):
    for i in [1, 2, 3]:
        x = x * i
    return x


@calls((3, 4))
def nested_for(n, m):
    total = 0
    for i in tf.range(n):
        for j in tf.range(m):
            if j > i:
                break
            total += i * j
    return total


@calls(([[1, 2], [3, 4], [5, 6]],))
def unpacked_target(pairs):
    total = 0
    for pair in pairs:
        a, b = pair[0], pair[1]
        total += a * b
    return total


@calls(4)
def fibonacci(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


@calls(3)
def tensor_array(n):
    squares = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        squares = squares.write(i, i * i)
    return squares.stack()


# --- expressions ----------------------------------------------------------------------------------


@calls((1, 2), (5, -1), (5, 5))
def logic(x, y):
    both = x > 0 and y > 0
    either = x > 4 or y > 4
    neither = not (both or either)
    return both, either, neither


@calls(3, 7)
def chained_comparison(x):
    return 1 < x < 5 <= 9


@calls((True, False), (False, False))
def logic_of_flags(a, b):
    return a and not b, a or b, not a


@calls(3, 0)
def right_side_is_lazy(n):
    values = tf.range(n)
    if n > 0 and values[0] == 0:
        return 1
    return 2


@calls((3, 3), (3, 4))
def equality(x, y):
    if x == y:
        return 1
    if x != y and x > 0:
        return 2
    return 3


@calls(3, -3)
def conversions(x):
    return int(x), float(x), abs(x), max(x, 1), min(x, 1)


@calls(([3, 1, 2],))
def lengths(x):
    return len(x) + 1, sum([1, 2]), len([x, x])


@calls(3)
def comprehensions(x):
    parts = [x * i for i in range(3)]
    table = {k: x + v for k, v in (("a", 1), ("b", 2))}
    return parts, table, sum(x * i for i in (1, 2))


@calls(2, -2)
def conditional_expression(x):
    return (x if x > 0 else -x) + (1 if x > 1 else 2)


# --- functions ------------------------------------------------------------------------------------


def helper(x):
    if x > 0:
        return x
    return helper_of_helper(-x)


def helper_of_helper(x):
    total = 0
    while x > 0:
        total += x
        x -= 1
    return total


@calls(3, -4)
def calls_helper(x):
    return helper(x) + helper(x=x - 1)


@calls(3, -3)
def lambdas(x):
    sign = lambda v: 1 if v > 0 else -1  # noqa: E731
    return sign(x) * 10 + (lambda v, k=2: v * k)(x)


@calls(3, -3)
def inner_function(x):
    def flip(v):
        if v > 0:
            return -v
        return v * x

    return flip(x)


@calls(3, -3)
def partials(x):
    def scaled(factor, v, offset=0):
        if v > 0:
            return factor * v + offset
        return v

    return functools.partial(scaled, 3, offset=1)(x)


@calls(3)
def changes_outer(x):
    count = x

    def more():
        nonlocal count
        if x > 0:
            count = count + 10

    more()
    more()
    return count


class Counter:
    """An object whose attribute a loop writes."""

    scale = 2

    def __init__(self, start):
        self.value = start
        self.__hidden = 5

    def advance(self, n):
        for i in tf.range(n):
            if i % 2 == 0:
                self.value = self.value + i * self.scale
        return self.value

    def __call__(self, x):
        if x > 0:
            return x + self.value
        return x

    @classmethod
    def of_class(cls, x):
        if x > 0:
            return x * cls.scale
        return x

    @staticmethod
    def of_nothing(x):
        return x if x > 0 else -x


class Child(Counter):
    def advance(self, n):
        if n > 2:
            n = n - 1
        return super().advance(n)


@calls(5)
def attribute_written(n):
    counter = Counter(tf.constant(100))
    counter.advance(n)
    return counter.value


@calls(5, 1)
def method_of_parent(n):
    return Child(tf.constant(0)).advance(n)


@calls(3, -3)
def kinds_of_callables(x):
    return Counter(x)(x), Counter.of_class(x), Counter.of_nothing(x)


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


@doubled
def decorated_helper(x):
    if x > 0:
        return x
    return -x


@calls(3, -3)
def calls_decorated(x):
    return decorated_helper(x)


@calls(3, -3)
def defaults_and_keywords(x):
    def area(width, *rest, height=2, **more):
        if width > 0:
            return width * height + sum(rest) + more.get("extra", 0)
        return width

    return area(x), area(x, 1, 2, height=3, extra=x)


@calls(3)
def closures_over_loop_variable(x):
    functions = []
    for k in range(3):
        functions.append(lambda v, k=k: v + k if v > 0 else v)
    return [f(x) for f in functions]


@calls(3, -3)
def numpy_values(x):
    weights = np.array([1, 2, 3], np.int32)
    if x > 0:
        return tf.reduce_sum(weights * x)
    return tf.constant(weights[0])


@calls(3)
def recursion(n):
    def power(base, exponent):
        if exponent == 0:
            return tf.constant(1)
        return base * power(base, exponent - 1)

    return power(n, 4)


@calls(3)
def raises(x):
    if x > 0:
        raise ValueError("not this")
    return x


@calls(3)
def missing_key(x):
    return {}["key"]


@calls(4)
def try_and_with(x):
    try:
        if x > 0:
            x = x + 1
    finally:
        x = x * 2
    with tf.name_scope("scope"):
        while x > 8:
            x -= 3
    return x


@calls(3, 30)
def walrus(x):
    if (y := x * 2) > 10:
        return y
    return y + 1


@calls(3, -3)
def assigns_twice(x):
    a = b = x
    if x > 0:
        a = b = a + 1
    return a, b


@calls(3, -3)
def deleted(x):
    y = x
    if x > 0:
        z = y
        del y
        y = z + 1
    return y


@calls(2, 12)
def print_at_trace_time(x):
    print(end="")
    if x > 10:
        x = x - 10
    return x
