"""Lets ``tidemark watch --attach PID`` look at a process that runs TensorFlow, PyTorch or JAX.

One small module of pure Python, found by ``PYTHONPATH=$(tidemark watch --attachable)``:

    python -m tidemark_attach serve.py …     # the program as it is, watched from its first line on
    import tidemark_attach                   # or, in the program, after the library was imported
    tidemark_attach.allow()
"""

import ast
import importlib
import os
import sys
import types

_LIBRARIES = ("tensorflow", "torch", "jax")
_visitor = None


def _package():
    """Tidemark's modules of pure Python, whether or not it is installed here."""
    if "tidemark" not in sys.modules:
        folder = os.path.abspath(__file__)
        for _ in range(3):  # attachable, _house
            folder = os.path.dirname(folder)
        package = types.ModuleType("tidemark")
        package.__path__ = [folder]
        sys.modules["tidemark"] = package


def allow(library=None):
    """Begins to look and to answer; returns the socket's path.

    ``library``: tensorflow, torch or jax; without it the first of them that is imported."""
    global _visitor
    names = [library] if library else [name for name in _LIBRARIES if name in sys.modules]
    if not names or names[0] not in _LIBRARIES:
        raise ValueError(
            f"which library is to be watched? One of {', '.join(_LIBRARIES)}: import it first, or "
            "give its name to allow()"
        )
    _package()
    serving = importlib.import_module("tidemark._explain.serving")
    if _visitor is None:
        _visitor = importlib.import_module(f"tidemark._house.{names[0]}").Visitor()
        _visitor.start()
    return serving.enable(
        {"moment": _visitor.moment, "roots": _visitor.roots, "findings": _visitor.answer}
    )


def _imported_by(script):
    """The first of the libraries that a script imports; None."""
    with open(script, "rb") as opened:
        tree = ast.parse(opened.read(), script)
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] in _LIBRARIES:
                return name.partition(".")[0]
    return None


def main():
    script = sys.argv[1] if len(sys.argv) > 1 else None
    if script is None:
        print("usage: python -m tidemark_attach [--on LIBRARY] SCRIPT …", file=sys.stderr)
        return 2
    library = None
    if script == "--on":
        library, sys.argv[1:] = sys.argv[2], sys.argv[3:]
        script = sys.argv[1]
    allow(library or _imported_by(script))
    print(f"tidemark watch --attach {os.getpid()}", file=sys.stderr, flush=True)
    import runpy  # only a program of its own needs it

    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.modules["tidemark_attach"] = sys.modules["__main__"]
    sys.exit(main())
