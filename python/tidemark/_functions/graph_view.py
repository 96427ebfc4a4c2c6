"""A function's graph to look at: as text, in Graphviz's language, as a picture."""

from __future__ import annotations

from typing import NamedTuple

from tidemark._functions.graph_svg import svg_of


class GraphInput(NamedTuple):
    """Output ``output`` of node ``node``; -1: the constant that ``text`` shows."""

    node: int
    output: int
    text: str


class GraphMember(NamedTuple):
    """An op inside of a fused group; ``args``: other members it reads."""

    op: str
    args: list
    is_result: bool


class GraphProgram(NamedTuple):
    """What a fused group computes; a sweep does so for ``times`` variables and their moments."""

    times: int
    members: list


class GraphNode(NamedTuple):
    """A step: an op, a fused group, a variable read or changed, a branch, a loop."""

    kind: str
    detail: str
    outputs: list  # (dtype, shape)
    inputs: list
    before: list
    attributes: str
    line: str
    has_effect: bool
    programs: list
    bodies: list  # (role, GraphView)

    @property
    def title(self):
        return f"{self.kind} {self.detail}".strip()

    def text(self, number):
        """One line: what it does with what, and what comes of it."""
        given = ", ".join(i.text if i.node < 0 else f"%{i.node}" for i in self.inputs)
        made = ", ".join(f"{dtype} {shape}" for dtype, shape in self.outputs)
        attributes = f" [{self.attributes}]" if self.attributes else ""
        return f"%{number} = {self.title}({given}){attributes}" + (f" : {made}" if made else "")


class GraphView:
    """Made by ``f.graph(*args)``. Notebooks show the picture."""

    def __init__(self, name, outline):
        nodes, results = outline
        self.name = name
        self.nodes = [_node(**node) for node in nodes]
        self.results = [GraphInput(*result) for result in results]

    def edges(self):
        """(from, to) of all that must run after another, each once."""
        found = {}
        for at, node in enumerate(self.nodes):
            for before in [*(i.node for i in node.inputs if i.node >= 0), *node.before]:
                found[before, at] = None
        return list(found)

    def to_dot(self):
        """The graph in Graphviz's language: ``dot -Tsvg``. Fused groups are clusters."""
        lines = [f"digraph {_quoted(self.name)} {{", "  rankdir=TB; compound=true;"]
        lines.append("  node [shape=box, fontname=Helvetica, fontsize=10];")
        _dot(self, "n", "  ", lines)
        return "\n".join([*lines, "}", ""])

    def to_svg(self):
        """The graph as a picture that needs nothing else; pointing at a box tells its line."""
        return svg_of(self)

    def _repr_svg_(self):
        return self.to_svg()

    def __str__(self):
        lines = [f"graph {self.name}"]
        for at, node in enumerate(self.nodes):
            line = f"  {node.text(at)}"
            lines.append(f"{line}    {node.line}" if node.line else line)
        returned = ", ".join(r.text if r.node < 0 else f"%{r.node}" for r in self.results)
        return "\n".join([*lines, f"  return {returned}"])

    def __repr__(self):
        return f"<graph of {self.name}: {len(self.nodes)} nodes>"


def _node(kind, detail, outputs, inputs, before, attributes, line, has_effect, programs, bodies):
    return GraphNode(
        kind,
        detail,
        outputs,
        [GraphInput(*i) for i in inputs],
        before,
        attributes,
        line,
        has_effect,
        [GraphProgram(times, [GraphMember(*m) for m in members]) for times, members in programs],
        [(role, GraphView(role, outline)) for role, outline in bodies],
    )


def _quoted(text):
    """A quoted name of Graphviz's; a new line ends a line of the label."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _dot(graph, prefix, indent, lines):
    """Writes nodes and edges; nodes with something inside of them are clusters."""
    for at, node in enumerate(graph.nodes):
        name = f"{prefix}{at}"
        made = "\n".join(f"{dtype} {shape}" for dtype, shape in node.outputs)
        label = _quoted("\n".join(part for part in (node.title, made) if part))
        tip = f"tooltip={_quoted(node.line or node.kind)}"
        if not node.programs and not node.bodies:
            lines.append(f"{indent}{name} [label={label}, {tip}];")
            continue
        lines.append(f"{indent}subgraph cluster_{name} {{")
        lines.append(f"{indent}  label={label}; {tip}; style=rounded;")
        # Edges of the cluster end at this point inside of it.
        lines.append(f'{indent}  {name} [shape=point, label=""];')
        for number, program in enumerate(node.programs):
            _dot_program(program, f"{name}p{number}_", indent + "  ", lines)
        for number, (role, body) in enumerate(node.bodies):
            inner = f"{name}b{number}_"
            lines.append(f"{indent}  subgraph cluster_{inner} {{ label={_quoted(role)};")
            _dot(body, inner, indent + "    ", lines)
            lines.append(f"{indent}  }}")
        lines.append(f"{indent}}}")
    for i, j in graph.edges():
        lines.append(f"{indent}{prefix}{i} -> {prefix}{j};")


def _dot_program(program, prefix, indent, lines):
    times = f" ×{program.times}" if program.times > 1 else ""
    for at, member in enumerate(program.members):
        lines.append(f"{indent}{prefix}{at} [label={_quoted(member.op + times)}];")
        lines.extend(
            f"{indent}{prefix}{arg} -> {prefix}{at};" for arg in dict.fromkeys(member.args)
        )
