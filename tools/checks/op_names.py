"""Fails on lists of op names where facts about ops are used.

What an op is (elementwise, cheap, a reduction, …) its definition says
(include/tidemark/op_facts.h), so that a new op needs no change anywhere else. Three names of ops in
one list, or in one chain of comparisons, are such a fact in another place. A table that really is
about these ops, such as what each is written as, says so in a comment on the line before it or on
its first line: ``op names: why``.
"""

import ast
import re
from pathlib import Path

from sources import ROOT, cpp_files, python_files, report

CPP_FOLDER = ("src", "tidemark")
NOT_LOOKED_AT = ("ops", "kernels")  # what an op is, and how each is computed
PYTHON_FOLDER = ("python", "tidemark")
FEWEST = 3
SHARE = 2 / 3  # of the strings in a list that are ops: fewer are words that ops happen to have, too
ALLOWED = re.compile(r"(//|#).*\bop names: \S")
DEFINITION = re.compile(r'^TIDEMARK_[A-Z_]+\((\w+)[,)]|\bOpDef\("(\w+)"\)', re.MULTILINE)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMPARISONS = re.compile(r'(?:[!=]=\s*"\w+"[^;{}"]*){3,}')


def op_names(root: Path) -> set[str]:
    """Every op that the project defines."""
    names = set()
    for path in cpp_files(root):
        if path.relative_to(root).parts[:3] == ("src", "tidemark", "ops"):
            names.update(match[1] or match[2] for match in DEFINITION.finditer(path.read_text()))
    return names


def is_list_of_ops(strings: list[str], ops: set[str]) -> bool:
    named = {text for text in strings if text in ops}
    return len(named) >= FEWEST and len(named) >= SHARE * len(set(strings))


def cpp_lists(text: str):
    """(line, strings) of every initialiser list and every chain of comparisons."""
    opened = []  # (place, strings) of the braces around
    for match in re.finditer(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{};]', text):
        token = match[0]
        if token == "{":
            opened.append((match.start(), []))
        elif token == "}" and opened:
            start, strings = opened.pop()
            yield text.count("\n", 0, start) + 1, strings
            if opened:  # a list of lists is one, too; a body with several statements is none
                opened[-1][1].extend(strings)
        elif token == ";" and opened:
            opened[-1][1].clear()
        elif token[0] == '"' and opened:
            opened[-1][1].append(token[1:-1])
    for match in COMPARISONS.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, STRING.findall(match[0])


def python_lists(text: str):
    """(line, strings) of every display of strings, and of every string of words."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            items = node.elts
        elif isinstance(node, ast.Dict):
            items = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value.split()
            continue
        else:
            continue
        strings = [item.value for item in items if isinstance(item, ast.Constant)]
        yield node.lineno, [item for item in strings if isinstance(item, str)]


def check_file(path: Path, text: str, ops: set[str]) -> list[str]:
    """Problems of one file, given its path in the project."""
    is_cpp = (
        path.parts[:2] == CPP_FOLDER
        and path.parts[2] not in NOT_LOOKED_AT
        and not path.stem.endswith("_test")
    )
    if not is_cpp and path.parts[:2] != PYTHON_FOLDER:
        return []
    lines = text.splitlines()
    problems = {}
    for number, strings in cpp_lists(text) if is_cpp else python_lists(text):
        if not is_list_of_ops(strings, ops):
            continue
        if any(ALLOWED.search(line) for line in lines[max(0, number - 2) : number]):
            continue
        named = [item for item in dict.fromkeys(strings) if item in ops]
        problems[number] = (
            f"{path}:{number}: a list of op names ({', '.join(named[:FEWEST])}, …): say it in the "
            "definitions (include/tidemark/op_facts.h), or why not: `op names: …`"
        )
    return list(problems.values())


def check(root: Path) -> list[str]:
    ops = op_names(root)
    problems = []
    for path in [*cpp_files(root), *(p for p in python_files(root) if p.suffix == ".py")]:
        problems += check_file(path.relative_to(root), path.read_text(), ops)
    return problems


if __name__ == "__main__":
    report(check(ROOT))
