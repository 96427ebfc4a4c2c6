"""``tidemark plan --workers N``: what each of N workers will need, and what sharing out costs."""

from __future__ import annotations

import json

from tidemark import errors
from tidemark._explain.source import bytes_text
from tidemark.cli import InputError
from tidemark.cli.files import write
from tidemark.distribute._planning import AS_MADE, ways

_PARTS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)


def tell(function, specs, arguments) -> None:
    """Prints the plan, or with ``--pareto`` a line for each way of sharing out."""
    if arguments.k8s or (arguments.html and arguments.pareto):
        raise InputError("--workers goes with --k8s of one worker's program, and --pareto without "
                         "--html")  # fmt: skip

    def planned(shard, budget=None):
        return function.plan(*specs, workers=arguments.workers, shard=shard, memory_budget=budget)

    try:
        if arguments.pareto:
            _tell_trade_off(ways(function, specs, {}, arguments.workers), planned, arguments)
            return
        plan = planned(_shard(arguments.shard), arguments.budget)
    except (errors.OpError, ValueError, TypeError) as error:
        raise InputError(f"{arguments.target}: {error}") from None
    if arguments.html:
        write(arguments.html, plan.worst.plan.to_html())
    print(plan.to_json(indent=1) if arguments.json else plan, flush=True)


def _shard(said):
    return {None: AS_MADE, "none": None}.get(said, said)


def _tell_trade_off(plans, planned, arguments) -> None:
    """What the worker that needs the most needs, by what is shared out; then with less memory than
    that, by doing steps twice."""
    points = [_point(plan) for plan in plans]
    least = min(points, key=lambda point: point["total"])
    lowest = ""
    for part in _PARTS:
        try:
            under = planned(least["shard"], int(least["total"] * part))
        except errors.ResourceExhaustedError as error:
            lowest = f"{part:.0%} of that cannot be had: {str(error).split(',')[0]}"
            break
        points.append(_point(under))
    if arguments.json:
        print(json.dumps({"points": points, "lowest": lowest}, indent=1), flush=True)
        return
    print(f"{'shared out':>11}  {'a worker':>10}  {'peak':>10}  {'variables':>10}  {'sends':>10}  "
          f"{'again':>5}  {'time':>7}", flush=True)  # fmt: skip
    for point in points:
        sizes = [point[key] for key in ("total", "peak", "variables", "bytes_sent")]
        words = "  ".join(f"{'?' if n is None else bytes_text(n):>10}" for n in sizes)
        print(f"{point['shard'] or 'nothing':>11}  {words}  {point['repeated']:>5}  "
              f"{point['added_time']:>+7.1%}", flush=True)  # fmt: skip
    if lowest:
        print(lowest, flush=True)


def _point(plan):
    worst = plan.worst
    return {
        "shard": plan.shard,
        "total": worst.total,
        "peak": worst.peak,
        "variables": worst.variables,
        "bytes_sent": plan.bytes_sent,
        "repeated": worst.plan.repeated,
        "added_time": worst.plan.added_time,
    }
