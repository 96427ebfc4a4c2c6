"""``tidemark run script.py args…``: a program for TensorFlow, with Tidemark in its place."""

from __future__ import annotations

import os
import runpy
import sys

import tidemark
from tidemark.cli import InputError

# Processes that the program starts find `tensorflow` here: by the sys.path that multiprocessing
# hands on, and by PYTHONPATH where they are started in other ways, as the workers of Ray are.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STAND_IN = os.path.join(_PACKAGE, "_tensorflow", "stand_in")
ABOUT = "runs a program written for TensorFlow with Tidemark in its place"


def add_arguments(parser):
    parser.add_argument("--report", action="store_true", help="print the memory report at the end")
    parser.add_argument(
        "--watch", action="store_true", help="let `tidemark watch PID` look at the program"
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module instead of a file"
    )
    parser.add_argument("program", nargs="...", help="the script and its arguments")


def run(arguments) -> int:
    program = list(arguments.program)
    if arguments.module is None and not program:
        raise InputError("which program? tidemark run script.py")
    if arguments.watch:
        print(f"tidemark watch {os.getpid()}", file=sys.stderr)
        tidemark.memory.allow_watching()
    return execute(arguments.module, program, arguments.report)


def execute(module, program, report=False, at_end=None) -> int:
    """Runs as ``python`` would: ``sys.argv``, ``__main__``, tracebacks and the exit status.

    ``at_end`` is called when the program has ended, while its variables are still there.
    """
    tidemark.install_as_tensorflow()
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")  # for programs that import keras alone
    there = os.environ.get("PYTHONPATH")
    if _STAND_IN not in (there or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join([_STAND_IN, there] if there else [_STAND_IN])
    try:
        if module is not None:
            sys.argv = [module, *program]
            sys.path[:0] = [os.getcwd(), _STAND_IN]
            _run_module(module, at_end)
        else:
            sys.argv = program
            sys.path[:0] = [os.path.dirname(os.path.abspath(program[0])), _STAND_IN]
            _run_file(program[0], at_end)
    finally:
        if report:
            sys.stdout.flush()
            print(tidemark.memory.report(), file=sys.stderr)
    return 0


def _run_module(module, at_end):
    variables = runpy.run_module(module, run_name="__main__", alter_sys=True)
    if at_end is not None:
        at_end()
    del variables


def _run_file(path, at_end=None):
    """The file as the module ``__main__``, so that pickling and multiprocessing find its names."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {path!r}: {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None
    main = sys.modules["__main__"]
    module = type(sys)("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # The user's program begins below this frame; what stands above is none of its business.
        tb = error.__traceback__
        while tb is not None and tb.tb_frame.f_code.co_filename != path:
            tb = tb.tb_next
        if isinstance(error, KeyboardInterrupt):
            raise
        sys.excepthook(type(error), error.with_traceback(tb), tb)
        sys.last_value = error.with_traceback(None)  # what a program ended by; atexit asks
        raise SystemExit(1) from None
    finally:
        if at_end is not None:
            at_end()
        sys.modules["__main__"] = main if main.__spec__ is None else module
