"""Draws docs/images/compare.svg from a result file of ./dev bench.

python tools/bench_picture.py bench/results/<file>.json docs/images/compare.svg
"""

import json
import sys
from pathlib import Path

NAMES = {"tf": "TensorFlow", "torch": "PyTorch", "jax": "JAX", "numpy": "NumPy"}
OURS, THEIRS, INK, PAPER = "#0b7285", "#adb5bd", "#212529", "#ffffff"
PANELS = [  # title, rows of the table that hold a peer each
    ("import: memory over NumPy", "import_cost", "import, memory"),
    ("import: time over NumPy", "import_cost", "import, time"),
    ("a + b, two floats, from Python", "add_small", "a + b from Python"),
    ("tanh of 16 M floats", "math_ops", "tanh 16 M"),
    ("100 M normal random numbers", "random_normal", "normal, 100 M"),
]
WIDTH, LABEL, BAR_SPACE, ROW, GAP = 720, 110, 470, 22, 46


def readable(value: float, unit: str) -> str:
    if unit != "ns":
        return f"{value:.3g} {unit}"
    for limit, divisor, name in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / divisor:.3g} {name}"
    return f"{value / 1e9:.3g} s"


def bars_of(rows: list[dict], case: str, what: str) -> tuple[list[tuple[str, float]], str]:
    """Tidemark's figure and the peers' that stand in this row and in the "of" rows under it."""
    start = next(i for i, r in enumerate(rows) if r["case"] == case and r["what"] == what)
    bars, unit = [("Tidemark", rows[start]["value"])], rows[start]["unit"]
    for i, row in enumerate(rows[start:]):
        if i > 0 and not row["what"].startswith("  of "):
            break
        if row["peer"] is not None:
            bars.append((NAMES.get(row["peer_name"], row["peer_name"]), row["peer"]))
    return bars, unit


def panel(title: str, bars: list[tuple[str, float]], unit: str, top: int) -> list[str]:
    longest = max(value for _, value in bars)
    lines = [f'<text x="0" y="{top}" font-weight="600">{title}</text>']
    for i, (name, value) in enumerate(bars):
        y = top + 10 + i * ROW
        width = max(2.0, BAR_SPACE * value / longest)
        color = OURS if name == "Tidemark" else THEIRS
        lines += [
            f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{name}</text>',
            f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{ROW - 6}" rx="2" '
            f'fill="{color}"/>',
            f'<text x="{LABEL + width + 6:.1f}" y="{y + 13}">{readable(value, unit)}</text>',
        ]
    return lines


def picture(result: dict) -> str:
    lines, top = [], 34
    for title, case, what in PANELS:
        bars, unit = bars_of(result["rows"], case, what)
        lines += panel(title, bars, unit, top)
        top += GAP + len(bars) * ROW
    height = top - 8
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="13" fill="{INK}">'
        f'<rect x="-16" width="{WIDTH}" height="{height}" fill="{PAPER}"/>'
    )
    return "\n".join([head, *lines, "</svg>", ""])


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    result = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(picture(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
