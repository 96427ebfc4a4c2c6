"""What less memory costs in time, as one HTML page with a plain SVG picture."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from tidemark.cli.plan_page import STYLE, bytes_in_words

WIDTH, HEIGHT = 1000, 460  # of the drawing, in its own units


class Point(NamedTuple):
    """A budget that can be kept, and what keeping it costs."""

    budget: int
    peak: int
    repeated: int
    added_time: float
    splits: list[str]

    @property
    def kind(self) -> str:
        """By what the budget is kept."""
        if self.splits:
            return "both" if self.repeated else "split"
        return "recompute" if self.repeated else "as it is"


_COLOURS = {"as it is": "#8a8f98", "recompute": "#4e79a7", "split": "#e0812c", "both": "#59a14f"}


def page(name: str, points: list[Point], lowest: str) -> str:
    """``points`` from the largest budget on; ``lowest`` says why they end."""
    rows = "".join(
        f"<tr><td>{bytes_in_words(p.budget)}</td><td>{bytes_in_words(p.peak)}</td>"
        f"<td>{p.repeated}</td><td>{p.added_time:+.1%}</td><td>{p.kind}</td>"
        f"<td class=why>{escape('; '.join(p.splits))}</td></tr>"
        for p in points
    )
    return _PAGE.format(
        style=STYLE, name=escape(name), drawing=_drawing(points), rows=rows, lowest=escape(lowest)
    )


def _drawing(points) -> str:
    most = max(p.peak for p in points) or 1
    slowest = max([0.1, *(p.added_time for p in points)]) * 1.1

    def place(point):
        return WIDTH * point.peak / most, HEIGHT * (1 - point.added_time / slowest)

    parts = []
    for i in range(5):
        y, x = HEIGHT * i / 4, WIDTH * i / 4
        parts.append(f'<line class="grid" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="y" x="-10" y="{y + 5}">{slowest * (1 - i / 4):+.0%}</text>')
        size = bytes_in_words(most * i // 4)
        parts.append(f'<text class="x" x="{x}" y="{HEIGHT + 26}">{size}</text>')
    line = " ".join("{:.1f},{:.1f}".format(*place(p)) for p in points)
    parts.append(f'<polyline class="curve" points="{line}"/>')
    for point in points:
        x, y = place(point)
        text = f"peak {bytes_in_words(point.peak)} · {point.added_time:+.1%} time · " + (
            " · ".join([point.kind, f"{point.repeated} steps done twice", *point.splits])
        )
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" style="fill:{_COLOURS[point.kind]}">'
            f"<title>{escape(text)}</title></circle>"
        )
    return "".join(parts) + _legend(points)


def _legend(points) -> str:
    """What the colours mean, of those that are there."""
    kinds = [kind for kind in _COLOURS if any(p.kind == kind for p in points)]
    return "".join(
        f'<rect x="{WIDTH - 140}" y="{26 * at + 4}" width="14" height="14" rx="3" '
        f'style="fill:{_COLOURS[kind]}"/>'
        f'<text x="{WIDTH - 118}" y="{26 * at + 16}">{kind}</text>'
        for at, kind in enumerate(kinds)
    )


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Memory against time of {name}</title>
<style>{style}
.grid {{ stroke: var(--line); }} .y {{ text-anchor: end; }} .x {{ text-anchor: middle; }}
.curve {{ fill: none; stroke: #4e79a7; stroke-width: 2.5; }}
circle {{ fill: #4e79a7; stroke: var(--card); stroke-width: 2; }} circle:hover {{ r: 9; }}
table {{ border-collapse: collapse; margin-top: 1.2rem; font-variant-numeric: tabular-nums; }}
.why {{ font-size: .85rem; }}
th, td {{ padding: .2rem 1.2rem .2rem 0; text-align: right; vertical-align: top; }}
td.why, th.why {{ text-align: left; }}
th {{ color: var(--faint); font-weight: normal; font-size: .85rem; }}
</style>
</head>
<body>
<h1>What less memory costs: {name}</h1>
<figure>
<svg viewBox="-90 -20 1140 530" role="img" aria-label="Added time by peak memory">{drawing}</svg>
<figcaption>To the right the peak of a call, upwards the time that doing steps twice (recompute),
batches in pieces (split) or both add, as estimated. {lowest}</figcaption>
</figure>
<table>
<thead><tr><th>budget</th><th>peak</th><th>steps done twice</th><th>time</th><th>by</th>
<th class=why>what is split</th></tr></thead>
<tbody>{rows}</tbody>
</table>
</body>
</html>
"""
