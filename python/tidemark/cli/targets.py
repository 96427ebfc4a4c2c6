"""What commands are about: functions of programs, shapes as one writes them, files to write."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import tidemark as tf
from tidemark.cli import InputError

_SHAPE = re.compile(r"(?:\d+(?:[x,]\d+)*,?|scalar|)(?::[a-z]+[a-z0-9_]*)?")


def add_target(parser, **options) -> None:
    """The function a command is about, and what it is called with."""
    parser.add_argument(
        "target",
        metavar="SCRIPT.py:FUNCTION",
        help="a tf.function, or a plain function of tensors, of a program, which is run up to its "
        'end for that (not as "__main__")',
        **options,
    )
    parser.add_argument(
        "--shapes",
        nargs="*",
        default=[],
        metavar="SHAPE",
        help="one an argument: 32x784 (or 32,784, or [32,784]), 128:int32, scalar (float32 unless "
        "said)",
    )


def find_target(arguments):
    """The tf.function that ``add_target``'s arguments name, and a spec for each argument of it."""
    function = _find_function(arguments.target)
    if not hasattr(function, "plan"):
        function = tf.function(function)
    return function, [_spec_of(text) for text in arguments.shapes]


def _find_function(target: str):
    path, colon, name = target.rpartition(":")
    if not colon or not path or not name:
        raise InputError(f"{target}: write it as SCRIPT.py:FUNCTION")
    import runpy  # loaded on first use

    tf.install_as_tensorflow()
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        names = runpy.run_path(path, run_name="tidemark_plan")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    found = names
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else getattr(found, part, None)
    if not callable(found):
        known = ", ".join(n for n, v in names.items() if callable(v) and not n.startswith("_"))
        raise InputError(f"{path} has no function {name!r}; it has {known or 'none'}")
    return found


def _spec_of(text: str):
    plain = re.sub(r"[\[\]() ]", "", text)
    if not text or not _SHAPE.fullmatch(plain):
        raise InputError(f"{text!r} is no shape: write 32x784, 128:int32 or scalar")
    sizes, _, dtype = plain.partition(":")
    shape = [int(size) for size in re.findall(r"\d+", sizes)]
    try:
        return tf.TensorSpec(shape, tf.as_dtype(dtype or "float32"))
    except TypeError:
        raise InputError(f"{dtype!r} is no dtype") from None
