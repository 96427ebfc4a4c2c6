"""AutoGraph: random programs give staged, and traced, what Python gives."""

import random

import pytest
from staged import staged
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

NAMES = ("a", "b", "c")


class Writer:
    """Writes a function of three integers with nested statements; every loop ends."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.loops = 0

    def expression(self):
        choose = self.random
        left, right = choose.choice(NAMES), choose.choice((*NAMES, str(choose.randint(-3, 5))))
        operator = choose.choice(("+", "-", "*"))
        if choose.random() < 0.15:
            return f"({left} if {self.condition()} else {right}) % 97"
        return f"({left} {operator} {right}) % 97"

    def condition(self):
        choose = self.random
        plain = f"{choose.choice(NAMES)} {choose.choice(('<', '>', '=='))} {choose.randint(0, 60)}"
        kind = choose.random()
        if kind < 0.2:
            return f"{plain} {choose.choice(('and', 'or'))} {choose.choice(NAMES)} > 20"
        if kind < 0.3:
            return f"not {plain}"
        if kind < 0.4:
            return f"5 < {choose.choice(NAMES)} <= {choose.randint(10, 80)}"
        return plain

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, inside_loop, size):
        for _ in range(size):
            self.statement(depth, inside_loop)

    def statement(self, depth, inside_loop):
        kind = self.random.random()
        if depth > 4 or kind < 0.4:
            name = self.random.choice(NAMES)
            self.line(depth, f"{name} = {self.expression()}")
        elif kind < 0.65:
            self.line(depth, f"if {self.condition()}:")
            self.block(depth + 1, inside_loop, self.random.randint(1, 2))
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.block(depth + 1, inside_loop, self.random.randint(1, 2))
        elif kind < 0.85:
            self.loop(depth)
        elif inside_loop:
            self.line(depth, f"if {self.condition()}:")
            leave = self.random.choice(("break", "continue", "return a + b * 1000"))
            self.line(depth + 1, leave)
        else:
            self.line(depth, f"if {self.condition()}:")
            self.line(depth + 1, f"return {self.random.choice(NAMES)} * 7")

    def loop(self, depth):
        self.loops += 1
        counter = f"n{self.loops}"
        kind = self.random.random()
        if kind < 0.4:
            self.line(depth, f"for {counter} in tf.range(c % {self.random.randint(2, 5)}):")
            self.line(depth + 1, f"a = (a + {counter}) % 97")
        elif kind < 0.6:
            self.line(depth, f"for {counter} in range({self.random.randint(1, 3)}):")
            self.line(depth + 1, f"b = (b + {counter}) % 97")
        else:
            self.line(depth, f"{counter} = b % {self.random.randint(2, 6)}")
            self.line(depth, f"while {counter} > 0:")
            self.line(depth + 1, f"{counter} = {counter} - 1")
        self.block(depth + 1, True, self.random.randint(1, 3))

    def program(self):
        self.line(0, "def program(a, b, c):")
        self.block(1, False, self.random.randint(2, 5))
        self.line(1, "return a + 100 * b + 10000 * c")
        return "\n".join(self.lines) + "\n"


def written(seed, folder):
    source = Writer(seed).program()
    path = folder / f"random_{seed}.py"
    path.write_text(source)
    namespace = {"__name__": f"random_{seed}", "tf": tf}
    exec(compile(source, str(path), "exec"), namespace)
    return namespace["program"], source


@pytest.mark.parametrize("seed", range(30))
def test_random_program(seed, tmp_path):
    check(seed, tmp_path)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(30, 400))
def test_more_random_programs(seed, tmp_path):
    check(seed, tmp_path)


def check(seed, folder):
    program, source = written(seed, folder)
    calls = [(3, 40, 7), (50, 5, 90), (11, 62, 33)]
    expected = [int(program(*call)) for call in calls]
    with staged():
        found = [int(converted(program)(*map(tf.constant, call))) for call in calls]
    assert found == expected, source
    traced = tf.function(program)
    assert [int(traced(*map(tf.constant, call))) for call in calls] == expected, source
