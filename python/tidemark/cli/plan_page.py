"""A plan as one HTML page: time to the right, offsets up, a rectangle a buffer.

The picture is plain SVG and needs no script; a short one shows numbers under the pointer and zooms.
"""

from __future__ import annotations

from html import escape

WIDTH, HEIGHT = 1600, 800  # of the drawing, in its own units
COLOURS = 8


def page(title: str, plan: dict, notes: dict[str, str] | None = None) -> str:
    """``plan`` as ``pack_buffers`` gives it; ``notes`` adds a line to what a buffer's id shows."""
    buffers = [b for b in plan["buffers"] if b[3] > 0]
    axis = _TimeAxis(buffers)
    gap = plan["peak"] / plan["lower_bound"] - 1 if plan["lower_bound"] else 0.0
    facts = [
        ("peak", f"{bytes_in_words(plan['peak'])} · {plan['peak']:,}"),
        ("lower bound", f"{bytes_in_words(plan['lower_bound'])} · {plan['lower_bound']:,}"),
        ("gap", f"{gap:.2%}"),
        ("buffers", f"{len(plan['buffers']):,}"),
    ]
    return _PAGE.format(
        style=STYLE,
        title=escape(title),
        facts="".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in facts),
        edge=1 if len(buffers) < 1000 else 0.3,
        spacing="Only the times at which a buffer comes or goes are drawn. " if axis.even else "",
        drawing=_drawing(buffers, plan, axis, notes or {}),
    )


