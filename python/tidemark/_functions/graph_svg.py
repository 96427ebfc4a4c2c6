"""Draws a graph: boxes in layers, what is fused as boxes within a box, lines as tooltips."""

from __future__ import annotations

import html
from typing import NamedTuple

from tidemark import _tidemark
from tidemark._functions import layout

_PAD = 8.0
_TITLE, _SMALL = 12.0, 10.0  # sizes of letters
_LETTER, _BOLD = 0.58, 0.65  # a letter's mean width, as a part of its size
_MEMBER_GAP = 16.0
_MOST_MEMBERS = 60  # more of them are named and counted, not drawn
_WIDEST = 34  # letters of a line

_STYLE = """
  text { font-family: Helvetica, Arial, sans-serif; fill: #1b2733; }
  .small { font-size: 10px; fill: #5b6b7a; }
  .title { font-size: 12px; font-weight: 600; }
  .member text { font-size: 10px; }
  rect { stroke: #8a99a8; stroke-width: 1; fill: #ffffff; }
  .op > rect { fill: #f4f7fa; }
  .heavy > rect { fill: #fff1dd; stroke: #d9902f; }
  .fused > rect { fill: #e9f6ec; stroke: #3f9b58; }
  .variable > rect { fill: #e8f0fe; stroke: #4a7bd0; }
  .input > rect { fill: #eeeaf8; stroke: #7a62c0; }
  .effect > rect { fill: #fdeaea; stroke: #c85050; }
  .result > rect { fill: #1b2733; stroke: #1b2733; }
  .result > text { fill: #ffffff; }
  .nested > rect { fill: #ffffff; stroke-dasharray: 4 3; }
  .member > rect { fill: #ffffff; stroke: #9cccaa; }
  .member.kept > rect { stroke: #3f9b58; stroke-width: 2; }
  .edge { fill: none; stroke: #9aa7b3; stroke-width: 1.2; }
  .order { stroke-dasharray: 3 3; }
  .node:hover > rect { stroke-width: 2.5; }
"""


class _Box(NamedTuple):
    """``svg`` is drawn with its middle at the origin."""

    width: float
    height: float
    svg: str


def svg_of(graph):
    """The whole picture as text."""
    box = _graph_box(graph, with_results=True)
    width, height = box.width + 4 * _PAD, box.height + 4 * _PAD
    title = html.escape(f"graph of {graph.name}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{title}">\n'
        f"<style>{_STYLE}</style>\n"
        '<defs><marker id="tidemark-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#9aa7b3"/></marker></defs>\n'
        f'<rect width="{width:.0f}" height="{height:.0f}" style="stroke: none"/>\n'
        f'<g transform="translate({width / 2:.1f} {height / 2:.1f})">\n{box.svg}\n</g>\n</svg>\n'
    )


def _graph_box(graph, with_results):
    boxes = [_node_box(at, node) for at, node in enumerate(graph.nodes)]
    edges, styles = graph.edges(), {}
    data = {(i.node, at) for at, node in enumerate(graph.nodes) for i in node.inputs}
    for edge in edges:
        styles[edge] = "edge" if edge in data else "edge order"
    if with_results:
        for number, result in enumerate(graph.results):
            edge = (result.node, len(boxes))
            constant = "" if result.node >= 0 else result.text
            label = "result" if len(graph.results) == 1 else f"result {number}"
            boxes.append(_text_box("node result", [label, constant], label))
            if result.node >= 0:
                edges.append(edge)
                styles[edge] = "edge"
    return _placed(boxes, edges, [styles[edge] for edge in edges])


def _placed(boxes, edges, styles, gap=layout.GAP_Y):
    """One box that shows boxes and the lines between them."""
    placed = layout.place([(box.width, box.height) for box in boxes], edges, gap)
    parts = []
    for (i, j), route, style in zip(edges, placed.routes, styles, strict=True):
        (x, y), (to_x, to_y) = placed.at[i], placed.at[j]
        points = [(x, y + boxes[i].height / 2), *route, (to_x, to_y - boxes[j].height / 2)]
        parts.append(_line(points, style))
    for box, (x, y) in zip(boxes, placed.at, strict=True):
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{box.svg}</g>')
    moved = f"translate({-placed.width / 2:.1f} {-placed.height / 2:.1f})"
    inside = "\n".join(parts)
    return _Box(placed.width, placed.height, f'<g transform="{moved}">\n{inside}\n</g>')


