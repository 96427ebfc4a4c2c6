"""The map of an arena: which buffer lies where, and when."""

from __future__ import annotations

from html import escape

from tidemark._explain.source import bytes_text

_WIDTH, _HEIGHT = 1000, 240
_COLOURS = ("#4e79a7", "#f0a352", "#6aa56e", "#c86b6d", "#8d7bb5", "#5fa8a3", "#b98c66", "#c98bb0")


def drawing(plan):
    """An SVG of a plan: {"peak": bytes, "buffers": [[name, first, last, bytes, offset], …]}."""
    top = max(plan["peak"], 1)
    times = sorted({t for buffer in plan["buffers"] for t in buffer[1:3]}) or [0, 1]
    at = {t: i * _WIDTH / max(1, len(times) - 1) for i, t in enumerate(times)}
    parts = []
    for number, (name, first, last, size, offset) in enumerate(plan["buffers"][:4000]):
        height = size * _HEIGHT / top
        y = _HEIGHT - offset * _HEIGHT / top - height
        parts.append(
            f'<rect fill="{_COLOURS[number % len(_COLOURS)]}" x="{at[first]:.1f}" y="{y:.1f}" '
            f'width="{max(1, at[last] - at[first]):.1f}" height="{max(0.5, height):.1f}">'
            f"<title>{escape(str(name))}: {bytes_text(size)} at {offset:,}</title></rect>"
        )
    label = f"{len(plan['buffers'])} buffers in {bytes_text(plan['peak'])}"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )
