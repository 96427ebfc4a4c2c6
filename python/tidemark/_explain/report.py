"""``tf.memory.report()``: text for a terminal, a page part for a notebook, JSON for programs."""

from __future__ import annotations

import json
import textwrap
from html import escape

from tidemark import _tidemark
from tidemark._explain.source import bytes_text

WIDTH = 80
_ROWS = 12


class Report(str):
    """The text; ``to_json()`` and a notebook's rich display tell the same."""

    __slots__ = ("_values",)

    def __new__(cls, values):
        self = super().__new__(cls, _text(values))
        self._values = values
        return self

    def to_dict(self):
        """The numbers: stats, holders, places, caches."""
        return self._values

    def to_json(self, **options):
        """The same as JSON text."""
        return json.dumps(self._values, **options)

    def _repr_html_(self):
        return _html(self._values)


def report():
    """A Report of this moment."""
    from tidemark._explain import holders  # loaded on first use

    found = holders.holders()
    stats = dict(_tidemark.stats())
    places = {}
    for place, op, kind, size, count, _ in _tidemark.live_groups():
        row = places.setdefault(place, {"place": place, "op": op, "kind": kind, "bytes": 0,
                                        "count": 0})  # fmt: skip
        row["bytes"] += size
        row["count"] += count
    at_peak = {}
    for use in _tidemark.places():
        at_peak[use["place"]] = at_peak.get(use["place"], 0) + use["bytes_at_process_peak"]
    rows = sorted(places.values(), key=lambda row: -row["bytes"])
    for row in rows:
        row["bytes_at_peak"] = at_peak.get(row["place"], 0)
    return Report({
        "stats": stats,
        "holders": [holder.to_json() for holder in found[:200]],
        "places": rows[:200],
        "num_places": len(rows),
        "native": _tidemark.report(),
    })  # fmt: skip


def _heading(stats):
    s = {name: bytes_text(value) for name, value in stats.items()}
    lines = [
        f"memory  live {s['live']} + planned {s['planned']} + retained {s['retained']}",
        f"        + not ours {s['not_ours']} = "
        f"{bytes_text(stats['resident'] + stats['untouched'])}",
        f"        resident {s['resident']}"
        + (f" and {s['untouched']} not touched yet" if stats["untouched"] else "")
        + f", limit {s['limit']}, peak {s['peak']}",
        f"        {s['tensor_bytes']} of tensors in {stats['live_buffers']} buffer"
        + ("" if stats["live_buffers"] == 1 else "s")
        + (f", {s['borrowed']} borrowed" if stats["borrowed"] else ""),
    ]
    return [part for line in lines for part in textwrap.wrap(line, WIDTH, drop_whitespace=False)]


def _cut(text, width):
    return text if len(text) <= width else text[: width - 1] + "…"


def _text(values):
    lines = _heading(values["stats"])
    if values["places"]:
        lines += ["", f"{'place':<36} {'op':<12} {'count':>8}{'bytes':>10}{'at peak':>11}"]
        for row in values["places"][:_ROWS]:
            lines.append(
                f"{_cut(row['place'], 36):<36} {_cut(row['op'], 12):<12} {row['count']:>8}"
                f"{bytes_text(row['bytes']):>10}{bytes_text(row['bytes_at_peak']):>11}"
            )
        if values["num_places"] > _ROWS:
            lines.append(f"… and {values['num_places'] - _ROWS} more places")
    if values["holders"]:
        lines += ["", f"{'bytes':>9}  held by"]
        for holder in values["holders"][:_ROWS]:
            first, *rest = textwrap.wrap(holder["holder"], WIDTH - 11) or [""]
            lines.append(f"{bytes_text(holder['bytes']):>9}  {first}")
            lines += [" " * 11 + line for line in rest]
    lines += ["", *_caches(values["native"])]
    return "\n".join(lines).rstrip() + "\n"


def _caches(native):
    """The table of caches, from the runtime's own report."""
    lines = native.splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith("cache")), None)
    return [] if at is None else [_cut(line, WIDTH) for line in lines[at:] if line.strip()]


def _html(values):
    stats = values["stats"]
    facts = "".join(
        f"<td><small>{name}</small><br><b>{bytes_text(stats[key])}</b></td>"
        for name, key in (("live", "live"), ("planned", "planned"), ("retained", "retained"),
                          ("not ours", "not_ours"), ("resident", "resident"), ("peak", "peak"),
                          ("limit", "limit"))
    )  # fmt: skip
    rows = "".join(
        f"<tr><td style='text-align:right'>{bytes_text(h['bytes'])}</td><td>{h['count']}</td>"
        f"<td style='text-align:left'>{escape(h['holder'])}</td>"
        f"<td style='text-align:left'>{escape(h['places'][0][0] if h['places'] else '')}</td></tr>"
        for h in values["holders"][:30]
    )
    return (
        f"<table><caption>Memory</caption><tr>{facts}</tr></table>"
        "<table><thead><tr><th scope=col>bytes</th><th scope=col>tensors</th>"
        f"<th scope=col>held by</th><th scope=col>made at</th></tr></thead><tbody>{rows}"
        "</tbody></table>"
    )
