"""Fails on a hook of the whole process that is set somewhere else than in the one place for it.

What a lower layer needs from a higher one is a field of Upcalls (src/tidemark/base/upcalls.h), a
constant filled in src/tidemark/upcalls.cpp. What is attached from outside while the process runs
goes through src/tidemark/base/attached.h; what the Python package gives the extension, through
python/src/frontend.cpp. Elsewhere there is neither a setter of a hook, nor a variable that holds
one, nor an initialiser that registers something. Definitions of ops and kernels register
themselves.
"""

import re
from pathlib import Path

from sources import ROOT, cpp_files, report

ALLOWED = {
    "src/tidemark/base/attached.h",
    "src/tidemark/base/attached.cpp",
    "src/tidemark/base/upcalls.h",
    "src/tidemark/upcalls.cpp",
    "python/src/frontend.cpp",
}
FOLDERS = ("src/tidemark/", "include/tidemark/", "python/src/")
DEFINITIONS = ("src/tidemark/ops/", "src/tidemark/kernels/")

# What is called back: a function by its address, or an object by a name that says what it is for.
ALIAS = re.compile(r"\busing (\w+) =[^;]*\(\*\)\(")
NAMED = r"\w*(?:Hooks?|Observer|Watch(?:er)?|Callback|Listener)"
SPECIFIERS = r"(?:(?:extern|static|inline|constinit|TIDEMARK_API) )*"
REGISTERS = "registers something while the library is loaded"


def patterns(aliases: set[str]) -> list[tuple[re.Pattern, str]]:
    """What is looked for, given the names of types that are addresses of functions."""
    hook = rf"(?:(?:\w+::)*(?:{'|'.join([NAMED, *sorted(aliases)])})\b[*&]*|std::function<[^;]*>)"
    pointer = r"[^;=(]*\(\*"
    setter = rf"void (?:set|install|register|replace)_\w+\((?:{hook} |{pointer}|PyObject\*)"
    holder = rf"(?:{hook}|std::atomic<(?:{hook}|{pointer}[^;=]*)>) \w+(?: =[^;]*|\{{[^;]*\}})?;"
    function = r"(?:[\w:]+[*&]? )\(\*\w+\)\("
    return [
        (re.compile(rf"^{SPECIFIERS}{setter}", re.MULTILINE), "sets a hook of the whole process"),
        (
            re.compile(rf"^{SPECIFIERS}(?:{holder}|{function})", re.MULTILINE),
            "holds a hook of the whole process",
        ),
        (
            re.compile(rf"^{SPECIFIERS}const (?:bool|int|auto) \w+ = (?:\(|\[)", re.MULTILINE),
            REGISTERS,
        ),
    ]


ADVICE = (
    "make it a field of src/tidemark/base/upcalls.h, or attach it through "
    "src/tidemark/base/attached.h"
)


def check_file(path: Path, text: str, looked_for: list[tuple[re.Pattern, str]]) -> list[str]:
    """Problems of one file, given its path in the project."""
    problems = []
    for pattern, does in looked_for:
        if does == REGISTERS and path.as_posix().startswith(DEFINITIONS):
            continue
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: {does}: {ADVICE}")
    return problems


def check(root: Path) -> list[str]:
    texts = {}
    for path in cpp_files(root):
        name = path.relative_to(root)
        if name.as_posix().startswith(FOLDERS) and not name.name.endswith("_test.cpp"):
            texts[name] = path.read_text()
    looked_for = patterns({alias for text in texts.values() for alias in ALIAS.findall(text)})
    problems = []
    for name, text in texts.items():
        if name.as_posix() not in ALLOWED:
            problems += check_file(name, text, looked_for)
    return problems


if __name__ == "__main__":
    report(check(ROOT))
