"""AutoGraph: errors, and which functions are converted."""

import asyncio
import contextlib
import functools
import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from staged import run, staged
from tidemark.autograph import _context, _impl, _rules
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

t = tf.constant


# --- errors ---------------------------------------------------------------------------------------


def line_of(function, text):
    """The number of the line of a function that contains a text."""
    lines = Path(__file__).read_text().splitlines()
    first = function.__code__.co_firstlineno
    return next(n for n in range(first, len(lines)) if text in lines[n - 1])


def test_errors_tell_the_line_of_the_user():
    def fails(x):
        if x > 0:
            raise ValueError("deep inside")
        return x

    def calls(x):
        while x > 0:
            x = fails(x)
        return x

    with pytest.raises(ValueError) as caught:
        run(calls, t(1))
    text = str(caught.value)
    assert text.startswith("in user code:")
    assert text.rstrip().endswith("ValueError: deep inside")
    for function, part in ((calls, "x = fails(x)"), (fails, "deep inside")):
        line = line_of(function, part)
        assert f'File "{__file__}", line {line}, in {function.__name__}  *' in text
    files = [entry.path for entry in caught.traceback]
    assert not [f for f in files if "malt" in str(f) or "generated" in str(f)]
    assert caught.traceback[-1].lineno + 1 == line_of(fails, "deep inside")


def test_errors_keep_their_type_and_what_they_carry():
    class Special(Exception):
        def __init__(self, code, where):
            super().__init__(code, where)
            self.code = code

    def fails(x):
        raise Special(7, "here")

    with pytest.raises(Special) as caught:
        run(fails, t(1))
    assert caught.value.code == 7 and caught.value.args == (7, "here")
    assert f"line {line_of(fails, 'raise Special')}" in caught.value.__notes__[0]

    def op_fails(x):
        return tf.reshape(x, [5])

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(op_fails, t([1, 2]))
    assert f"line {line_of(op_fails, 'tf.reshape')}" in caught.value.message


def test_an_error_is_explained_once_through_nested_conversions():
    def inner(x):
        raise ValueError("once")

    def outer(x):
        return converted(inner)(x)

    with pytest.raises(ValueError) as caught:
        run(outer, t(1))
    assert str(caught.value).count("in user code") == 1
    assert str(caught.value).count("ValueError: once") == 1


