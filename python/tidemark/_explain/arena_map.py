"""The map of an arena: which buffer lies where, and when."""

from __future__ import annotations

from html import escape

from tidemark._explain.source import bytes_text

_WIDTH, _HEIGHT, _LEFT, _BELOW = 1000, 260, 74, 22
_COLOURS = 8
_MOST_DRAWN = 1200  # rectangles of one map; smaller buffers are told in the caption
_MOST_LISTED = 12
_MOST_MAPS = 12


def maps(plans):
    """Figures of the largest plans, and what there is of others."""
    largest = _without_repeats(plans)
    figures = [_figure(plan, times) for plan, times in largest[:_MOST_MAPS]]
    if len(largest) > _MOST_MAPS:
        figures.append(f"<p class=faint>… and {len(largest) - _MOST_MAPS} smaller plans.</p>")
    return "".join(figures)


def _without_repeats(plans):
    """(plan, how often it was made), the largest first: the same plan is made for other traces."""
    seen = {}
    for plan in plans:
        key = (plan["name"], plan["place"], plan["arena"], plan["peak"], len(plan["buffers"]))
        seen.setdefault(key, [plan, 0])[1] += 1
    return sorted(seen.values(), key=lambda item: -item[0]["peak"])


def _figure(plan, times):
    """One plan: steps to the right, offsets up, a rectangle a buffer."""
    inside = [b for b in plan["buffers"] if b[2] in ("arena", "workspace")]
    above = plan["arena"] - _highest_load(inside)
    gap = f", {bytes_text(above)} above the most alive at once" if inside and above > 0 else ""
    often = f", made {times} times" if times > 1 else ""
    caption = (
        f"<b>{escape(plan['name'])}</b>, called at {escape(plan['place'])}{often}: arena "
        f"{bytes_text(plan['arena'])}{gap}; results {bytes_text(plan['results'])}; together at "
        f"most {bytes_text(plan['peak'])}"
    )
    return (
        f"<figure class=card><figcaption>{caption}</figcaption>{drawing(plan, inside)}"
        f"{_largest(plan)}</figure>"
    )


def _highest_load(buffers):
    changes = {}
    for _, _, _, size, _, first, last in buffers:
        changes[first] = changes.get(first, 0) + size
        changes[last + 1] = changes.get(last + 1, 0) - size
    load = highest = 0
    for step in sorted(changes):
        load += changes[step]
        highest = max(highest, load)
    return highest


def drawing(plan, inside):
    """An SVG; a rectangle's title says what it is."""
    if not inside:
        return "<p class=faint>Nothing lies in the arena: results have buffers of their own.</p>"
    top = max(plan["arena"], 1)
    begin, end = min(b[5] for b in inside), max(b[6] for b in inside) + 1
    shown = sorted(inside, key=lambda b: -b[3])[:_MOST_DRAWN]

    def x(step):
        return _LEFT + (step - begin) * (_WIDTH - _LEFT) / max(1, end - begin)

    parts = []
    for number, (op, place, kind, size, offset, first, last) in enumerate(shown):
        height = size * _HEIGHT / top
        what = f"workspace of {op}" if kind == "workspace" else op
        title = f"{what} at {place}: {bytes_text(size)} at {offset:,}, steps {first} to {last}"
        parts.append(
            f'<rect class="c{number % _COLOURS}" x="{x(first):.1f}" '
            f'y="{_HEIGHT - offset * _HEIGHT / top - height:.1f}" '
            f'width="{x(last + 1) - x(first):.1f}" height="{max(0.5, height):.1f}">'
            f"<title>{escape(title)}</title></rect>"
        )
    for part in (0, 0.5, 1):
        y = _HEIGHT * (1 - part) + (12 if part == 1 else 0 if part == 0 else 4)
        parts.append(f'<text x="{_LEFT - 8}" y="{y:.0f}" text-anchor="end">'
                     f"{bytes_text(top * part)}</text>")  # fmt: skip
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT + 17}">step {begin}</text>'
                 f'<text x="{_WIDTH}" y="{_HEIGHT + 17}" text-anchor="end">step {end - 1}</text>'
                 )  # fmt: skip
    label = f"{len(inside)} buffers in an arena of {bytes_text(plan['arena'])}, by step and offset"
    return (
        f'<svg class=arena viewBox="0 0 {_WIDTH} {_HEIGHT + _BELOW}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _largest(plan):
    """The same in words, for those who do not see the picture."""
    rows = "".join(
        f"<tr><td class=number>{bytes_text(size)}<td>{escape(op)}<td>{kind}<td>{escape(place)}"
        f"<td class=number>{first}–{last}"
        for op, place, kind, size, _, first, last in plan["buffers"][:_MOST_LISTED]
    )
    count = len(plan["buffers"])
    return (
        f"<details><summary>The largest of its {count:,} buffers</summary><table><thead><tr>"
        "<th scope=col class=number>bytes<th scope=col>op<th scope=col>kind<th scope=col>line"
        f"<th scope=col class=number>steps</thead><tbody>{rows}</tbody></table></details>"
    )
