"""Turns measurements into rows with a verdict, a table for a terminal, and JSON."""

from __future__ import annotations

import datetime
import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from case import Case, Row
from runner import Measured

OK, MISSED, NO_FIGURE, INFO = "ok", "MISSED", "no figure", ""


@dataclass(frozen=True)
class Verdict:
    case: str
    what: str
    value: float | None
    peer: float | None
    peer_name: str
    ratio: float | None
    bar: str
    unit: str
    state: str
    why: str = ""


def judge(case_name: str, case: Case, measured: Measured) -> list[Verdict]:
    return [judge_row(case_name, row, measured) for row in case.rows]


def judge_row(case_name: str, row: Row, measured: Measured) -> Verdict:
    value = measured.values.get(row.value)
    present = {
        peer: measured.values[peer] * row.peer_scale
        for peer in row.peers
        if peer in measured.values
    }
    best_peer = min(present, key=present.get) if present else ""
    peer = present.get(best_peer)
    ratio = value / peer if value is not None and peer else None
    if row.at_most_ratio is not None:
        bar, reached = (
            f"<= {row.at_most_ratio:g} x",
            None if ratio is None else ratio <= row.at_most_ratio,
        )
    elif row.at_most is not None:
        bar, reached = (
            f"<= {figure(row.at_most, row.unit)}",
            None if value is None else value <= row.at_most,
        )
    else:
        bar, reached = "", None
    states = {None: NO_FIGURE if bar else INFO, True: OK, False: MISSED}
    return Verdict(
        case=case_name,
        what=row.what,
        value=value,
        peer=peer,
        peer_name=row.peer_label or (best_peer or "".join(row.peers[:1])).split(".")[0],
        ratio=ratio,
        bar=bar,
        unit=row.unit,
        state=states[reached],
        why=reasons(row, measured) if states[reached] == NO_FIGURE else "",
    )


def reasons(row: Row, measured: Measured) -> str:
    subjects = dict.fromkeys(name.split(".")[0] for name in (row.value, *row.peers))
    failures = [f"{s}: {measured.failures[s]}" for s in subjects if s in measured.failures]
    return "; ".join(failures) or "the subject did not report it"


def figure(value: float | None, unit: str) -> str:
    """Three or four significant digits, times in the unit that suits their size."""
    if value is None:
        return "-"
    if unit == "ns":
        for limit, scale, name in (
            (1e3, 1, "ns"),
            (1e6, 1e3, "us"),
            (1e9, 1e6, "ms"),
            (1e99, 1e9, "s"),
        ):
            if value < limit:
                return (
                    f"{value / scale:.3g} {name}"
                    if value / scale < 100
                    else f"{value / scale:.0f} {name}"
                )
    text = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return f"{text} {unit}".strip()


def table(verdicts: list[Verdict]) -> str:
    lines = [("what", "tidemark", "against", "ratio", "bar", "")]
    for v in verdicts:
        against = f"{v.peer_name} {figure(v.peer, v.unit)}" if v.peer_name else ""
        ratio = f"{v.ratio:.3g}" if v.ratio is not None else ""
        lines.append((v.what, figure(v.value, v.unit), against, ratio, v.bar, v.state))
    widths = [max(len(line[i]) for line in lines) for i in range(6)]
    right = {1, 3}
    text = []
    for line in lines:
        cells = [
            c.rjust(w) if i in right else c.ljust(w)
            for i, (c, w) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
    text.insert(1, "-" * len("  ".join("-" * w for w in widths)))
    missing = dict.fromkeys(v.why for v in verdicts if v.why)
    return "\n".join([*text, *(f"no figure: {why}" for why in missing)])


def machine() -> dict[str, str]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"cpu": model, "system": platform.platform(), "python": platform.python_version()}


def save(folder: Path, verdicts: list[Verdict], raw: dict[str, Measured]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.datetime.now(datetime.timezone.utc)
    path = folder / f"{now:%Y%m%d-%H%M%S}.json"
    document = {
        "date": now.isoformat(timespec="seconds"),
        "machine": machine(),
        "rows": [asdict(v) for v in verdicts],
        "measurements": {name: m.values for name, m in raw.items()},
        "failures": {name: m.failures for name, m in raw.items() if m.failures},
    }
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path
