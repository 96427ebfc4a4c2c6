"""Alarms as text for people, as JSON, as diagnostics for editors, as annotations for GitHub, as
SARIF for code scanning."""

from __future__ import annotations

import inspect
import json
import pathlib

from tidemark._check import rules


def text(alarms):
    lines = []
    for a in alarms:
        lines += [f"{a.file}:{a.line}:{a.column}: [{a.rule}]", f"    {a.message}",
                  f"    fix: {a.fix}"]  # fmt: skip
    count = len(alarms)
    return "\n".join(
        [*lines, f"{count} alarm{'' if count == 1 else 's'}" if count else "no alarms"]
    )


def as_json(alarms):
    return json.dumps({"version": 1, "alarms": [a.to_json() for a in alarms]}, indent=2)


def _escaped(value, is_property=False):
    """As GitHub's workflow commands take it."""
    for plain, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        value = value.replace(plain, code)
    if is_property:
        value = value.replace(":", "%3A").replace(",", "%2C")
    return value


def github(alarms):
    return "\n".join(
        f"::warning file={_escaped(a.file, True)},line={a.line},endLine={a.end_line},"
        f"col={a.column},title={_escaped(a.rule, True)}::{_escaped(f'{a.message}. Fix: {a.fix}')}"
        for a in alarms
    )


def sarif(alarms):
    """SARIF 2.1.0."""
    known = [
        {"id": name, "shortDescription": {"text": (inspect.getdoc(check) or name).splitlines()[0]}}
        for name, check in rules.ALL.items()
    ]
    numbers = {rule["id"]: number for number, rule in enumerate(known)}
    results = [
        {
            "ruleId": a.rule,
            "ruleIndex": numbers[a.rule],
            "level": "warning",
            "message": {"text": f"{a.message}. Fix: {a.fix}"},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": a.file.replace("\\", "/")},
                "region": {"startLine": a.line, "startColumn": a.column, "endLine": a.end_line,
                           "endColumn": a.end_column},
            }}],
        }
        for a in alarms
    ]  # fmt: skip
    driver = {"name": "tidemark check", "rules": known}
    return json.dumps(
        {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
         "runs": [{"tool": {"driver": driver}, "columnKind": "utf16CodeUnits",
                   "results": results}]},
        indent=2,
    )  # fmt: skip


_WARNING = 2


def lsp(alarms):
    """A list with what `textDocument/publishDiagnostics` of the Language Server Protocol takes of
    each file: there, lines and columns count from 0."""
    files = {}
    for a in alarms:
        start = {"line": a.line - 1, "character": a.column - 1}
        end = {"line": a.end_line - 1, "character": a.end_column - 1}
        files.setdefault(a.file, []).append({
            "range": {"start": start, "end": end}, "severity": _WARNING, "code": a.rule,
            "source": "tidemark check", "message": a.message, "data": {"fix": a.fix},
        })  # fmt: skip
    return json.dumps(
        [{"uri": pathlib.Path(file).absolute().as_uri(), "diagnostics": found}
         for file, found in files.items()],
        indent=2,
    )  # fmt: skip


FORMATS = {"text": text, "json": as_json, "lsp": lsp, "github": github, "sarif": sarif}
