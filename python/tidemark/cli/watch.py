"""``tidemark watch PID``: the memory of a running program, as it changes, also over days."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from tidemark.cli import OK, InputError
from tidemark.cli.files import write

ABOUT = "shows the memory of a running program that allows it (tf.memory.allow_watching())"
_ATTACHABLE = Path(__file__).parents[1] / "_house" / "attachable"
_ROOTS_EVERY = 600.0  # seconds: objects of the process are walked for them


def add_arguments(parser):
    parser.add_argument("pid", type=int, nargs="?", help="the process")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="1; 10 with --record")
    parser.add_argument("--once", action="store_true", help="print one moment and stop")
    parser.add_argument(
        "--attach", action="store_true",
        help="findings of a process on TensorFlow, PyTorch or JAX that loads tidemark_attach",
    )  # fmt: skip
    parser.add_argument(
        "--attachable", action="store_true", help="print the folder with tidemark_attach, and stop"
    )
    parser.add_argument("--json", action="store_true", help="with --attach: findings as JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="with --attach: write the page")
    parser.add_argument(
        "--record", metavar="FILE", help="add to a recording over days, which stays small"
    )
    parser.add_argument("--mark", metavar="TEXT", help="with --record: note that it happened now")
    parser.add_argument(
        "--alerts", action="store_true", help="print alert rules for Prometheus, and stop"
    )


def run(arguments) -> int:
    if arguments.attachable:
        print(_ATTACHABLE)
        return OK
    if arguments.alerts:
        from tidemark._explain.alerts import RULES  # only watching over days needs it

        print(RULES, end="")
        return OK
    if arguments.mark is not None:
        return _mark(arguments)
    if arguments.pid is None:
        raise InputError("which process? tidemark watch PID")
    if arguments.attach and not arguments.record:
        return _findings(arguments)
    if arguments.record:
        return _record(arguments)
    return _show(arguments)


def _ask(pid, word="moment", attach=False):
    from tidemark._explain import serving  # only reports need it

    try:
        return serving.ask(pid, word)
    except (OSError, ValueError) as error:
        how = (
            "let it run as `python -m tidemark_attach SCRIPT`, or call tidemark_attach.allow(), "
            "with PYTHONPATH=$(tidemark watch --attachable)"
            if attach
            else "let it call tf.memory.allow_watching(), or start it with `tidemark run --watch`"
        )
        raise InputError(f"process {pid} does not answer ({error}); {how}") from None


def _findings(arguments):
    found = _ask(arguments.pid, "findings", attach=True)
    if "findings" not in found:
        raise InputError(f"process {arguments.pid} runs Tidemark itself: without --attach")
    text, page = found.pop("text"), found.pop("page")
    if arguments.output:
        write(arguments.output, page)
    elif arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print(text)
    return OK


def _writer(path):
    from tidemark._explain import days  # only watching over days needs it

    try:
        return days.Writer(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    except days.FormatError as error:
        raise InputError(str(error)) from None


def _mark(arguments):
    if not arguments.record:
        raise InputError("--mark goes with --record FILE, where it is noted")
    _writer(arguments.record).mark(time.time(), arguments.mark)
    return OK


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _record(arguments):
    every = 10.0 if arguments.every is None else arguments.every
    _ask(arguments.pid, attach=arguments.attach)  # whether it answers at all
    writer = _writer(arguments.record)
    writer.begin(arguments.pid, _command(arguments.pid))
    next_roots = 0.0
    while True:
        try:
            writer.add(_ask(arguments.pid))
            if time.monotonic() >= next_roots:
                next_roots = time.monotonic() + _ROOTS_EVERY
                writer.add_roots(_ask(arguments.pid, "roots")["roots"])
        except InputError:
            if os.path.exists(f"/proc/{arguments.pid}"):
                raise
            print(f"process {arguments.pid} has ended", file=sys.stderr)
            return OK
        if arguments.once:
            return OK
        time.sleep(every)


def _show(arguments):
    history = []
    while True:
        try:
            moment = _ask(arguments.pid)
        except InputError:
            if history:
                print(f"\nprocess {arguments.pid} has ended")
                return OK
            raise
        history.append(moment["stats"]["live"])
        screen = view(arguments.pid, moment, history[-60:])
        if arguments.once or not sys.stdout.isatty():
            print(screen, flush=True)
        else:
            print(f"\033[H\033[J{screen}", end="", flush=True)
        if arguments.once:
            return OK
        time.sleep(1.0 if arguments.every is None else arguments.every)


def view(pid, moment, history):
    """One screen of 80 columns."""
    from tidemark._explain.source import bytes_text  # only reports need it

    s = moment["stats"]
    top = max(max(history), 1)
    line = "".join("▁▂▃▄▅▆▇█"[min(7, 8 * value // (top + 1))] for value in history)
    out = [
        f"process {pid}   live {bytes_text(s['live'])}   peak {bytes_text(s['peak'])}   "
        f"limit {bytes_text(s['limit'])}",
        f"planned {bytes_text(s['planned'])}   retained {bytes_text(s['retained'])}   "
        f"not ours {bytes_text(s['not_ours'])}   resident {bytes_text(s['resident'])}",
        line, "", f"{'bytes':>10} {'count':>8}  {'op':<14} {'kind':<10} line",
    ]  # fmt: skip
    for place, op, kind, size, count, _ in moment["groups"][:16]:
        out.append(f"{bytes_text(size):>10} {count:>8}  {op[:14]:<14} {kind:<10} {place}")
    out += by_host(moment.get("workers", []))
    # Names of files and of hosts may steer a terminal.
    told = ("".join(c if c.isprintable() else "?" for c in line) for line in out)
    return "\n".join(line if len(line) <= 80 else line[:79] + "…" for line in told) + "\n"


def by_host(workers):
    """Lines about all workers, each host's together."""
    from tidemark._explain.source import bytes_text  # only reports need it

    hosts = {}
    for name, is_there, live, peak, doing in workers:
        host = name.partition("(")[2].rpartition(":")[0] or name
        hosts.setdefault(host, []).append((name.partition(" (")[0], is_there, live, peak, doing))
    out = []
    for host, there in hosts.items():
        live = sum(one[2] for one in there)
        out += ["", f"host {host}: {len(there)} worker(s), live {bytes_text(live)}"]
        for name, is_there, live, peak, doing in there:
            doing = doing if is_there else "is not there"
            out.append(f"  {name:<10} {bytes_text(live):>10}  peak {bytes_text(peak):>10}  {doing}")
    return out
