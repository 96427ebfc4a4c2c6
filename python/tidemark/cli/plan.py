"""``tidemark plan``: what a function will need, or where buffers of a plain list lie."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from pathlib import Path

from tidemark import _tidemark, errors
from tidemark.cli import OK, InputError
from tidemark.cli.files import write
from tidemark.cli.targets import add_target, find_target

ABOUT = "tell what memory a function will need, or pack a list of buffers"
_CSV_SECONDS = 10.0
_PARTS = [part / 100 for part in range(100, 0, -5)]


def add_arguments(parser) -> None:
    add_target(parser, nargs="?")
    parser.add_argument("--budget", metavar="SIZE", help="plan within this much: 500MB")
    parser.add_argument(
        "--pareto",
        action="store_true",
        help="what less memory costs in time: a line a budget; with --html as a picture",
    )
    parser.add_argument(
        "--device",
        metavar="NAME",
        help="plan for this device: gpu, gpu:1; the program runs there, too, up to its end",
    )
    parser.add_argument(
        "--k8s",
        action="store_true",
        help="print the memory of a container for it, to be put into a Kubernetes manifest",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="what each of N workers will need, of which each is given arguments of these shapes; "
        "with --pareto by what is shared out among them, and what they send for it",
    )
    parser.add_argument(
        "--shard",
        choices=["none", "optimizer", "gradients", "parameters"],
        help="with --workers: share this out, whatever the program's strategy says",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="the buffers, one a line: id,lower,upper,size[,alignment,offset] under a header with "
        "these names; a buffer is alive in [lower, upper); - reads the standard input",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        metavar="N",
        help="how long to look for something better than the first plans (default: 10 for a list "
        "of buffers, TIDEMARK_PLAN_MILLISECONDS or 0.1 for a function)",
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
    if (arguments.csv is None) == (arguments.target is None):
        raise InputError("give SCRIPT.py:FUNCTION, or --csv FILE with a list of buffers")
    if arguments.shard and arguments.workers is None:
        raise InputError("--shard goes with --workers N")
    return _run_csv(arguments) if arguments.csv else _run_function(arguments)


def _run_function(arguments) -> int:
    if arguments.seconds is not None:
        os.environ["TIDEMARK_PLAN_MILLISECONDS"] = str(min(round(arguments.seconds * 1000), 10**12))
    with _placed(arguments.device):
        return _plan_function(arguments)


def _placed(name):
    """A context in which functions are planned for a device; what is not there is refused."""
    if name is None:
        return contextlib.nullcontext()
    from tidemark.config import _devices, _placement  # loaded on first use

    kind, _, number = name.upper().partition(":")
    if kind not in ("CPU", "GPU", "EMULATED") or not (number or "0").isdigit():
        raise InputError(f"--device {name}: name a GPU (gpu, gpu:0) or the CPU")
    if kind == "GPU" and int(number or 0) >= _devices.logical_gpu_count():
        raise InputError(f"--device {name}: {_devices.why_no_gpu() or 'there is none such'}")
    return _placement.device(f"/{kind}:{number or 0}")


def _plan_function(arguments) -> int:
    function, specs = find_target(arguments)
    if arguments.workers is not None:
        from tidemark.cli import plan_workers  # loaded on first use

        plan_workers.tell(function, specs, arguments)
        return OK
    try:
        plan = function.plan(*specs, memory_budget=arguments.budget)
    except (errors.OpError, ValueError, TypeError) as error:
        raise InputError(f"{arguments.target}: {error}") from None
    if arguments.pareto:
        _tell_trade_off(function, specs, plan, arguments)
        return OK
    if arguments.html:
        write(arguments.html, plan.to_html())
    if arguments.k8s:
        from tidemark.cli import k8s  # loaded on first use

        print(k8s.fragment(plan, specs), flush=True)
        return OK
    print(plan.to_json(indent=1) if arguments.json else plan, flush=True)
    return OK


def _tell_trade_off(function, specs, plan, arguments) -> None:
    """A line a budget: the peak it leads to, and what that costs; and a picture of it."""
    from tidemark.cli import pareto_page  # loaded on first use

    whole = plan.unbounded_peak
    points, lowest = [], ""
    if not arguments.json:
        print(f"{'budget':>8}  {'peak':>12}  {'again':>5}  {'time':>7}  by", flush=True)
    for part in _PARTS:
        budget = max(1, int(whole * part))
        try:
            under = function.plan(*specs, memory_budget=budget)
        except errors.ResourceExhaustedError as error:
            lowest = f"{part:.0%} cannot be had: {str(error).split(',')[0]}"
            break
        point = pareto_page.Point(
            budget, under.peak, under.repeated, under.added_time, under.splits
        )
        points.append(point)
        if not arguments.json:
            bar = "#" * round(26 * point.peak / whole) if whole else ""
            numbers = f"{point.peak:>12,}  {point.repeated:>5}  {point.added_time:>+7.1%}"
            print(f"{part:>8.0%}  {numbers}  {point.kind:<9}  {bar}", flush=True)
    if arguments.json:
        listed = [{**point._asdict(), "kind": point.kind} for point in points]
        said = {"points": listed, "lowest": lowest}
        print(json.dumps(said, indent=1), flush=True)
    elif lowest:
        print(lowest, flush=True)
    if arguments.html:
        write(arguments.html, pareto_page.page(plan.name, points, lowest))


def _run_csv(arguments) -> int:
    text = _read(arguments.csv)
    try:
        seconds = _CSV_SECONDS if arguments.seconds is None else arguments.seconds
        plan = _tidemark.pack_buffers(text, seconds=seconds, enough=arguments.enough)
    except errors.InvalidArgumentError as error:
        raise InputError(f"{_name(arguments.csv)}: {error}") from None
    if arguments.out:
        rows = ["id,lower,upper,size,offset"]
        rows += [",".join(map(str, row)) for row in plan["buffers"]]
        write(arguments.out, "\n".join(rows) + "\n")
    if arguments.html:
        from tidemark.cli import plan_page  # loaded on first use

        write(arguments.html, plan_page.page(_name(arguments.csv), plan))
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
