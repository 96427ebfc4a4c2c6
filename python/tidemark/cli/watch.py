"""``tidemark watch PID``: the memory of a running program, as it changes."""

from __future__ import annotations

import sys
import time

from tidemark.cli import OK, InputError

ABOUT = "shows the memory of a running program that allows it (tf.memory.allow_watching())"


def add_arguments(parser):
    parser.add_argument("pid", type=int, help="the process")
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--once", action="store_true", help="print one moment and stop")


def run(arguments) -> int:
    from tidemark._explain import serving  # only reports need it

    history = []
    while True:
        try:
            moment = serving.ask(arguments.pid)
        except (OSError, ValueError) as error:
            if history:
                print(f"\nprocess {arguments.pid} has ended")
                return OK
            raise InputError(
                f"process {arguments.pid} does not answer ({error}); let it call "
                "tf.memory.allow_watching(), or start it with `tidemark run --watch`"
            ) from None
        history.append(moment["stats"]["live"])
        screen = view(arguments.pid, moment, history[-60:])
        if arguments.once or not sys.stdout.isatty():
            print(screen, flush=True)
        else:
            print(f"\033[H\033[J{screen}", end="", flush=True)
        if arguments.once:
            return OK
        time.sleep(arguments.every)


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
        text = f"{bytes_text(size):>10} {count:>8}  {op[:14]:<14} {kind:<10} {place}"
        text = "".join(c if c.isprintable() else "?" for c in text)  # names of files may steer
        out.append(text if len(text) <= 80 else text[:79] + "…")
    return "\n".join(out) + "\n"
