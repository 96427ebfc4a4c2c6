#!/usr/bin/env python3
"""Writes docs/compatibility.md from the package, its op definitions and TensorFlow's names.

    python tools/gen_compatibility.py            # write
    python tools/gen_compatibility.py --check    # fail when it is out of date

tests/python/data/tf_names.txt holds TensorFlow 2.21's public names. What differs, and why names
are missing, is in differences.py and unsupported.py of tidemark/_tensorflow/.
"""

from __future__ import annotations

import argparse
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests" / "python" / "data" / "tf_names.txt"
KERAS = ROOT / "tests" / "python" / "data" / "keras_names.txt"
KERAS_TESTS = ROOT / "tests" / "keras" / "allowed.tsv"
TENSORFLOW_TESTS = ROOT / "tests" / "tensorflow" / "measured.tsv"
PACKAGE_TESTS = ROOT / "tests" / "ecosystem" / "measured.tsv"
PAGE = ROOT / "docs" / "compatibility.md"

INTRO = """\
# What of TensorFlow is here

Names, arguments, defaults and errors are those of TensorFlow 2.21. This page is written by
`tools/gen_compatibility.py` from the op definitions, the package and the list of TensorFlow's
public names, and from what was measured (measured.tsv of tests/tensorflow and tests/ecosystem); a
test fails when it is out of date.

- **here**: the name is there and works; of `tf.raw_ops` also what TensorFlow itself refuses on a
  CPU, with TensorFlow's error.
- **refused**: the name is there and raises `tf.errors.UnimplementedError` with the reason.
- **missing**: asking for the name raises `AttributeError`.

"""


def recorded():
    """TensorFlow's names: module → last parts. Modules of others, as Keras's, are left out."""
    modules = {}
    for line in NAMES.read_text().splitlines():
        module, _, names = line.partition(":")
        modules[module] = [n for n in names.split() if not n.startswith("(")]
    return modules


def resolve(name):
    """What a full name stands for here, or None."""
    import tidemark

    found = tidemark
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def status(name):
    """ "here", "refused" or "missing"."""
    from tidemark._tensorflow import unsupported

    if unsupported.reason_of(name) is not None:
        return "refused"
    if name.startswith("tf.keras."):
        return "here"  # Keras itself, loaded on first use
    parent, _, last = name.rpartition(".")
    module = resolve(parent) if parent != "tf" else sys.modules["tidemark"]
    if not isinstance(module, (types.ModuleType, types.SimpleNamespace)):
        return "missing"
    return "here" if hasattr(module, last) else "missing"


def reason(table, module):
    """The reason of the module, or of the nearest one around it."""
    while module not in table and "." in module:
        module = module.rpartition(".")[0]
    return table.get(module, "")


def by_status(module, names):
    found = {"here": [], "refused": [], "missing": []}
    for name in names:
        found[status(f"{module}.{name}")].append(name)
    return found


def top_level(module):
    parts = module.split(".")
    if module.startswith("tf.compat.v1"):
        return "tf.compat.v1"
    return ".".join(parts[:2])


def summary(table):
    """One row for each top-level module."""
    rows = {}
    for module, found in table.items():
        counts = rows.setdefault(top_level(module), [0, 0, 0])
        for i, kind in enumerate(("here", "refused", "missing")):
            counts[i] += len(found[kind])
    lines = ["| module | names | here | refused | missing |", "| --- | ---: | ---: | ---: | ---: |"]
    for module in sorted(rows):
        here, refused, missing = rows[module]
        total = here + refused + missing
        lines.append(f"| `{module}` | {total} | {here} | {refused} | {missing} |")
    sums = [sum(r[i] for r in rows.values()) for i in range(3)]
    lines.append(f"| **all** | {sum(sums)} | {sums[0]} | {sums[1]} | {sums[2]} |")
    return lines


def keras_part():
    from tidemark._tensorflow import unsupported

    names = KERAS.read_text().split()
    found = {"here": [], "refused": [], "missing": []}
    for name in names:
        found[status(name)].append(name)
    lines = [
        "## What Keras refers to",
        "",
        f"Keras 3 refers to {len(names)} names: {len(found['here'])} are here, "
        f"{len(found['refused'])} refused, {len(found['missing'])} missing.",
        "",
    ]
    if found["refused"]:
        lines += ["| refused | reason |", "| --- | --- |"]
        lines += [f"| `{n}` | {unsupported.reason_of(n)} |" for n in found["refused"]]
        lines.append("")
    if found["missing"]:
        lines += ["Missing: " + ", ".join(f"`{n}`" for n in found["missing"]), ""]
    return lines


def differences_part():
    from tidemark._tensorflow import differences

    lines = ["## What differs", "", "| name | difference |", "| --- | --- |"]
    for name, text in sorted(differences.DIFFERENCES.items()):
        lines.append(f"| `{name}` | {text} |")
    return [*lines, ""]


