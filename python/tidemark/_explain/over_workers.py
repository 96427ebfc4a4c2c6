"""One report of what all workers of a program tell: memory and waiting by worker, the slowest
named, and each finding once, with the workers that have it.
"""

from __future__ import annotations

import os
import platform
import sys
from html import escape

from tidemark._explain.source import bytes_text

_POINTS = 80  # of a worker's memory over time
_SLOW = 0.05  # of the run that others wait for one before it is called slow
_WIDTH, _HEIGHT = 400, 40  # of the drawing of one worker's memory


def own_times():
    """This process as a worker, and its time in collectives until now; None: it is none of
    several."""
    module = sys.modules.get("tidemark.distribute._workers")
    groups = [] if module is None else [g for g in module.joined_groups() if g.size > 1]
    if not groups:
        return None
    collectives, inside, waiting = map(sum, zip(*(g.times for g in groups), strict=True))
    return {
        "rank": groups[-1].rank,
        "size": groups[-1].size,
        "host": platform.node(),
        "pid": os.getpid(),
        "collectives": collectives,
        "inside": inside,
        "waiting": waiting,
        "bytes_sent": sum(group.bytes_sent for group in groups),
    }


def own_part(run):
    """What this process tells of itself as a worker; None: it is none of several."""
    if run.worker is None:
        return None
    analysis = run.analysis
    return {
        **run.worker,
        "seconds": analysis["duration"] / 1e9,
        "live_at_end": analysis["live_at_end"],
        "memory": _over_time(analysis["timeline"]),
    }


def _over_time(timeline):
    """The highest live bytes in each of some stretches of equal length."""
    series = [loads for _, loads in timeline["by_holder"]]
    loads = [sum(column) for column in zip(*series, strict=True)]
    times = timeline["times"][: len(loads)]
    if not times:
        return []
    found = [0] * min(_POINTS, len(times))
    for time, load in zip(times, loads, strict=True):
        at = min(len(found) - 1, time * len(found) // max(1, times[-1]))
        found[at] = max(found[at], load)
    for at in range(1, len(found)):  # nothing happened in it
        found[at] = found[at] or found[at - 1]
    return found


def slowest(workers):
    """(the worker for which the others wait, the seconds each of them did on average); None."""
    if len(workers) < 2:
        return None
    least = min(workers, key=lambda one: one["waiting"])
    others = [one["waiting"] - least["waiting"] for one in workers if one is not least]
    mean = sum(others) / len(others)
    return (least, mean) if mean > _SLOW * max(one["seconds"] for one in workers) else None


def together(told):
    """Plain values of all workers' reports, by rank: what `tidemark doctor --json` printed."""
    told = sorted((one for one in told if one.get("worker")), key=lambda one: one["worker"]["rank"])
    workers = [
        {**one["worker"], "peak": one["peak"], "limit": one["limit"], "verdict": one["verdict"]}
        for one in told
    ]
    findings = {}
    for one in told:
        for finding in one["findings"]:
            key = finding["rule"], finding["file"], finding["line"]
            known = findings.setdefault(key, {**finding, "workers": []})
            known["workers"].append(one["worker"]["rank"])
    slow = slowest(workers)
    return {
        "version": 1,
        "workers": workers,
        "slowest": slow and {"rank": slow[0]["rank"], "seconds": slow[1]},
        "findings": list(findings.values()),
    }


def _slow_words(found):
    slow = found["slowest"]
    if slow is None:
        return "No worker is much slower than the others."
    whole = max(one["seconds"] for one in found["workers"])
    host = next(one["host"] for one in found["workers"] if one["rank"] == slow["rank"])
    return (
        f"Worker {slow['rank']} on {host} is the slowest: the others waited {slow['seconds']:.1f} "
        f"s for it, {slow['seconds'] / whole:.0%} of the run."
    )


def _who(finding, count):
    ranks = finding["workers"]
    if len(ranks) == count:
        return f"all {count} workers"
    return f"worker{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


_HEADS = ("worker", "peak", "at the end", "waiting", "in collectives", "sent", "memory", "host")


def _row(one):
    share = one["waiting"] / one["seconds"] if one["seconds"] else 0.0
    return (
        str(one["rank"]), bytes_text(one["peak"]), bytes_text(one["live_at_end"]),
        f"{one['waiting']:.1f} s {share:.0%}", f"{one['inside']:.1f} s",
        bytes_text(one["bytes_sent"]), one["verdict"].split()[0], f"{one['host']}:{one['pid']}",
    )  # fmt: skip


def text(found):
    """For a terminal of 80 columns."""
    import textwrap  # loaded on first use

    workers = found["workers"]
    rows = [_HEADS, *map(_row, workers)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEADS))]
    lines = ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]
    lines += textwrap.wrap(_slow_words(found), 80)
    if not found["findings"]:
        return "\n".join([*lines, "no findings"])
    for number, finding in enumerate(found["findings"], 1):
        place = f"{os.path.basename(finding['file'])}:{finding['line']}"
        lines += ["", f"{number}. {finding['title']}  [{finding['rule']}]  {place}"]
        lines.append(f"   on     {_who(finding, len(workers))}")
        for name, value in (("cost", _cost(finding)), ("seen", finding["evidence"])):
            lines += textwrap.wrap(value, 80, initial_indent=f"   {name:<7}",
                                   subsequent_indent=" " * 10)  # fmt: skip
        lines += [f"   {'fix' if i == 0 else '':<7}{line}"
                  for i, line in enumerate(finding["fix"].splitlines())]  # fmt: skip
    return "\n".join(lines)