def _line(points, style):
    """A curve that passes its points straight down."""
    (x, y), rest = points[0], points[1:]
    path = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        if to_y - y < 0.5:  # no way at all, which would turn the arrow's head
            continue
        middle = (y + to_y) / 2
        if abs(to_x - x) < 0.5:
            path.append(f"V{to_y:.1f}")
        else:
            path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
            x = to_x
        y = to_y
    return f'<path class="{style}" d="{"".join(path)}" marker-end="url(#tidemark-arrow)"/>'


def _node_box(number, node):
    made = [f"{dtype} {shape}" for dtype, shape in node.outputs[:4]]
    if len(node.outputs) > 4:
        made.append(f"… and {len(node.outputs) - 4} more")
    title, more = node.kind, [node.detail]
    if node.kind == "placeholder":
        title = "input"
    elif node.kind == "read_variable":
        title, more = node.detail or "variable", []
    tip = "\n".join(part for part in (node.text(number), node.line) if part)
    inner = [_program_box(program) for program in node.programs]
    inner += [_body_box(role, body) for role, body in node.bodies]
    return _text_box(f"node {_style_of(node)}", [title, *more, *made], tip, inner)


def _style_of(node):
    if node.programs:
        return "fused"
    if node.kind == "placeholder":
        return "input"
    if node.kind in ("read_variable", "constant"):
        return "variable"
    if node.has_effect:
        return "effect"
    op = _tidemark.op_schema(node.kind.partition("+")[0])  # "matmul+fused" does what matmul does
    return "heavy" if op is not None and op["heavy"] else "op"


def _program_box(program):
    times = f"for each of {program.times}" if program.times > 1 else ""
    if len(program.members) > _MOST_MEMBERS:
        counts = {}
        for member in program.members:
            counts[member.op] = counts.get(member.op, 0) + 1
        lines = [f"{op} ×{count}" if count > 1 else op for op, count in counts.items()]
        return _text_box("node nested", [times or f"{len(program.members)} ops", *lines], "")
    boxes = [_member_box(member) for member in program.members]
    edges = list(
        dict.fromkeys((arg, at) for at, member in enumerate(program.members) for arg in member.args)
    )
    placed = _placed(boxes, edges, ["edge"] * len(edges), _MEMBER_GAP)
    return _text_box("node nested", [times], "", [placed]) if times else placed


def _member_box(member):
    style = "member kept" if member.is_result else "member"
    width = max(30.0, len(member.op) * _SMALL * _LETTER + 10)
    text = html.escape(member.op)
    return _Box(
        width,
        16.0,
        f'<g class="{style}"><rect x="{-width / 2:.1f}" y="-8" width="{width:.1f}" height="16" '
        f'rx="3"/><text text-anchor="middle" y="3.5">{text}</text></g>',
    )


def _body_box(role, body):
    return _text_box("node nested", [role], role, [_graph_box(body, with_results=True)])


def _shortened(text):
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _text_box(style, lines, tip, inner=()):
    """A title, lines of small text, and boxes side by side below them."""
    lines = [_shortened(line) for line in lines if line]
    letters = [_TITLE if at == 0 else _SMALL for at in range(len(lines))]
    widths = [len(line) * _SMALL * _LETTER for line in lines]
    if lines:
        widths[0] = len(lines[0]) * _TITLE * _BOLD
    width = max(widths, default=0.0)
    height = sum(size + 4 for size in letters)
    inside = sum(box.width for box in inner) + _PAD * max(0, len(inner) - 1)
    tallest = max((box.height for box in inner), default=0.0)
    width = max(width, inside) + 2 * _PAD
    height += tallest + 2 * _PAD * (0.6 if not inner else 1.0) + (4 if inner else 0)
    title = f"<title>{html.escape(tip)}</title>" if tip else ""
    parts = [
        f'<g class="{style}">{title}<rect x="{-width / 2:.1f}" y="{-height / 2:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" rx="5"/>'
    ]
    y = -height / 2 + _PAD * (0.6 if not inner else 0.8)
    for at, (line, size) in enumerate(zip(lines, letters, strict=True)):
        y += size + (1 if at == 0 else 4)
        kind = "title" if at == 0 else "small"
        text = html.escape(line)
        parts.append(f'<text class="{kind}" text-anchor="middle" y="{y:.1f}">{text}</text>')
    x = -inside / 2
    for box in inner:
        middle = height / 2 - _PAD - tallest + box.height / 2
        parts.append(f'<g transform="translate({x + box.width / 2:.1f} {middle:.1f})">')
        parts.append(f"{box.svg}</g>")
        x += box.width + _PAD
    parts.append("</g>")
    return _Box(width, height, "".join(parts))
