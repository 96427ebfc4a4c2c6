"""Finds the functions of a C++ file and their lines: by braces, not by a real parser.

Good enough to measure length: it knows comments, literals, preprocessor lines, namespaces, types,
initialisers (of variables, members and in constructors) and lambdas outside functions.
"""

import re
from dataclasses import dataclass

# Comments, raw strings, strings, characters and preprocessor lines with their continuations.
# Digit separators (1'000) are matched first so that they do not open a character.
NOT_CODE = re.compile(
    r"""(?P<keep>\b[0-9][0-9a-fA-FxX]*(?:'[0-9a-fA-F]+)+)
      | //[^\n]*
      | /\*.*?\*/
      | R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | '(?:\\.|[^'\\\n])*'
      | ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
SCOPE = re.compile(r"^(?:inline\s+|typedef\s+|static\s+)*(?:namespace|class|struct|union|enum)\b")
EXTERN_BLOCK = re.compile(r"^extern\s*$")
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
CONSTRUCTOR_INITIALISER = re.compile(r"\)\s*(?:noexcept\s*(?:\([^()]*\))?\s*)?:(?!:)")


@dataclass
class Function:
    name: str
    first_line: int
    last_line: int

    @property
    def length(self) -> int:
        return self.last_line - self.first_line + 1


def blank_non_code(text: str) -> str:
    """The text with comments, literals and preprocessor lines as spaces; newlines stay."""

    def blank(match: re.Match) -> str:
        return match[0] if match["keep"] else re.sub(r"[^\n]", " ", match[0])

    return NOT_CODE.sub(blank, text)


def without_template_heads(header: str) -> str:
    """Drops `template <...>`, whose `class T` would read as the start of a type."""
    while match := re.search(r"\btemplate\s*<", header):
        depth, end = 1, match.end()
        while end < len(header) and depth:
            depth += {"<": 1, ">": -1}.get(header[end], 0)
            end += 1
        header = header[: match.start()] + " " + header[end:]
    return header


def kind_of_block(header: str) -> str:
    """What a brace opens after this text: a "scope", a "function", or an "initialiser"."""
    header = ACCESS.sub(" ", without_template_heads(header)).strip()
    if SCOPE.match(header) or EXTERN_BLOCK.match(header):
        return "scope"
    if "(" not in header or header.endswith(("=", ",", "return")):
        return "initialiser"
    if CONSTRUCTOR_INITIALISER.search(header) and re.search(r"[\w>]$", header):
        return "initialiser"
    if header.count("(") > header.count(")") and not header.endswith((")", "mutable", "noexcept")):
        return "initialiser" if not re.search(r"->\s*[\w:<>&* ]+$|\]$", header) else "function"
    return "function"


def name_in(header: str) -> str:
    header = ACCESS.sub(" ", without_template_heads(header))
    match = re.search(r"([~\w:]+|operator\s*[^\s\w(]+)\s*\(", header)
    return match[1] if match else "lambda"


def functions(text: str) -> list[Function]:
    """The outermost functions of a file, in order."""
    code = blank_non_code(text)
    found: list[Function] = []
    open_kinds: list[str] = []  # kinds of the blocks around the current place
    header, header_line, line = "", 1, 1
    start: Function | None = None  # set while inside a function
    for character in code:
        if character == "{":
            kind = "inner" if start else kind_of_block(header)
            if open_kinds and open_kinds[-1] == "initialiser":
                kind = "initialiser"
            open_kinds.append(kind)
            if kind == "function":
                start = Function(name_in(header), header_line, line)
            if kind == "scope":
                header = ""
        elif character == "}":
            kind = open_kinds.pop() if open_kinds else "scope"
            if kind == "function" and start:
                start.last_line = line
                found.append(start)
                start = None
            # After `member_{value}` the same header goes on; after a block a new one starts.
            header = header + "()" if kind == "initialiser" else "" if kind != "inner" else header
        elif character == ";" and not start:
            header = ""
        elif not start:
            if not header.strip():
                header_line = line
            header += character
        line += character == "\n"
    return found
