"""``tidemark plan``: where buffers lie, and how little memory they need together."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from tidemark import _tidemark, errors
from tidemark.cli import OK, InputError

ABOUT = "pack a list of buffers into as little memory as possible"


def add_arguments(parser) -> None:
    parser.add_argument(
        "--csv",
        metavar="FILE",
        required=True,
        help="the buffers, one a line: id,lower,upper,size[,alignment,offset] under a header with "
        "these names; a buffer is alive in [lower, upper); - reads the standard input",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=10.0,
        metavar="N",
        help="how long to look for something better than the first packings (default: 10)",
    )
    parser.add_argument(
        "--enough",
        type=int,
        default=0,
        metavar="BYTES",
        help="stop at this peak (default: at the lower bound)",
    )
    parser.add_argument("--out", metavar="FILE", help="write the offsets as CSV")
    parser.add_argument("--html", metavar="FILE", help="draw it: one page, time by offset")


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(text)
    return value


def run(arguments) -> int:
    text = _read(arguments.csv)
    try:
        plan = _tidemark.pack_buffers(text, seconds=arguments.seconds, enough=arguments.enough)
    except errors.InvalidArgumentError as error:
        raise InputError(f"{_name(arguments.csv)}: {error}") from None
    if arguments.out:
        rows = ["id,lower,upper,size,offset"]
        rows += [",".join(map(str, row)) for row in plan["buffers"]]
        _write(arguments.out, "\n".join(rows) + "\n")
    if arguments.html:
        from tidemark.cli import plan_page

        _write(arguments.html, plan_page.page(_name(arguments.csv), plan))
    print(
        f"peak={plan['peak']} lower_bound={plan['lower_bound']} seconds={plan['seconds']:.3f}",
        flush=True,
    )
    return OK


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


def _read(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{_name(path)}: line {line}: this is no UTF-8 text") from None


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
