#!/usr/bin/env python3
"""Writes the type stubs python/tidemark/**/*.pyi from the op definitions and the wrappers.

    PYTHONPATH=build/python python tools/gen_stubs.py            # write
    PYTHONPATH=build/python python tools/gen_stubs.py --check    # fail when one is out of date

A stub stands beside each public module whose names come from op definitions, so that editors and
type checkers know them. Modules with plain Python functions need none.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "tidemark"
MODULES = {
    "tidemark": "__init__.pyi",
    "tidemark.math": "math/__init__.pyi",
    "tidemark.math.special": "math/special.pyi",
    "tidemark.linalg": "linalg/__init__.pyi",
    "tidemark.nn": "nn/__init__.pyi",
    "tidemark.nn.experimental": "nn/experimental.pyi",
    "tidemark.bitwise": "bitwise.pyi",
    "tidemark.debugging": "debugging/__init__.pyi",
    "tidemark.random": "random/__init__.pyi",
    "tidemark.random.experimental": "random/experimental.pyi",
}
HEADER = '''# Written by tools/gen_stubs.py from the op definitions; do not edit.
"""{doc}"""

from typing import Any

'''
TENSOR_LIKE = "Any"  # a tensor, an array, a number, a list of them
BY_NAME = {"name": "str | None", "keepdims": "bool", "dtype": "Any", "message": "str | None"}
REFLECTED = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
]
OPERATORS = [*REFLECTED, *(f"r{name}" for name in REFLECTED), "lt", "le", "gt", "ge"]
TENSOR = '''class Tensor:
    """A dense array of one dtype that does not change."""

    dtype: DType
    shape: TensorShape
    ndim: int
    device: str
    def numpy(self) -> Any: ...
    def get_shape(self) -> TensorShape: ...
    def set_shape(self, shape: Any) -> None: ...
    def ref(self) -> Any: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __getitem__(self, key: Any) -> Tensor: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Any: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __neg__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __eq__(self, other: object) -> Any: ...
    def __ne__(self, other: object) -> Any: ...
'''


CLASS = """class {name}:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
"""


# Functions that give something else than one tensor.
OTHER_RESULTS = {
    **dict.fromkeys(
        ("split", "unstack", "meshgrid", "shape_n", "identity_n", "dynamic_partition"),
        "list[Tensor]",
    ),
    **dict.fromkeys(("clip_by_global_norm", "moments", "normalize", "unique", "top_k"), "Any"),
    **dict.fromkeys(("unique_with_counts", "load_op_library", "get_static_value"), "Any"),
    **dict.fromkeys(("device", "get_logger", "init_scope", "control_dependencies"), "Any"),
    **dict.fromkeys(("get_global_generator", "assert_same_float_dtype"), "Any"),
    **dict.fromkeys(("load_library", "set_seed", "set_global_generator"), "None"),
    **dict.fromkeys(("is_tensor", "executing_eagerly", "is_numeric_tensor"), "bool"),
    "as_dtype": "DType",
    "broadcast_static_shape": "TensorShape",
    "get_current_name_scope": "str",
    "assert_all_finite": "Tensor",
    "assert_scalar": "Tensor",
    "tidemark.random.split": "Tensor",
}


def parameter(p: inspect.Parameter, of_op: bool) -> str:
    if p.kind is p.VAR_POSITIONAL:
        return f"*{p.name}: Any"
    if p.kind is p.VAR_KEYWORD:
        return f"**{p.name}: Any"
    kind = BY_NAME.get(p.name)
    if kind is None:
        simple = type(p.default).__name__
        kind = simple if of_op and simple in ("bool", "int", "float", "str") else TENSOR_LIKE
    return f"{p.name}: {kind}" + ("" if p.default is p.empty else " = ...")


def result(module: str, name: str, outputs: dict[str, int]) -> str:
    """What a function gives: a tensor, unless the op has several outputs or the list says."""
    for known in (f"{module}.{name}", name):
        if known in OTHER_RESULTS:
            return OTHER_RESULTS[known]
    if name.lower().startswith("assert_") or name == "Assert":
        return "None"
    return "Tensor" if outputs.get(name, 1) == 1 else "Any"


def function(module, name, thing, outputs, of_op):
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}: Any\n"
    parts = [parameter(p, of_op) for p in signature.parameters.values()]
    return f"def {name}({', '.join(parts)}) -> {result(module, name, outputs)}: ...\n"


def stub(module_name: str) -> str:
    """The text of the stub of a module."""
    module = importlib.import_module(module_name)
    from tidemark import _tidemark

    op_type = _tidemark.OpFunction
    by_function = {}  # last part of a Python name → number of outputs
    for schema in _tidemark.list_ops():
        for full in schema["python_names"]:
            by_function[full.rpartition(".")[2]] = len(schema["outputs"])
    doc = (module.__doc__ or module_name).strip().splitlines()[0]
    text = [HEADER.format(doc=doc)]
    submodules, names = [], []
    for name in sorted(dir(module)):
        thing = getattr(module, name)
        if name.startswith("_") or not name.isidentifier():
            continue
        if inspect.ismodule(thing) and thing.__name__.startswith("tensorflow."):
            continue  # left by somebody who imported it under TensorFlow's name
        (submodules if inspect.ismodule(thing) else names).append((name, thing))
    is_root = module_name == "tidemark"
    if is_root:
        text.append("".join(f"from tidemark import {n} as {n}\n" for n, _ in submodules))
        text.append("from tidemark.dtypes import DType as DType\n")
        text.append("from tidemark.tensor_shape import TensorShape as TensorShape\n\n")
        text.append(TENSOR)
        text.append(
            "".join(f"    def __{o}__(self, other: Any) -> Tensor: ...\n" for o in OPERATORS)
        )
        text.append("\n__version__: str\n")
    else:
        text.append("")  # where Tensor is imported, if anything gives one
    for name, thing in names:
        if is_root and name in ("DType", "TensorShape", "Tensor"):
            continue
        if inspect.isclass(thing):
            text.append(CLASS.format(name=name))
        elif callable(thing):
            text.append(function(module_name, name, thing, by_function, isinstance(thing, op_type)))
        elif type(thing).__name__ == "DType":
            text.append(f"{name}: DType\n")
        else:
            text.append(f"{name}: Any\n")
    if not is_root:
        gives_tensors = any("Tensor" in part for part in text[2:])
        text[1] = "from tidemark import Tensor\n\n" if gives_tensors else "\n"
    return "".join(text)


def out_of_date() -> list[Path]:
    """Stubs that differ from what would be written."""
    differ = []
    for module, path in MODULES.items():
        file = PACKAGE / path
        if not file.exists() or file.read_text() != stub(module):
            differ.append(file)
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        stale = out_of_date()
        for file in stale:
            print(f"{file} is out of date; run tools/gen_stubs.py", file=sys.stderr)
        return 1 if stale else 0
    for module, path in MODULES.items():
        (PACKAGE / path).write_text(stub(module))
    return 0


if __name__ == "__main__":
    sys.exit(main())
