"""Fails on an import inside a function of the package that does not say why it is there.

Imports stand at the top. One inside a function is there because its module is loaded on first use,
or because that module imports this one; a comment on its line, or on the line before the first of
several, says which.
"""

import ast
from pathlib import Path

from sources import ROOT, python_files, report

FOLDER = ("python", "tidemark")


def late_imports(tree: ast.AST):
    """Imports inside functions, in the order of their lines."""
    found = {
        node.lineno: node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return [found[line] for line in sorted(found)]


def check_text(name: str, text: str) -> list[str]:
    lines = text.splitlines()
    problems, explained = [], 0  # the last line of an import that says why it is there
    for node in late_imports(ast.parse(text)):
        own = lines[node.lineno - 1 : node.end_lineno]
        says_why = any("#" in line for line in own)
        says_why = says_why or lines[node.lineno - 2].lstrip().startswith("#")
        if says_why or explained == node.lineno - 1:
            explained = node.end_lineno
        else:
            problems.append(
                f"{name}:{node.lineno}: an import inside a function without a comment that says "
                "why: move it to the top, or say why not"
            )
    return problems


def check(root: Path) -> list[str]:
    problems = []
    for path in python_files(root):
        name = path.relative_to(root)
        if name.parts[:2] == FOLDER and name.suffix == ".py":
            problems += check_text(name.as_posix(), path.read_text())
    return problems


if __name__ == "__main__":
    report(check(ROOT))
