"""The text form of messages, written and read."""

from __future__ import annotations

import re

from tidemark._proto.fields import DecodeError, Field

_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}
_UNESCAPES = {
    "n": 10,
    "r": 13,
    "t": 9,
    '"': 34,
    "'": 39,
    "\\": 92,
    "a": 7,
    "b": 8,
    "f": 12,
    "v": 11,
}
_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\n\s*)*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_][\w.]*|"""
    r"""[-+]?(?:0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?f?|inf|nan)|[{}\[\]<>:;,-])"""
)
_BLANK = re.compile(r"\s*(?:#[^\n]*\n\s*)*")


def _quoted(value):
    data = value.encode() if isinstance(value, str) else value
    out = []
    for byte in data:
        if byte in _ESCAPES:
            out.append(_ESCAPES[byte])
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:03o}")
    return f'"{"".join(out)}"'


def _float(value, single):
    """The shortest digits that give the number back."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if not single:
        return repr(value)
    import numpy as np  # importing the package does not load it

    text = np.format_float_positional(np.float32(value), trim="-")
    text = text if len(text) < 17 else np.format_float_scientific(np.float32(value), trim="-")
    return text if "." in text or "e" in text else text + ".0"


def _scalar(field, value):
    if field.kind in ("string", "bytes"):
        return _quoted(value)
    if field.kind == "bool":
        return "true" if value else "false"
    if field.kind in ("float", "double"):
        return _float(value, field.kind == "float")
    if field.enum is not None:
        return field.enum.name_of(value)
    return str(value)


def to_text(message, indent=""):
    """One line a field, messages in braces."""
    out = []
    for field, value in message.ListFields():
        if field.is_map:
            for key in sorted(value):
                out.append(f"{indent}{field.name} {{\n{indent}  key: {_quoted(key)}\n")
                item = value[key]
                if field._message is None:
                    out.append(f"{indent}  value: {item}\n")
                else:
                    inner = to_text(item, indent + "    ")
                    out.append(f"{indent}  value {{\n{inner}{indent}  }}\n")
                out.append(f"{indent}}}\n")
            continue
        for item in value if field.repeated else (value,):
            if field.is_message:
                inner = to_text(item, indent + "  ")
                out.append(f"{indent}{field.name} {{\n{inner}{indent}}}\n")
            else:
                out.append(f"{indent}{field.name}: {_scalar(field, item)}\n")
    return "".join(out)


# --- reading -------------------------------------------------------------------------------------


class _Tokens:
    def __init__(self, text):
        self.items, at = [], 0
        text = text.rstrip() + "\n"
        while at < len(text):
            if _BLANK.match(text, at).end() == len(text):
                break
            found = _TOKEN.match(text, at)
            if found is None:
                raise DecodeError(f"line {text.count(chr(10), 0, at) + 1}: {text[at : at + 20]!r}?")
            self.items.append(found.group(1))
            at = found.end()
        self.at = 0

    def peek(self):
        return self.items[self.at] if self.at < len(self.items) else None

    def next(self):
        token = self.peek()
        if token is None:
            raise DecodeError("the text ends in the middle of a message")
        self.at += 1
        return token

    def skip(self, *tokens):
        if self.peek() in tokens:
            self.at += 1
            return True
        return False


def _unquoted(token):
    out, at, body = bytearray(), 0, token[1:-1]
    while at < len(body):
        if body[at] != "\\":
            out += body[at].encode()
            at += 1
            continue
        octal = re.compile(r"\\([0-7]{1,3})").match(body, at)
        hexadecimal = re.compile(r"\\x([0-9a-fA-F]{1,2})").match(body, at)
        if octal or hexadecimal:
            found = octal or hexadecimal
            out.append(int(found.group(1), 8 if octal else 16) & 255)
            at = found.end()
        else:
            out.append(_UNESCAPES.get(body[at + 1], ord(body[at + 1]) & 255))
            at += 2
    return bytes(out)


def _read_scalar(field, tokens):
    token = tokens.next()
    if field.kind in ("string", "bytes"):
        if token[0] not in "\"'":
            raise DecodeError(f"field {field.name} takes a quoted text; given {token!r}")
        data = _unquoted(token)
        while tokens.peek() and tokens.peek()[0] in "\"'":
            data += _unquoted(tokens.next())
        return field.text(data)
    if token == "-":
        token += tokens.next()
    try:
        if field.kind == "bool":
            return {"true": True, "false": False, "1": True, "0": False}[token]
        if field.kind in ("float", "double"):
            return field.checked(token.rstrip("f") if token[-1] == "f" and token[-2:] != "nf"
                                 else token)  # fmt: skip
        if field.enum is not None and not token.lstrip("-").isdigit():
            return field.enum.Value(token)
        return field.checked(int(token, 0))
    except (KeyError, ValueError, OverflowError):
        raise DecodeError(f"field {field.name} cannot be {token!r}") from None


def _read_entry(message, field, tokens, end):
    key, container, raw = "", getattr(message, field.name), None
    value = field.message() if field._message is not None else None
    while not tokens.skip(end):
        name = tokens.next()
        tokens.skip(":")
        if name == "key":
            key = _read_scalar(Field(1, "key", "string"), tokens)
        elif value is not None:
            _read_message(value, tokens, {"{": "}", "<": ">"}[tokens.next()])
        else:
            raw = int(tokens.next())
        tokens.skip(",", ";")
    if value is None:
        container[key] = raw or 0
    else:
        container[key].CopyFrom(value)


def _read_message(message, tokens, end):
    while not tokens.skip(end) if end else tokens.peek() is not None:
        name = tokens.next()
        field = message._by_name.get(name)
        if field is None:
            raise DecodeError(f"{type(message).__name__} has no field {name!r}")
        tokens.skip(":")
        if field.is_map or field.is_message:
            close = {"{": "}", "<": ">"}.get(tokens.next())
            if close is None:
                raise DecodeError(f"field {name} takes a message in braces")
            if field.is_map:
                _read_entry(message, field, tokens, close)
            else:
                inner = getattr(message, name)
                inner = inner.add() if field.repeated else inner
                _read_message(inner, tokens, close)
                inner._changed()
        elif field.repeated and tokens.skip("["):
            while not tokens.skip("]"):
                getattr(message, name).append(_read_scalar(field, tokens))
                tokens.skip(",")
        elif field.repeated:
            getattr(message, name).append(_read_scalar(field, tokens))
        else:
            message._set(field, _read_scalar(field, tokens))
        tokens.skip(",", ";")


def from_text(text, message):
    """Fills the message with what the text says."""
    if isinstance(text, bytes):
        text = text.decode()
    try:
        _read_message(message, _Tokens(text), None)
    except (KeyError, RecursionError) as error:
        raise DecodeError(f"the text is no {type(message).__name__}: {error}") from None
    return message