def _cost(finding):
    parts = []
    if finding["bytes_per_step"] >= 1:
        parts.append(f"{bytes_text(finding['bytes_per_step'])} a step")
    if finding["bytes_now"]:
        parts.append(f"{bytes_text(finding['bytes_now'])} so far")
    return ", ".join([*parts, *filter(None, [finding["outlook"]])])


def page(title, found):
    """The same as one HTML page."""
    from tidemark.cli.plan_page import STYLE  # only pages need it

    workers = found["workers"]
    most = max([1, *(value for one in workers for value in one["memory"])])
    heads = "".join(f"<th scope=col>{escape(head)}</th>" for head in (*_HEADS, "over time"))
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _row(one))
        + f"<td>{_drawing(one['memory'], most)}</td></tr>"
        for one in workers
    )  # fmt: skip
    cards = "".join(
        f"<article><h3>{escape(f['title'])} <small>{escape(f['rule'])} · "
        f"{escape(os.path.basename(f['file']))}:{f['line']} · {escape(_who(f, len(workers)))}"
        f"</small></h3><p>{escape(_cost(f))}</p><p>{escape(f['evidence'])}</p>"
        f"<pre>{escape(f['fix'])}</pre></article>"
        for f in found["findings"]
    )
    return _PAGE.format(
        style=STYLE, title=escape(title), slow=escape(_slow_words(found)), heads=heads, rows=rows,
        most=escape(bytes_text(most)), findings=cards or "<p>None: nothing to change.</p>",
    )  # fmt: skip


def _drawing(loads, most):
    step = _WIDTH / max(1, len(loads))
    path = "".join(
        f"V{_HEIGHT * (1 - load / most):.1f}H{(at + 1) * step:.1f}" for at, load in enumerate(loads)
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="memory over time"><path d="M0 {_HEIGHT}{path}V{_HEIGHT}Z"/></svg>'
    )


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Workers of {title}</title>
<style>{style}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem 1.2rem .25rem 0; text-align: right; }}
th {{ color: var(--faint); font-weight: normal; font-size: .85rem; }}
path {{ fill: #4e79a7; }} article {{ margin-top: 1.4rem; }} small {{ color: var(--faint); }}
</style>
</head>
<body>
<h1>Workers of {title}</h1>
<p>{slow}</p>
<div style="overflow-x: auto"><table>
<thead><tr>{heads}</tr></thead>
<tbody>{rows}</tbody>
</table></div>
<p>Drawings reach up to {most}. Who waits least is who the others wait for.</p>
<h2>Findings</h2>
{findings}
</body>
</html>
"""
