"""Runs a program under the eyes of a house call: ``python visit.py LIBRARY ANSWER SCRIPT ARGS…``.

The Python that runs it has the library, and not Tidemark: of Tidemark's package only modules of
pure Python are loaded, and its own beginning, which would load the runtime, is not run.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types


def _package():
    """`tidemark` as a mere folder of modules."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = types.ModuleType("tidemark")
    package.__path__ = [folder]
    sys.modules["tidemark"] = package


def _run(path):
    """The script as the module ``__main__``; its exit status."""
    with open(path, "rb") as opened:
        code = compile(opened.read(), path, "exec")
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:
        # The user's program begins below this frame.
        shown = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(shown), shown)
        return 1
    return 0


def main(arguments):
    library, answer, script, *rest = arguments
    _package()
    sys.argv = [script, *rest]
    sys.path[0] = os.path.dirname(os.path.abspath(script))  # and not this folder any more
    visitor = importlib.import_module(f"tidemark._house.{library}").Visitor()
    visitor.start()
    status = _run(script)
    result = visitor.result()
    with open(answer, "w", encoding="utf-8") as opened:
        json.dump(result, opened)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    # What the program left open is the system's to take back: TensorFlow may wait for its own
    # threads for ever when iterators are still open at the interpreter's end.
    os._exit(main(sys.argv[1:]))
