"""The report of a run: one HTML page that needs nothing else, for bright and dark screens."""

from __future__ import annotations

import html
import platform
from datetime import datetime

MIB = 1 << 20
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 240, 56, 32

_STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfa; --ink: #22262b; --soft: #6b7280;
        --rule: #d9dce1; --one: #1f6fb2; --two: #c2571a; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181c; --ink: #e6e8eb; --soft: #98a1ad; --rule: #353b43;
          --one: #6cb2eb; --two: #f2a065; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
       max-width: 720px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1.5rem; }
.figures b { display: block; font-size: 1.4rem; font-weight: 600; }
.soft, .figures span, footer { color: var(--soft); font-size: 0.9rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }
svg .rule { stroke: var(--rule); } svg polyline { fill: none; stroke-width: 2; }
.one { stroke: var(--one); } .two { stroke: var(--two); }
svg text.one { fill: var(--one); stroke: none; } svg text.two { fill: var(--two); stroke: none; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--rule); text-align: right;
         white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; } th { font-weight: 600; }
"""


def chart(lines, unit, low=0.0):
    """An SVG of lines, each (name, class, [(x, y)]); x runs over all of them, y from low up."""
    points = [point for _, _, line in lines for point in line]
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    high = max(y for _, y in points)
    high += 0.05 * (high - low) or 1.0

    def place(x, y):
        across = (x - left) / (right - left) if right > left else 0.5
        up = (y - low) / (high - low)
        return LEFT + across * (WIDTH - LEFT - 8), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - 24)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for step in range(5):
        value = low + (high - low) * step / 4
        _, y = place(left, value)
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    for number, (name, kind, line) in enumerate(lines):
        places = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line)
        parts.append(f'<polyline class="{kind}" points="{places}"/>')
        parts.append(f'<text class="{kind}" x="{LEFT + 150 * number}" y="14">{name}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">{left:.3g}</text>')
    parts.append(
        f'<text x="{WIDTH - 8}" y="{HEIGHT - 8}" text-anchor="end">{right:.3g} {unit}</text></svg>'
    )
    return "".join(parts)


def figure(value, meaning):
    return f"<div><b>{value}</b><span>{meaning}</span></div>"


def gallery_table(results):
    rows = [
        f"<tr><td>{html.escape(one.name)}</td><td>{one.rounds:,}</td>"
        f"<td>{one.seconds:.2f} s</td>"
        f"<td>{one.peak / MIB:.1f} MiB</td><td>{one.growth / MIB:.1f} MiB</td>"
        f"<td>{html.escape(one.verdict)}</td></tr>"
        for one in results
    ]
    titles = ("program", "rounds", "time", "peak", "growth", "verdict")
    head = f"<tr>{''.join(f'<th>{title}</th>' for title in titles)}</tr>"
    return f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'


def peak_table(items):
    """What the peak of one step was made of, and of it what had been planned."""
    rows = "".join(
        f"<tr><td>{html.escape(words)}</td><td>{size / MIB:.2f} MiB</td></tr>"
        for words, size in [*items, ("together", sum(size for _, size in items))]
    )
    return f'<div class="scroll"><table>{rows}</table></div>'


def page(trained, gallery):
    """The whole page as text."""
    history = trained.history
    accuracy = [
        ("on the test pictures", "one", list(enumerate(history["val_accuracy"], 1))),
        ("while training", "two", list(enumerate(history["accuracy"], 1))),
    ]
    lowest = min(y for _, _, line in accuracy for _, y in line)
    memory = [
        ("peak within steps", "two", [(t, peak / MIB) for t, _, peak in trained.timeline]),
        ("live between steps", "one", [(t, live / MIB) for t, live, _ in trained.timeline]),
    ]
    figures = [
        figure(f"{trained.accuracy:.2%}", "test accuracy"),
        figure(f"{trained.images_a_second:,.0f}", "pictures a second"),
        figure(f"{trained.planned / MIB:.1f} MiB", "planned for a step"),
        figure(f"{trained.step / MIB:.1f} MiB", "measured for a step"),
        figure(f"{trained.peak / MIB:.1f} MiB", "tensors at the peak, with weights and data"),
        figure(f"{trained.resident_peak / MIB:.0f} MiB", "the whole process at its peak"),
    ]
    now = datetime.now().strftime("%d %B %Y, %H:%M")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tidemark: a run</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{_STYLE}</style></head><body>
<h1>Fashion-MNIST on Tidemark</h1>
<div class="figures">{"".join(figures)}</div>
<h2>Accuracy by epoch</h2>
{chart(accuracy, "epochs", low=max(0.0, lowest - 0.05))}
<h2>Memory of tensors in MiB, by seconds</h2>
{chart(memory, "s")}
<h2>The peak of a step, from what was planned on</h2>
{peak_table(trained.items)}
<h2>Programs for TensorFlow</h2>
<p class="soft">Peak is over what importing costs; growth is over the last three quarters of the
run.</p>
{gallery_table(gallery)}
<footer><p>{html.escape(platform.node())}, Python {platform.python_version()}, {now}.</p></footer>
</body></html>
"""
