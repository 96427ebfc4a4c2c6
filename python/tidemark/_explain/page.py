"""The report of a run as one HTML page: no other file, no network, data and script inside."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from tidemark._explain import arena_map, growth, peaks
from tidemark._explain.source import bytes_text

_HERE = Path(__file__).parent


def page(title, run, found):
    """The page's text."""
    analysis = run.analysis
    verdict = growth.overall(analysis)
    tables = _tables(run)
    data = {
        "duration": analysis["duration"], "peak": analysis["peak"],
        "peak_time": analysis["peak_time"], "timeline": analysis["timeline"],
        "steps": {"times": analysis["steps"]["times"]},
        "tables": {name: {"rows": rows, "kinds": kinds}
                   for name, (_, _, kinds, rows) in tables.items()},
    }  # fmt: skip
    # A "</script>" in a file's name must not end the script.
    encoded = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return _PAGE.format(
        title=escape(title),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
        summary=_summary(analysis, verdict),
        facts=_facts(run),
        first=_first(run, found, verdict),
        findings=_findings(found),
        planned=_planned(analysis),
        peak=_table("peak", *tables["peak"]),
        live=_table("holders", *tables["holders"]) + _table("alive", *tables["alive"]),
        arenas=_arenas(run),
        by_words=_BY_WORDS if len(analysis["timeline"]["by_label"]) > 1 else "",
        traces=_table("traces", *tables["traces"]),
        ops=_table("ops", *tables["ops"])
        + (_table("work", *tables["work"]) if analysis.get("work") else ""),
        data=encoded,
    )


def _summary(analysis, verdict):
    steps = analysis["steps"]
    kind = verdict.verdict.split()[0]
    grows = f" by {bytes_text(verdict.bytes_per_step)} a step" if verdict.is_growing else ""
    seen_steps = (
        f"{steps['count']:,} steps, {escape(steps['how'])}" if steps["count"] else "no steps seen"
    )
    where = f" at {escape(steps['place'])}" if steps["place"] else ""
    cut = "" if analysis["whole"] else " The recording was cut short; this is up to the cut."
    lost = f" {analysis['lost']:,} events were lost." if analysis["lost"] else ""
    return (
        f'<p>Memory is <span class="verdict {kind}">{escape(verdict.verdict)}{grows}</span> · '
        f"{seen_steps}{where}.{cut}{lost}</p>"
    )


def _first(run, found, verdict):
    """The one thing to do first, in words."""
    if not found:
        told = "There is nothing to do"
        if verdict.is_growing:
            told += ", though memory grows: look at what lives, below"
        return f'<p class="first">{told}.</p>'
    f = found[0]
    where = f"line {f.line} of {f.file.rsplit('/', 1)[-1]}" if f.line else f.file
    what = f.title[0].lower() + f.title[1:] if f.title[1:2].islower() else f.title
    cost = f", which costs {bytes_text(f.bytes_per_step)} a step" if f.bytes_per_step >= 1 else ""
    lines = [line for line in f.fix.splitlines() if line.strip()]
    change = lines[0].partition("   #")[0].strip() if lines else ""
    to = f", to <code>{escape(change)}</code>" if change and not change.startswith("#") else ""
    return (
        f'<p class="first">First change <b>{escape(where)}</b>{to}: {escape(what)}'
        f"{escape(cost)}.</p>"
    )


