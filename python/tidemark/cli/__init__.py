"""The command line: ``tidemark COMMAND ...`` or ``python -m tidemark COMMAND ...``.

A command is a module of this package with ``ABOUT`` (one line), ``add_arguments(parser)`` and
``run(arguments)``, which returns the exit status. It is imported when it is called for. One that
runs a program of the user's says ``RUNS_A_PROGRAM`` and finds it in ``arguments.program``. A
command that is a program of its own has ``replace_process(arguments)`` instead.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from tidemark import errors

COMMANDS = [
    "run",
    "launch",
    "doctor",
    "check",
    "profile",
    "report",
    "export",
    "watch",
    "diff",
    "plan",
    "graph",
    "inspect",
    "convert",
    "serve",
]

# Exit statuses, as of most programs: 1 a check failed, 2 the call or its input is wrong.
OK, FAILED, BAD_INPUT = 0, 1, 2


class InputError(Exception):
    """What was asked for cannot be done; the message says why and what to do."""


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())
        return OK if arguments else BAD_INPUT
    name, *rest = arguments
    if name == "-m" or name.endswith(".py"):  # python -m tidemark script.py
        from tidemark.cli.run import execute  # loaded on first use

        return execute(rest[0], rest[1:]) if name == "-m" and rest else execute(None, arguments)
    if name not in COMMANDS:
        print(f"tidemark: there is no command {name!r}\n\n{_overview()}", file=sys.stderr)
        return BAD_INPUT
    command = _command(name)
    if hasattr(command, "replace_process"):
        return command.replace_process(rest)
    parser = argparse.ArgumentParser(prog=f"tidemark {name}", description=command.ABOUT)
    command.add_arguments(parser)
    try:
        if getattr(command, "RUNS_A_PROGRAM", False):
            return command.run(_parse_around_program(parser, rest))
        return command.run(parser.parse_args(rest))
    except (InputError, errors.InvalidArgumentError) as error:
        print(f"tidemark {name}: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has seen enough (`tidemark ... | head`); keep the interpreter from flushing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130


def _parse_around_program(parser, arguments: list[str]):
    """Options of ours count wherever they stand, before and after the script and its arguments.

    What the parser does not know, and all after ``--``, is the program's.
    """
    ours, program = [], []
    left = iter(arguments)
    for word in left:
        option, has_value, _ = word.partition("=")
        action = parser._option_string_actions.get(option)
        if word == "--":
            program.extend(left)
        elif action is not None:
            ours.append(word)
            if action.nargs is None and not has_value:
                ours.extend([value for value in [next(left, None)] if value is not None])
        elif word.startswith("-") and not program and "-m" not in ours:
            ours.append(word)  # for the parser to refuse
        else:
            program.append(word)
    parsed = parser.parse_args(ours)
    parsed.program = program
    return parsed


def _command(name: str):
    return importlib.import_module(f"tidemark.cli.{name}")


def _overview() -> str:
    lines = [f"  {name:<8} {_command(name).ABOUT}" for name in COMMANDS]
    return "\n".join(["usage: tidemark COMMAND ...", "", *lines, "", "tidemark COMMAND --help"])