def module_part(module, found):
    from tidemark._tensorflow import differences, unsupported
    from tidemark._tensorflow.raw import functions

    lines = [f"### {module}", ""]
    if found["here"]:
        lines += ["Here: " + ", ".join(f"`{n}`" for n in found["here"]), ""]
    if module == "tf.raw_ops":
        names = ", ".join(f"`{n}`" for n in functions.refused_there())
        lines += [f"Of these, refused as TensorFlow refuses them on a CPU: {names}", ""]
    if found["refused"]:
        lines += ["| refused | reason |", "| --- | --- |"]
        reasons = {}
        for name in found["refused"]:
            reasons.setdefault(unsupported.reason_of(f"{module}.{name}"), []).append(f"`{name}`")
        lines += [f"| {', '.join(names)} | {why} |" for why, names in reasons.items()]
        lines.append("")
    if found["missing"]:
        why = reason(differences.MISSING, module)
        if len(found["missing"]) > 400:
            lines += [f"Missing ({why}): {len(found['missing'])} names", ""]
        else:
            names = ", ".join(f"`{n}`" for n in found["missing"])
            lines += [f"Missing ({why}): {names}", ""]
    return lines


def keras_tests_part():
    """Tests of Keras itself that TensorFlow passes and Tidemark does not, by reason."""
    reasons = {}
    for line in KERAS_TESTS.read_text().splitlines():
        if line and not line.startswith("#"):
            test, _, why = line.partition("\t")
            reasons.setdefault(why, []).append(test.removeprefix("src/").replace("[[]", "["))
    lines = [
        "## Keras's own tests",
        "",
        "`tests/keras/run` runs them against the results of TensorFlow 2.21. These pass there and",
        "fail here:",
        "",
        "| why | tests |",
        "| --- | --- |",
    ]
    for why, tests in sorted(reasons.items()):
        lines.append(f"| {why} | {', '.join(f'`{test}`' for test in tests)} |")
    return [*lines, ""]


def rows_of(path):
    """The lines of a table in a file, in columns."""
    lines = path.read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def tensorflow_tests_part():
    lines = [
        "## TensorFlow's own tests",
        "",
        "`tests/tensorflow/run` runs 82 files of TensorFlow 2.21's own unit tests. Of the tests",
        "that pass on TensorFlow through the same layer of names, and need nothing private, these",
        "pass here (all areas, 20 November 2026; no test crashed or hung):",
        "",
        "| area | pass | of | % |",
        "| --- | ---: | ---: | ---: |",
    ]
    rows = [(area, int(here), int(there)) for area, here, there in rows_of(TENSORFLOW_TESTS)]
    rows.append(("**all**", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    for area, here, there in rows:
        lines.append(f"| {area} | {here} | {there} | {100 * here / there:.1f} |")
    return [*lines, ""]


def package_tests_part():
    lines = [
        "## Packages' own tests",
        "",
        "`tests/ecosystem/own_tests` runs fixed samples of the tests that packages bring along;",
        "all of a sample pass on TensorFlow. Seconds are the processor's, memory is the most that",
        "was resident, with one thread of Tidemark's, beside other work, 20 November 2026; an",
        "empty field was not measured.",
        "",
        "| package | pass | of | % | s | s, TensorFlow | MiB | MiB, TensorFlow |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, here, there, *more in rows_of(PACKAGE_TESTS):
        share = f"{100 * int(here) / int(there):.1f}"
        lines.append(f"| {' | '.join([f'`{name}`', here, there, share, *more])} |")
    return [*lines, ""]


def own_part():
    """What Tidemark adds."""
    return [
        "## What Tidemark adds",
        "",
        "| name | what it does |",
        "| --- | --- |",
        "| `tf.memory` | limits, the report, who holds what |",
        "| `tf.install_as_tensorflow` | lets `import tensorflow` find this package |",
        "",
    ]


def ops_part():
    from tidemark import _tidemark

    ops = sorted(_tidemark.list_ops(), key=lambda op: op["name"])
    lines = [
        "## Ops",
        "",
        f"The {len(ops)} ops that functions are made of, with the names that call them directly.",
        "",
        "| op | names | gradient | what it does |",
        "| --- | --- | --- | --- |",
    ]
    for op in ops:
        names = ", ".join(f"`{n}`" for n in op["python_names"])
        gradient = "yes" if op["differentiable"] else ""
        doc = op["doc"].replace("|", "\\|").replace("\n", " ")
        lines.append(f"| `{op['name']}` | {names} | {gradient} | {doc} |")
    return [*lines, ""]


def page():
    """The whole page as text."""
    import tidemark  # noqa: F401  the package that is described

    table = {module: by_status(module, names) for module, names in recorded().items()}
    lines = [
        *summary(table),
        "",
        *keras_part(),
        *keras_tests_part(),
        *tensorflow_tests_part(),
        *package_tests_part(),
        *differences_part(),
        *own_part(),
    ]
    lines += ["## Names by module", ""]
    for module in sorted(table):
        if any(table[module].values()):
            lines += module_part(module, table[module])
    lines += ops_part()
    return INTRO + "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the page is out of date")
    arguments = parser.parse_args()
    text = page()
    if arguments.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print("docs/compatibility.md is out of date; run tools/gen_compatibility.py")
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
