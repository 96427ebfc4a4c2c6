"""AutoGraph: functions in which nothing jumps are converted as all passes would convert them."""

import ast
import importlib.util
import random
import subprocess
import sys

import pytest
from tidemark.autograph import _context, _convert, _straight
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

NAMES = ("a", "b", "c", "d", "e")


class Writer:
    """Writes a function of two of five variables with nested blocks and without a jump."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["def program(a, b):"]
        self.block(1)
        if self.random.random() < 0.8:
            self.lines.append(f"    return {self.value()}")
        self.text = "\n".join(self.lines) + "\n"

    def name(self):
        return self.random.choice(NAMES)

    def value(self):
        x, y = self.name(), self.name()
        forms = (
            f"{x} + {y}", f"{x}.attribute", f"{x}[{y}]", f"f({x}, k={y})", f"{x} if {y} else 1",
            f"{x} and not {y}", f"[{x} for {x} in {y}]", f"[{x} for c in {y} if c]", f"-{x}",
        )  # fmt: skip
        return self.random.choice(forms)

    def block(self, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def statement(self, depth):
        def line(text):
            self.lines.append("    " * depth + text)

        kind = self.random.random()
        if depth > 4 or kind < 0.5:
            forms = (
                f"{self.name()} = {self.value()}", f"{self.name()} += {self.value()}",
                f"{self.name()}, {self.name()} = {self.value()}", f"f({self.name()})",
                f"assert {self.name()}, {self.name()}", "pass",
            )  # fmt: skip
            line(self.random.choice(forms))
            return
        opening = self.random.choice(("if", "if", "while", "for", "with"))
        if opening == "for":
            target = self.random.choice((self.name(), f"({self.name()}, {self.name()})"))
            line(f"for {target} in {self.random.choice((self.name(), 'tf.range(a)'))}:")
        elif opening == "with":
            line(f"with f({self.name()}) as {self.name()}:")
        else:
            line(f"{opening} {self.value()}:")
        self.block(depth + 1)
        if opening == "if" and self.random.random() < 0.5:
            line("else:")
            self.block(depth + 1)


def load(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text("import tidemark as tf\n\n\ndef f(*a, **k):\n    return a\n\n\n" + text)
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def statements_of(node):
    """What each statement carries: operator, variables, how many of them are used later or how the
    loop goes; and which variables have no value before it."""
    found, unset = [], set()
    for child in ast.iter_child_nodes(node):
        found += statements_of(child)
        if isinstance(child, ast.Assign) and ast.unparse(child.value).startswith("ag__.Undefined("):
            unset.add(child.targets[0].id)
        call = child.value if isinstance(child, ast.Expr) else None
        name = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
        if name in ("if_stmt", "while_stmt", "for_stmt"):
            carried = [ast.unparse(part) for part in call.args[-2:]]
            found.append((name, *carried, tuple(sorted(unset))))
            unset = set()
    return found


@pytest.mark.parametrize("seed", range(300))
def test_blocks_carry_what_all_passes_make_them_carry(seed, tmp_path):
    function = load(tmp_path, Writer(seed).text)
    options = _context.Options()
    short = _straight.transformed(function, options)
    if short is None:
        pytest.skip("a function for all passes")
    full, _ = _convert._malt().transformed(function, options)
    assert statements_of(short[0]) == statements_of(full)


def test_most_random_functions_are_converted_the_short_way(tmp_path):
    options = _context.Options()
    texts = [Writer(seed).text for seed in range(50)]
    short = [_straight.transformed(load(tmp_path, text), options) is not None for text in texts]
    assert sum(short) > 40


def test_functions_that_need_all_passes():
    def breaks(x):
        while x > 0:
            x -= 1
            if x == 3:
                break
        return x

    def returns(x):
        if x > 0:
            return x
        return -x

    def appends(x):
        found = []
        for i in tf.range(x):
            found.append(i)
        return found

    def looks(x):
        found = [1, 2, 3]
        for i in tf.range(x):
            x += found[i]
        return x

    def sets(x):
        for i in range(3):
            x.value = i
        return x

    def ends(x):
        for _ in range(3):
            x += 1
        else:
            x += 2
        return x

    def raises(x):
        if x is None:
            raise ValueError("none")
        return x

    def bounded(x):
        for _ in tf.range(x):
            tf.autograph.experimental.set_loop_options(maximum_iterations=1)
            x += 1
        return x

    limit = tf.autograph.experimental.set_loop_options

    def bounded_by_alias(x):
        for _ in tf.range(x):
            limit(maximum_iterations=1)
            x += 1
        return x

    def defines(x):
        if x > 0:
            y = (lambda: x)()
        return y

    def sees_frames(x):
        for _ in range(2):
            y = locals()
        return y

    everything = (
        breaks, returns, appends, looks, sets, ends, raises, bounded, bounded_by_alias, defines,
        sees_frames,
    )  # fmt: skip
    for function in everything:
        assert _straight.transformed(function, _context.Options()) is None, function.__name__
    assert converted(bounded)(4) == 8  # of a Python number, which is no loop of the graph
    assert int(tf.function(bounded)(tf.constant(4))) == 5
    assert int(tf.function(bounded_by_alias)(tf.constant(4))) == 5


def test_unassigned_variables_are_read_with_pythons_error():
    def reads(x):
        if x > 0:
            y = 1
        return y

    def adds(x):
        for y in range(x):
            z = y
        z += 1
        return z

    for function in (reads, adds):
        assert _straight.transformed(function, _context.Options()) is not None
        assert converted(function)(2) == function(2)
        with pytest.raises(UnboundLocalError):
            converted(function)(0)


def test_lines_of_blocks_are_the_users():
    def fails(x):
        total = 0
        for part in x:
            if part > 1:
                total += (
                    {}["key"]
                )  # fmt: skip
        return total

    with pytest.raises(KeyError) as caught:
        converted(fails)([1, 2])
    place = caught.traceback[-1]
    first = fails.__code__.co_firstlineno
    assert (place.lineno + 1 - first, place.name) == (5, "fails")


def test_a_function_ends_where_its_last_line_does(tmp_path):
    text = (
        "def program(x):\n"
        "    y = [\n"
        "        x,\n"
        "    ]\n"
        "# less indented\n"
        "\n"
        "    if x > 1:\n"
        '        y = ("""\n'
        'text""", x)\n'
        "    return y\n"
        "    z = 3\n"
        "def after(x): return x\n"
    )
    function = load(tmp_path, text)
    made = converted(function)
    assert (made(1), made(2)) == ([1], ("\ntext", 2))


PROGRAM = """
import sys
import tidemark as tf

@tf.function
def total(layers, x):
    for scale, shift in layers:
        if tf.reduce_sum(x) > 0:
            x = x * scale + shift
    while x > 3:
        x -= 1.0
    return x

assert float(total([(tf.constant(2.0), tf.constant(1.0))] * 2, tf.constant(1.5))) == 3.0
loaded = {name.split(".")[0] for name in sys.modules} - BEFORE
heavy = {"malt", "termcolor", "difflib", "html", "json", "textwrap", "tempfile"}
assert not heavy & loaded, heavy & loaded
assert "tidemark.autograph._malt" not in sys.modules
"""


def test_plain_functions_load_nothing_of_the_other_passes(tmp_path):
    program = tmp_path / "program.py"
    before = "import sys, numpy\nBEFORE = {n.split('.')[0] for n in sys.modules}\n"
    program.write_text(before + PROGRAM)
    command = [sys.executable, program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