class _TimeAxis:
    """Positions of times. Where few of a long range's times matter, they stand evenly."""

    def __init__(self, buffers):
        self.times = sorted({t for b in buffers for t in b[1:3]}) or [0, 1]
        span = self.times[-1] - self.times[0]
        self.even = span > 4 * len(self.times)
        if self.even:
            step = WIDTH / max(1, len(self.times) - 1)
            self._position = {t: i * step for i, t in enumerate(self.times)}
        else:
            self._position = {t: (t - self.times[0]) * WIDTH / span for t in self.times}

    def __call__(self, time) -> float:
        return self._position[time]

    def ticks(self, count=10):
        every = max(1, len(self.times) // count)
        return [(t, self(t)) for t in self.times[::every]]


def _drawing(buffers, plan, axis, notes) -> str:
    top = max(plan["peak"], 1)

    def height(value):
        return value * HEIGHT / top

    parts = []
    for number, buffer in enumerate(buffers):
        name, lower, upper, size, offset = buffer
        x, w, h = axis(lower), axis(upper) - axis(lower), height(size)
        y = HEIGHT - height(offset) - h
        lines = [
            name,
            *notes.get(name, "").splitlines(),
            f"{bytes_in_words(size)} at {offset:,} … {offset + size:,}",
            f"alive in [{lower:,}, {upper:,})",
        ]
        parts.append(
            f'<rect class="c{number % COLOURS}" x="{x:.2f}" y="{y:.2f}" width="{w:.2f}" '
            f'height="{h:.2f}"><title>{escape(chr(10).join(lines))}</title></rect>'
        )
    parts.append(f'<path class="load" d="{_load_line(buffers, axis, height)}"/>')
    bound = HEIGHT - height(plan["lower_bound"])
    parts.append(f'<line class="bound" x1="0" x2="{WIDTH}" y1="{bound:.2f}" y2="{bound:.2f}"/>')
    for time, x in axis.ticks():
        parts.append(f'<text class="time" x="{x:.1f}" y="{HEIGHT + 22}">{time:,}</text>')
    for i in range(5):
        value = top * i // 4
        y = HEIGHT - height(value) + 4
        parts.append(f'<text class="bytes" x="-8" y="{y:.1f}">{bytes_in_words(value)}</text>')
    return "".join(parts)


def _load_line(buffers, axis, height) -> str:
    """The bytes alive over time, as steps."""
    changes: dict[int, int] = {}
    for _, lower, upper, size, _ in buffers:
        changes[lower] = changes.get(lower, 0) + size
        changes[upper] = changes.get(upper, 0) - size
    path, load = [f"M0 {HEIGHT}"], 0
    for time in sorted(changes):
        load += changes[time]
        path.append(f"H{axis(time):.2f}V{HEIGHT - height(load):.2f}")
    return "".join(path)


def bytes_in_words(count: int) -> str:
    size, units = float(count), iter(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = next(units)
    while size >= 1024 and unit != "EiB":
        size, unit = size / 1024, next(units)
    return f"{count} B" if unit == "B" else f"{size:.4g} {unit}"


# What pages of plans share.
STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --faint: #67717f; --paper: #fbfaf7; --card: #fff;
  --edge: #fbfaf7; --line: #d8d5cc; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e6e1; --faint: #98a1ad; --paper: #14181f; --card: #1d232c; --edge: #14181f;
    --line: #333b46; }
}
body { margin: 0; padding: 1.5rem 2rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.2rem; margin: 0 0 .8rem; overflow-wrap: anywhere; }
dl { display: flex; flex-wrap: wrap; gap: .6rem 2.4rem; margin: 0 0 1rem; }
dt { color: var(--faint); font-size: .8rem; }
dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 6px; background: var(--card); }
svg { display: block; width: 100%; height: auto; max-height: 78vh; }
text { fill: var(--faint); font-size: 15px; }
figcaption { padding: .5rem .9rem .7rem; color: var(--faint); font-size: .85rem; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Plan of {title}</title>
<style>
{style}rect {{ stroke: var(--edge); stroke-width: {edge}; vector-effect: non-scaling-stroke; }}
rect:hover, rect.held {{ stroke: var(--ink); stroke-width: 2; }}
.c0 {{ fill: #4e79a7 }} .c1 {{ fill: #f0a352 }} .c2 {{ fill: #6aa56e }} .c3 {{ fill: #c86b6d }}
.c4 {{ fill: #8d7bb5 }} .c5 {{ fill: #5fa8a3 }} .c6 {{ fill: #b98c66 }} .c7 {{ fill: #c98bb0 }}
.load {{ fill: none; stroke: var(--ink); stroke-width: 1.6; vector-effect: non-scaling-stroke;
  pointer-events: none; opacity: .75; }}
.bound {{ stroke: #d22; stroke-width: 1.6; stroke-dasharray: 7 5; pointer-events: none;
  vector-effect: non-scaling-stroke; }}
.bytes {{ text-anchor: end; }} .time {{ text-anchor: middle; }}
#tip {{ position: fixed; pointer-events: none; white-space: pre; display: none; max-width: 40rem;
  padding: .4rem .65rem; border-radius: 5px; background: var(--ink); color: var(--paper);
  font-size: .82rem; overflow: hidden; text-overflow: ellipsis; }}
</style>
</head>
<body>
<h1>Plan of {title}</h1>
<dl>{facts}</dl>
<figure>
<svg viewBox="-110 -10 1740 845" role="img" aria-label="Buffers by time and offset">{drawing}</svg>
<figcaption>Time runs to the right, offsets go up; a rectangle is a buffer. {spacing}The line is
what is alive at a time, the dashed one the most of it: no packing can be lower. The wheel zooms,
dragging moves, a double click shows all.</figcaption>
</figure>
<div id="tip"></div>
<script>
const svg = document.querySelector("svg"), tip = document.getElementById("tip");
const whole = svg.getAttribute("viewBox").split(" ").map(Number);
let view = [...whole], drag = null;
const show = () => svg.setAttribute("viewBox", view.join(" "));
const at = e => {{
  const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [p.x, p.y];
}};
for (const title of svg.querySelectorAll("title")) {{  // the script's own box is quicker
  title.parentNode.dataset.text = title.textContent;
  title.remove();
}}
svg.addEventListener("pointermove", e => {{
  if (drag) {{
    const p = at(e);
    view[0] += drag[0] - p[0]; view[1] += drag[1] - p[1];
    show();
  }}
  const text = e.target.dataset.text;
  tip.style.display = text && !drag ? "block" : "none";
  tip.textContent = text || "";
  const left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = e.clientY + 18 + tip.offsetHeight < innerHeight;
  tip.style.left = left + "px";
  tip.style.top = (below ? e.clientY + 18 : e.clientY - tip.offsetHeight - 10) + "px";
}});
svg.addEventListener("pointerleave", () => tip.style.display = "none");
svg.addEventListener("pointerdown", e => {{ drag = at(e); svg.setPointerCapture(e.pointerId); }});
svg.addEventListener("pointerup", () => drag = null);
svg.addEventListener("dblclick", () => {{ view = [...whole]; show(); }});
svg.addEventListener("wheel", e => {{
  e.preventDefault();
  const [x, y] = at(e), by = Math.min(Math.exp(e.deltaY / 500), whole[2] / view[2]);
  view = [x + (view[0] - x) * by, y + (view[1] - y) * by, view[2] * by, view[3] * by];
  show();
}}, {{ passive: false }});
</script>
</body>
</html>
"""
