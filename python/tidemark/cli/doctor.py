"""``tidemark doctor script.py``: runs a program and says what is wrong with its memory."""

from __future__ import annotations

import contextlib
import json
import sys

from tidemark.cli import FAILED, OK, InputError, files, fix, house_call, native

ABOUT = "runs a program and prints what is wrong with its memory, with the fix"
RUNS_A_PROGRAM = True


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--output", metavar="FILE", help="write the findings as JSON to a file")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="show changes of the source, try them on a copy, and tell what they bring",
    )
    parser.add_argument(
        "--write", action="store_true", help="with --fix: write the changes that helped"
    )
    parser.add_argument(
        "--fail-on",
        choices=["growth", "any"],
        help="exit with status 1 when memory grows, or when there is any finding",
    )
    house_call.add_arguments(parser)
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module instead of a file"
    )
    parser.add_argument(
        "program",
        nargs="*",
        help="the script, or a C++ program, and its arguments; after -- all of them are its own",
    )


def run(arguments) -> int:
    from tidemark._explain import findings, growth  # only reports need it

    if arguments.on:
        return house_call.run(arguments)
    if arguments.fix and arguments.program and native.is_native(arguments.program[0]):
        raise InputError("--fix changes scripts; of a program it can tell the line alone")
    if arguments.fix and (arguments.module is not None or arguments.json):
        raise InputError("--fix takes a script: tidemark doctor --fix script.py")
    if arguments.write and not arguments.fix:
        raise InputError("--write goes with --fix, which shows what it would write")
    run_, status = look_at(arguments.module, list(arguments.program), quiet=arguments.json)
    found = findings.find(run_)
    verdict = growth.overall(run_.analysis)
    if arguments.output:
        files.write(arguments.output, _json(run_, found, verdict))
    elif arguments.json:
        print(_json(run_, found, verdict))
    else:
        sys.stdout.flush()
        print(f"\n--- tidemark doctor {'-' * 60}\n{findings.text(found, run_)}")
    if arguments.fix:
        fix.fix(arguments.program, found, arguments.write)
    grows = verdict.is_growing or any(f.verdict == growth.GROWING for f in found)
    if (arguments.fail_on == "growth" and grows) or (arguments.fail_on == "any" and found):
        return FAILED
    return status or OK


def _json(run_, found, verdict):
    from tidemark._explain import over_workers  # only reports need it

    steps = run_.analysis["steps"]
    return json.dumps({
        "version": 1,
        "verdict": verdict.verdict,
        "bytes_per_step": round(verdict.bytes_per_step),
        "steps": {"count": steps["count"], "how": steps["how"], "place": steps["place"]},
        "peak": run_.analysis["peak"], "limit": run_.limit,
        "recording_error": run_.status.get("error", ""),
        "worker": over_workers.own_part(run_),
        "devices": {part.device: _of_device(part) for part in run_.of_devices()},
        "findings": [f.to_json() for f in found],
    }, indent=2)  # fmt: skip


def _of_device(part):
    from tidemark._explain import growth  # only reports need it

    verdict = growth.overall(part.analysis)
    return {
        "verdict": verdict.verdict, "bytes_per_step": round(verdict.bytes_per_step),
        "peak": part.analysis["peak"], "limit": part.limit,
        "nanoseconds": sum(took for device, *_, took in part.analysis["work"]
                           if device == part.device),
    }  # fmt: skip


def look_at(module, program, path=None, quiet=False):
    """Runs a program under the recorder; (Run, its exit status)."""
    from tidemark._explain.looking import Watched  # only reports need it
    from tidemark.cli.run import execute  # loaded on first use

    if module is None and not program:
        raise InputError("which program? tidemark doctor script.py")
    if module is None and native.is_native(program[0]):
        return native.look_at(program, path, quiet)
    output = contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext()
    status = 0
    with Watched(path) as watched, output:
        try:
            execute(module, program, at_end=watched.last_look)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return watched.result(), status
