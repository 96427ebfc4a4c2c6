"""The Python package stays in order: few private names at its top, imports at the top of files."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "tidemark"
MOST_PRIVATE_NAMES = 12
# Every run of pytest loads it, and few of them need the package.
LOADED_ELSEWHERE = {"_explain/pytest_plugin.py"}


def test_few_private_names_stand_at_the_top():
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix in (".py", "")}
    private = {name for name in names if name.startswith("_") and not name.startswith("__")}
    assert len(private) <= MOST_PRIVATE_NAMES, sorted(private)


def imports_inside_functions(source):
    """Line numbers of imports of the package's own modules inside functions that give no reason."""
    lines, found = source.splitlines(), []
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    for node in {inner for function in functions for inner in ast.walk(function)}:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        if not module or module.split(".")[0] != "tidemark":
            continue
        around = lines[node.lineno - 2 : node.end_lineno]
        if not any("#" in line for line in around):
            found.append(node.lineno)
    return sorted(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    from tidemark import nn\n", [2]),
        ("def f():\n    from tidemark import nn  # a cycle otherwise\n", []),
        ("def f():\n    # Few programs need it.\n    import tidemark.nn\n", []),
        ("from tidemark import nn\ndef f():\n    import os\n", []),
    ],
)
def test_imports_without_a_reason_are_found(source, expected):
    assert imports_inside_functions(source) == expected


def test_imports_inside_functions_say_why():
    bad = {
        f"{name}:{lines}"
        for path in PACKAGE.rglob("*.py")
        if (name := str(path.relative_to(PACKAGE))) not in LOADED_ELSEWHERE
        and (lines := imports_inside_functions(path.read_text()))
    }
    assert not bad, "move these to the top of the file, or say why they cannot stand there"