def _planned(analysis):
    """The planned and the measured peak side by side, and what their difference is."""
    told = peaks.items(analysis)
    planned, measured = peaks.split(told)
    if not planned:
        return ""
    rows = "".join(
        f"<tr><td>{bytes_text(size)}</td><td>{escape(words)}</td></tr>"
        for words, size in told
        if size > 0
    )
    return (
        f"<p>Planned {bytes_text(planned)}, measured {bytes_text(measured)}: the difference of "
        f"{bytes_text(measured - planned)} is what stands below the plan.</p>"
        "<div class=scroll tabindex=0 role=region aria-label='Planned and measured'><table>"
        "<caption>The peak, from what was planned on</caption><thead><tr><th scope=col>bytes</th>"
        f"<th scope=col>what</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _facts(run):
    analysis, stats = run.analysis, run.stats
    facts = [
        ("peak", bytes_text(analysis["peak"])),
        ("live at the end", bytes_text(analysis["live_at_end"])),
        ("limit", bytes_text(run.limit)),
        ("events", f"{analysis['events']:,}"),
        ("seconds", f"{analysis['duration'] / 1e9:.2f}"),
    ]
    for part in run.of_devices():
        there = part.analysis
        facts += [
            (f"peak on {part.device}", bytes_text(there["peak"])),
            (f"live on {part.device} at the end", bytes_text(there["live_at_end"])),
            (f"limit of {part.device}", bytes_text(part.limit)),
        ]
    if stats:
        facts += [
            ("live", bytes_text(stats["live"])), ("planned, idle", bytes_text(stats["planned"])),
            ("retained", bytes_text(stats["retained"])),
            ("not ours", bytes_text(stats["not_ours"])),
            ("resident", bytes_text(stats["resident"])),
        ]  # fmt: skip
    return "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in facts)


def _findings(found):
    if not found:
        return '<p class="verdict flat">None: nothing to change.</p>'
    out = []
    for f in found:
        cost = []
        if f.bytes_per_step >= 1:
            there = f" on {f.device}" if f.device else ""
            cost.append(f"{bytes_text(f.bytes_per_step)} a step{there}")
        if f.bytes_now:
            cost.append(f"{bytes_text(f.bytes_now)} so far")
        if f.outlook:
            cost.append(f.outlook)
        place = f"{f.file.rsplit('/', 1)[-1]}:{f.line}" if f.line else f.file
        out.append(
            f'<article class="card"><h3>{escape(f.title)} <span class="rule">{escape(f.rule)} · '
            f"{escape(place)}</span></h3><p>{escape(', '.join(cost))}</p>"
            f"<p>{escape(_kept_by(f))}</p><p class=faint>{escape(f.evidence)}</p>"
            f"<pre>{escape(f.fix)}</pre></article>"
        )
    return "".join(out)


def _tables(run):
    """id → (caption, heads, kinds, rows)."""
    analysis = run.analysis
    at_peak = [
        [g["bytes_at_peak"], g["count_at_peak"], g["op"] or "–", g["holder"],
         g["place"] + _there(part)]
        for part in (run, *run.of_devices())
        for g in sorted(part.analysis["groups"], key=lambda g: -g["bytes_at_peak"])[:200]
        if g["bytes_at_peak"] > 0
    ]  # fmt: skip
    held = [[h.bytes, h.count, h.words, _top_place(h)] for h in run.seen.fullest[:500]]
    alive = [
        [size, op or "–", holder, place + _there(part), since, step]
        for part in (run, *run.of_devices())
        for place, op, holder, size, since, step in part.analysis["alive"]
    ]
    traces = [[n.nbytes, n.function, n.reason, n.place] for n in run.notes.traces[:2000]]
    ops = [[took, count, op] for op, count, took in analysis["ops"][:200]]
    work = [[took, count, op, device, place]
            for device, op, place, count, took in analysis.get("work", ())[:200]]  # fmt: skip
    return {
        "peak": ("What was live at the peak", ["bytes", "buffers", "op", "kind", "line"],
                 ["bytes", "number", "text", "text", "text"], at_peak),
        "holders": ("Who held what, when most was held of the times it was looked at",
                    ["bytes", "buffers", "holder", "made at"],
                    ["bytes", "number", "text", "text"], held),
        "alive": ("Buffers alive at the end, the largest",
                  ["bytes", "op", "kind", "line", "since", "step"],
                  ["bytes", "text", "text", "text", "time", "number"], alive),
        "traces": ("Traces of functions, and why each was made",
                   ["bytes", "function", "because", "called at"],
                   ["bytes", "text", "text", "text"], traces),
        "ops": ("Where the time of ops went", ["time", "calls", "op"],
                ["time", "number", "text"], ops),
        "work": ("Where the time of devices went, by their own clocks",
                 ["time", "pieces", "op", "device", "line"],
                 ["time", "number", "text", "text", "text"], work),
    }  # fmt: skip


def _there(run):
    return f" on {run.device}" if run.device else ""


def _kept_by(finding):
    if finding.chain is None:
        return f"Held by {finding.holder}."
    return " ← ".join(finding.chain.words())


def _top_place(holder):
    if not holder.groups:
        return "–"
    return max(holder.groups.items(), key=lambda item: item[1])[0][0]


def _table(name, caption, heads, _, rows):
    if not rows:
        return f"<p class=faint>{escape(caption)}: none.</p>"
    cells = "".join(f"<th scope=col>{escape(head)}</th>" for head in heads)
    return (
        f'<label>Filter <input type=search data-for={name} placeholder="words in a row" '
        f'aria-label="Filter: {escape(caption)}"></label> '
        f"<span class=faint data-count={name} role=status></span>"
        f'<div class=scroll tabindex=0 role=region aria-label="{escape(caption)}">'
        f"<table id={name}><caption>{escape(caption)}</caption><thead><tr>{cells}</tr></thead>"
        "<tbody></tbody></table></div>"
    )


def _arenas(run):
    plans = run.analysis["plans"]
    if not plans:
        return "<p class=faint>No function was planned while this was recorded.</p>"
    return arena_map.maps(plans)


_BY_WORDS = '<label><input type="radio" name="by" value="by_label"> by holder</label>\n'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Memory of {title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#findings">Skip to the findings</a>
<header>
<h1>Memory of {title}</h1>
{first}
{summary}
<dl class="facts">{facts}</dl>
</header>
<main>
<section aria-labelledby="findings"><h2 id="findings">Findings</h2>{findings}</section>
<section aria-labelledby="timeline"><h2 id="timeline">Memory over time</h2>
<figure class="card">
<div class="choices" role="radiogroup" aria-label="Stacked by">
<label><input type="radio" name="by" value="by_place" checked> by line</label>
{by_words}<label><input type="radio" name="by" value="by_holder"> by kind of holder</label></div>
<svg id="chart" class="chart" viewBox="0 0 1120 320" tabindex="0" role="img"
 aria-label="Live bytes over time, stacked. Arrow keys move, p goes to the peak."></svg>
<div id="now" role="status" aria-live="polite"></div>
<ul id="legend" class="legend"></ul>
<figcaption class="faint">Ticks under the picture are steps; the dashed line is the peak. Arrow keys
or the pointer tell the bytes at a moment, p goes to the peak.</figcaption>
</figure></section>
<section aria-labelledby="at-peak"><h2 id="at-peak">The peak, explained</h2>
{planned}{peak}</section>
<section aria-labelledby="live"><h2 id="live">What lives</h2>{live}</section>
<section aria-labelledby="arenas"><h2 id="arenas">Arenas of planned functions</h2>
<p class="faint">One map a plan: steps run to the right, offsets go up, a rectangle is a buffer.</p>
{arenas}</section>
<section aria-labelledby="traces-head"><h2 id="traces-head">Traces</h2>{traces}</section>
<section aria-labelledby="ops-head"><h2 id="ops-head">Ops</h2>{ops}</section>
</main>
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""