def test_errors_that_the_user_catches_are_plain():
    def program(x):
        try:
            raise ValueError("plain")
        except ValueError as error:
            return str(error)

    assert run(program, t(1)) == "plain"


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("if x > 0: y = x", ValueError, "'y' must also be initialized in the else branch"),
        ("y = None\n    if x > 0: y = x", ValueError, "'y' is None at the end of the else branch"),
        ("if x > 0: y = 1\n    else: y = 1.0", TypeError,
         "'y' has dtype int32 in the main branch, but dtype float32 in the else branch"),
        ("y = 0\n    while x > 0: y = y + 0.5; x -= 1", TypeError,
         "'y' has dtype int32 before the loop, but dtype float32 after one iteration"),
        ("y = tf.zeros([1])\n    while x > 0: y = tf.concat([y, y], 0); x -= 1", ValueError,
         r"'y' has shape \(1,\) before the loop, but shape \(2,\) after one iteration"),
        ("y = [x]\n    while x > 0: y = (x, x); x -= 1", TypeError,
         "'y' does not have the same nested structure after one iteration"),
        ("y = x\n    while x > 0: y = None; x -= 1", ValueError,
         "'y' is None at the end of the iteration"),
        ("if x > 0: y = x\n    else: return x", ValueError, "must also have a return statement"),
    ],
)  # fmt: skip
def test_what_cannot_be_staged_is_named(tmp_path, body, error, message):
    path = tmp_path / "user_program.py"
    path.write_text(f"import tidemark as tf\n\ndef program(x):\n    {body}\n    print(y, end='')\n")
    namespace = {"__name__": "user_program"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(error, match=message) as caught:
        run(namespace["program"], t(1))
    assert "user_program.py" in str(caught.value)


def test_assertions():
    def program(x):
        assert x > 0, f"x is {'small'}"
        assert x < 10
        return x

    assert int(run(program, t(3))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="x is small"):
        run(program, t(0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(program, t(10))
    with pytest.raises(AssertionError, match="x is small"):
        converted(program)(0)


# --- what is converted ----------------------------------------------------------------------------


@tf.autograph.experimental.do_not_convert
def is_converted_here():
    """True in code that AutoGraph runs converted."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(str(Path(_impl.__file__).parent)):
        frame = frame.f_back
    return "ag__" in frame.f_code.co_freevars


def plain_helper():
    return is_converted_here()


def test_functions_are_converted_recursively_unless_told_otherwise():
    left_alone = tf.autograph.experimental.do_not_convert(plain_helper)

    def program():
        return is_converted_here(), plain_helper(), left_alone()

    assert converted(program)() == (True, True, False)
    assert converted(program, recursive=False)() == (True, False, False)
    assert tf.autograph.experimental.do_not_convert()(program)() == (False, False, False)


def test_do_not_convert_holds_for_what_is_called():
    @tf.autograph.experimental.do_not_convert
    def outer():
        return plain_helper()

    def program():
        return outer()

    assert converted(program)() is False
    assert outer.__name__ == "outer"


def test_callables_of_all_kinds_are_converted():
    class Callable:
        def __call__(self):
            return is_converted_here()

        def method(self):
            return is_converted_here()

        @classmethod
        def of_class(cls):
            return is_converted_here()

        @staticmethod
        def static():
            return is_converted_here()

    thing = Callable()
    plain = lambda: is_converted_here()  # noqa: E731

    def program():
        return [
            thing(), thing.method(), Callable.of_class(), thing.static(),
            functools.partial(plain_helper)(), plain(),
        ]  # fmt: skip

    assert converted(program)() == [True] * 6
    assert converted(thing)() and converted(thing.method)() and converted(Callable.of_class)()
    assert converted(functools.partial(plain_helper))()


def test_libraries_are_left_alone():
    for module in ("numpy", "numpy.linalg", "keras.src.layers", "tidemark.math._arithmetic", "re"):
        assert _rules.is_left_alone(module)
    for module in ("__main__", "numpyro", "my.keras", "tidemarks"):
        assert not _rules.is_left_alone(module)
    assert _rules.is_exempt(np.mean) and _rules.is_exempt(tf.nest.flatten)
    assert _rules.is_exempt(tf.add) and _rules.is_exempt(tf.range)
    assert not _rules.is_exempt(plain_helper)


def test_generators_and_coroutines_run_as_they_are():
    def numbers(n):
        for i in range(n):
            if i != 1:
                yield i

    async def later(x):
        return x + 1

    def program(n):
        return sum(numbers(n)), asyncio.run(later(n))

    assert converted(program)(4) == (5, 5)
    assert list(converted(numbers)(4)) == [0, 2, 3]
    assert asyncio.run(converted(later)(1)) == 2


def test_functions_without_source_run_as_they_are_with_one_warning(caplog):
    namespace = {}
    exec("def made(x):\n    if x > 0:\n        return x\n    return -x", namespace)
    made = namespace["made"]

    def program(x):
        return made(x)

    with caplog.at_level(logging.WARNING):
        assert int(converted(made)(t(-3))) == 3
        assert int(converted(program)(t(3))) == 3
        assert int(converted(made)(t(-2))) == 2
    told = [r.getMessage() for r in caplog.records if "AutoGraph could not transform" in r.message]
    assert len(told) == 1 and "source code" in told[0] and "do_not_convert" in told[0]


def test_else_of_loops_over_python_values():
    def with_else(n):
        for i in range(n):
            if i > 3:
                break
        else:
            return -1
        return i

    assert converted(with_else)(3) == -1 and converted(with_else)(10) == 4


def test_unsupported_statements_run_as_they_are(caplog):
    def assigning(n):
        return (m := n + 1) and m * 2

    with caplog.at_level(logging.WARNING):
        assert converted(assigning)(3) == 8
    assert "assignment (:=)" in caplog.text


def test_try_statements():
    def program(x, key):
        seen = []
        for name in ("a", key):
            try:
                value = {"a": 1}[name]
            except KeyError as error:
                seen.append(str(error))
                value = -1
            except (TypeError, ValueError):
                value = -2
            else:
                if name == "a":
                    value += 10
            finally:
                seen.append(value)
        try:
            return seen, x if x > 0 else -x
        finally:
            seen.append("end")

    assert converted(program)(1, "b") == program(1, "b")
    assert converted(program)(-1, []) == program(-1, [])
    found, value = run(program, t(-3), "b")
    assert found == [11, "'b'", -1, "end"]
    assert int(value) == 3


def test_assignments_in_expressions(caplog):
    def simple(values):
        total = sum((d := x - 1) * d for x in values if x)
        if (n := len(values)) > 1:
            total += n
        return total

    assert converted(simple)([1, 2, 3]) == simple([1, 2, 3])

    def in_condition(values):
        while (last := values.pop()) > 2 and (half := last // 2) > 1:
            values.append(half)
        return last

    with caplog.at_level(logging.WARNING):
        assert converted(in_condition)([1, 2, 9]) == in_condition([1, 2, 9])
    assert ":=" in caplog.text


def test_a_match_statement_of_python_values():
    def program(x, mode):
        match mode:
            case "double":
                y = x * 2
            case ("shift", by):
                y = x + by
            case _:
                y = x
        return y

    assert int(run(program, t(3), "double")) == 6
    assert int(run(program, t(3), ("shift", 4))) == 7


def test_private_attributes_and_super():
    class Parent:
        def __init__(self):
            self.__secret = t(5)

        def value(self, x):
            if x > 0:
                return self.__secret + x
            return x

    class Child(Parent):
        def value(self, x):
            return super().value(x) * 2

    assert int(run(Child().value, t(1))) == 12


def test_names_are_looked_up_when_they_are_used():
    factor = 2

    def scale(x):
        return x * factor if x > 0 else x

    step = converted(scale)
    with staged():
        assert int(step(t(3))) == 6
        factor = 5
        assert int(step(t(3))) == 15


def test_closures_of_one_code_do_not_mix():
    def make(k):
        def add(x, default=k * 100):
            if x > 0:
                return x + k + default
            return x

        return add

    functions = [make(k) for k in range(5)]
    assert [int(run(f, t(1))) for f in functions] == [1 + k + 100 * k for k in range(5)]


def test_locals_eval_and_globals_see_the_function():
    def program(x):
        y = x + 1
        assert "y" in locals() and "pytest" in globals()
        return eval("x + y")

    assert converted(program)(1) == 3


def test_prints_happen_while_tracing_unless_asked_for(capsys):
    def program(x):
        print("tracing", x is None)
        return x

    run(program, t(1))
    assert capsys.readouterr().out == "tracing False\n"
    tf.autograph.trace("traced", 3)
    assert capsys.readouterr().out == "traced 3\n"


def test_print_and_equality_are_staged_when_asked_for(monkeypatch):
    printed = []
    monkeypatch.setattr(
        tf, "print", lambda *values, **options: printed.append((values, options)), raising=False
    )

    def program(x):
        print("x is", x, sep="|")
        print("no tensor")
        return 1 if x == 3 else 2

    features = tf.autograph.experimental.Feature
    with staged():
        step = converted(program, features=features.all_but(features.LISTS))
        assert int(step(t(3))) == 1
    assert [(values[0], int(values[1]), options) for values, options in printed] == [
        ("x is", 3, {"sep": "|"})
    ]


def test_libraries_can_convert_what_their_users_gave():
    ctx = _context.control_status_ctx()
    assert ctx.status is _context.Status.UNSPECIFIED
    assert _impl.tf_convert(plain_helper, ctx)() is True
    assert _impl.tf_convert(plain_helper, ctx, convert_by_default=False)() is False

    def program():
        inside = _context.control_status_ctx()
        return inside.status, _impl.tf_convert(plain_helper, inside)()

    assert converted(program)() == (_context.Status.ENABLED, True)


def test_to_code_and_to_graph():
    def program(x):
        if x > 0:
            x = x + 1
        return x

    code = tf.autograph.to_code(program)
    assert code.startswith("def tf__program(x):") and "ag__.if_stmt" in code
    compile(code, "generated", "exec")
    assert int(tf.autograph.to_graph(program)(t(1))) == 2
    assert tf.autograph.to_graph(program).__name__ == "program"
    with pytest.raises(ValueError, match="only functions and methods"):
        tf.autograph.to_graph(3)


def test_loop_options_belong_first_into_a_loop():
    def late(n):
        while n > 0:
            n -= 1
            tf.autograph.experimental.set_loop_options(maximum_iterations=1)
        return n

    with pytest.raises(ValueError, match="first statement in the loop"):
        tf.autograph.to_graph(late)

    def python_loop(n):
        for _ in range(3):
            tf.autograph.experimental.set_loop_options(maximum_iterations=1)
            n += 1
        return n

    assert converted(python_loop)(0) == 3


def test_functions_that_only_compute():
    from tidemark.autograph import _straight

    class Parent:
        def value(self, x):
            return x + 1

    class Child(Parent):
        def value(self, *rest, fscope=3, **more):
            """Has everything but statements."""
            with tf.name_scope("scope"):
                total = sum([*rest, fscope])
            values = [plain_helper() for _ in range(2)]
            return super().value(total), values, dict(more, a=1), more["b"] > 1

    options = _context.Options()
    assert _straight.transformed(Child.value, options) is not None
    assert converted(Child().value)(1, 2, b=5) == (7, [True, True], {"a": 1, "b": 5}, True)

    def chained(x):
        return 1 < x < 3

    def two_returns(x):
        with contextlib.nullcontext():
            return x
        return 0

    for function in (chained, two_returns, lambda x: x):
        assert _straight.transformed(function, options) is None

    def fails(x):
        y = x + 1
        return (
            y
            + {}["key"]
        )  # fmt: skip

    with pytest.raises(KeyError) as caught:
        converted(fails)(1)
    assert caught.traceback[-1].lineno + 1 == line_of(fails, '+ {}["key"]')


def test_names_inside_a_function_are_the_users():
    def program(x):
        class Inside:
            def method(self):
                return self

        def inner():
            return x

        deep = None
        if x > 0:
            x = x + 1

            def deep():
                return x

        return [f.__qualname__ for f in (Inside, Inside.method, inner, deep)], inner.__name__

    assert converted(program)(1) == program(1)


def test_verbosity(caplog, capsys):
    def program(x):
        return x if x > 0 else -x

    tf.autograph.set_verbosity(2, alsologtostdout=True)
    try:
        with caplog.at_level(logging.INFO):
            converted(program)(1)
    finally:
        tf.autograph.set_verbosity(0)
    assert "ag__.if_exp" in caplog.text and "ag__.if_exp" in capsys.readouterr().out
