"""Fails on files and functions too long to be read in one go."""

import ast
from pathlib import Path

import cpp_functions
from sources import ROOT, cpp_files, python_files, report

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 100


def python_functions(text: str) -> list[tuple[str, int, int]]:
    """(name, first line, number of lines) of each function, nested ones included."""
    return [
        (node.name, node.lineno, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def check_file(path: Path, text: str) -> list[str]:
    problems = []
    lines = len(text.splitlines())
    if lines > MAX_FILE_LINES:
        problems.append(f"{path}: {lines} lines; a file has at most {MAX_FILE_LINES}, split it")
    if path.suffix in (".py", ".pyi"):
        found = python_functions(text)
    else:
        found = [(f.name, f.first_line, f.length) for f in cpp_functions.functions(text)]
    for name, line, length in found:
        if length > MAX_FUNCTION_LINES:
            problems.append(
                f"{path}:{line}: {name} has {length} lines; "
                f"a function has at most {MAX_FUNCTION_LINES}, split it"
            )
    return problems


def check(root: Path) -> list[str]:
    problems = []
    for path in cpp_files(root) + python_files(root):
        problems += check_file(path.relative_to(root), path.read_text())
    return problems


if __name__ == "__main__":
    report(check(ROOT))
