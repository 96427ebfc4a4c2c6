"""Two programs with a defect each made into one: both setups, then one loop with both bodies."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from pathlib import Path

SEEDED = Path(__file__).parents[1] / "doctor" / "seeded"
ROUNDS = 60


def joinable():
    """The programs that end with a loop at the top level and run eagerly, without a limit."""
    names = []
    for path in sorted(SEEDED.glob("*.py")):
        text = path.read_text()
        last = ast.parse(text).body[-1]
        is_loop = isinstance(last, ast.For) and ast.unparse(last.iter).startswith("range(")
        if is_loop and "disable_eager" not in text and "set_limit" not in text:
            names.append(path.stem)
    return names


def pairs(distances):
    """Each program with those so far behind it in the list, round the corner."""
    names = joinable()
    found = []
    for (at, name), by in itertools.product(enumerate(names), distances):
        other = names[(at + by) % len(names)]
        if (other, name) not in found:
            found.append((name, other))
    return found


def _names_of(tree):
    """What a program gives names to at its top level."""
    names, open_ = set(), list(tree.body)
    while open_:
        node = open_.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue  # names inside are its own
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        open_ += ast.iter_child_nodes(node)
    return names


def _parts(text):
    """(comments with what is expected, setup, body of the loop)."""
    tree = ast.parse(text)
    loop = tree.body[-1]
    lines = text.splitlines()
    notes = [line for line in lines if re.match(r"# (rule|holder|bytes)", line)]
    setup = [line for line in lines[: loop.lineno - 1] if line not in notes]
    setup = [line for line in setup if not line.startswith("import tensorflow")]
    return notes, "\n".join(setup), textwrap.dedent("\n".join(lines[loop.lineno :]))


def joined(first, second):
    """The text of a program with both defects; comments say what is expected, as in the two."""
    texts = [(SEEDED / f"{name}.py").read_text() for name in (first, second)]
    same = _names_of(ast.parse(texts[0])) & _names_of(ast.parse(texts[1])) - {"i"}
    for name in same:
        texts[1] = re.sub(rf"\b{name}\b", f"{name}_2", texts[1])
    (notes, setup, body), (more_notes, more_setup, more_body) = map(_parts, texts)
    rules = [re.match(r"# rule: (.*)", part[0])[1] for part in (notes, more_notes)]
    out = []
    for rule, lines in zip(rules, (notes, more_notes), strict=True):
        out += [re.sub(r"^# (holder|bytes):", rf"# \1 {rule}:", line) for line in lines[1:]]
    marked = [
        re.sub(r"# (HERE|CHANGE)$", rf"# \1: {rule}", text, flags=re.M)
        for rule, text in zip(rules * 2, (setup, more_setup, body, more_body), strict=True)
    ]
    head = "\n".join([*out, "import tensorflow as tf", marked[0], marked[1]])
    loop = "\n".join([marked[2], marked[3]])
    return f"{head}\n\nfor i in range(1, {ROUNDS + 1}):\n{textwrap.indent(loop, '    ')}\n"
