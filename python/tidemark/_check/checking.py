"""Checking files: which ones, and what is found in each."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

from tidemark._check import rules, torch_rules
from tidemark._check.reading import Program

_LEFT_OUT = {".git", ".venv", "venv", "node_modules", "__pycache__", "build", "site-packages"}


@dataclass(frozen=True, order=True)
class Alarm:
    """One pattern that costs memory. Lines and columns count from 1, columns in units of UTF-16, as
    editors and SARIF take them; the end is behind the last."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    message: str
    fix: str

    def to_json(self):
        return asdict(self)


def python_files(paths):
    """The files, and those below the folders, each once, in order."""
    found = {}
    for path in paths:
        if os.path.isdir(path):
            for folder, below, files in os.walk(path):
                below[:] = sorted(name for name in below if name not in _LEFT_OUT)
                names = sorted(name for name in files if name.endswith(".py"))
                found.update(dict.fromkeys(os.path.join(folder, name) for name in names))
        else:
            found[path] = None
    return list(found)


def check_text(path, text):
    """[Alarm] of one file's text, by line. Raises SyntaxError."""
    program, lines = Program(path, text), text.splitlines()
    checks = list(rules.ALL.items()) if program.uses_the_library else []
    checks += list(torch_rules.ALL.items()) if program.uses_torch else []
    found = set()
    for rule, check in checks:
        for node, message, fix in check(program):
            ignored = program.ignored.get(node.lineno, set())
            if ignored is None or rule in ignored:
                continue
            first = _column(lines, node.lineno, node.col_offset)
            last = _column(lines, node.end_lineno, node.end_col_offset)
            found.add(Alarm(path, node.lineno, first, node.end_lineno, last, rule, message, fix))
    return sorted(found)


def _column(lines, line, offset):
    """The column of an offset in bytes, as the syntax tree tells it."""
    if line > len(lines) or lines[line - 1].isascii():
        return offset + 1
    before = lines[line - 1].encode()[:offset].decode(errors="ignore")
    return len(before.encode("utf-16-le")) // 2 + 1


def check_file(path):
    """[Alarm] of a file. Raises OSError, SyntaxError, or UnicodeDecodeError."""
    with open(path, encoding="utf-8") as opened:
        return check_text(path, opened.read())
