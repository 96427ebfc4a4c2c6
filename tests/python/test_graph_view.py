"""f.graph(): what is shown of a function, in which words, and that the pictures are sound."""

import os
import re
import xml.etree.ElementTree as ElementTree

import pytest
import this_device
from flat import assert_flat
from hypothesis import given, settings
from hypothesis import strategies as st
from tidemark._functions import layout

import tidemark as tf
from tidemark import cli

needs_epilogues = pytest.mark.skipif(
    os.environ.get("TIDEMARK_FUSION") == "off" or this_device.IS_GPU,
    reason="shows what is fused with a product, which GPUs run by itself",
)
SVG = "{http://www.w3.org/2000/svg}"


@tf.function
def dense(x, w, b):
    return tf.nn.relu(tf.matmul(x, w) + b) * 2.0


def spec(*shape):
    return tf.TensorSpec(shape, tf.float32)


SPECS = (spec(32, 64), spec(64, 16), spec(16))


@tf.function
def branches_and_loops(x):
    y = tf.square(x) if tf.reduce_sum(x) > 0 else tf.zeros_like(x)
    for _ in tf.range(3):
        y = tf.sin(y)
    return y


# --- Graphviz's language, as far as we write it ---------------------------------------------------

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[{}\[\];,=]|[A-Za-z_0-9.]+)', re.S)


def parse_dot(text):
    """The declared nodes, with their labels, and the edges; fails on anything that is no dot."""
    tokens, at = [], 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        assert found, f"no token: {text[at : at + 30]!r}"
        tokens.append(found[1])
        at = found.end()
    nodes, edges, place = {}, [], 0

    def take(wanted=None):
        nonlocal place
        token = tokens[place]
        assert wanted is None or token == wanted, f"{token!r} where {wanted!r} is due"
        place += 1
        return token

    def attributes():
        found = {}
        take("[")
        while tokens[place] != "]":
            key = take()
            take("=")
            found[key] = take()
            if tokens[place] == ",":
                take()
        take("]")
        return found

    def statements():
        take("{")
        while tokens[place] != "}":
            if tokens[place] == ";":
                take()
                continue
            name = take()
            if name == "subgraph":
                take()
                statements()
            elif tokens[place] == "=":
                take()
                take()
            elif tokens[place] == "->":
                take()
                edges.append((name, take()))
            else:
                assert name not in nodes, f"{name} is declared twice"
                nodes[name] = attributes().get("label")
        take("}")

    take("digraph")
    take()
    statements()
    assert place == len(tokens)
    nodes.pop("node")  # what holds for all
    assert all(end in nodes for edge in edges for end in edge)
    return nodes, edges


@needs_epilogues
def test_dot_is_read_by_its_own_rules():
    nodes, edges = parse_dot(dense.graph(*SPECS).to_dot())
    labels = list(nodes.values())
    assert '"placeholder\\nfloat32 (32, 64)"' in labels
    assert {'"matmul"', '"add"', '"relu"', '"multiply"'} <= set(labels)
    by_label = {label: name for name, label in nodes.items()}
    assert (by_label['"add"'], by_label['"relu"']) in edges


@pytest.mark.parametrize("compiled", [True, False])
def test_dot_and_svg_of_branches_and_loops(compiled):
    graph = branches_and_loops.graph(spec(5, 5), compiled=compiled)
    nodes, _ = parse_dot(graph.to_dot())
    assert any("square" in label for label in nodes.values())
    texts = [t.text for t in ElementTree.fromstring(graph.to_svg()).iter(f"{SVG}text")]
    assert {"cond", "true", "false", "square", "fill", "while", "body", "sin"} <= set(texts)


def test_names_are_escaped_everywhere():
    v = tf.Variable([1.0, 2.0], name='a<b>&"\\c')

    @tf.function
    def f(x):
        return x + v

    graph = f.graph(tf.constant([1.0, 2.0]))
    nodes, _ = parse_dot(graph.to_dot())
    assert any(r"a<b>&\"\\c" in label for label in nodes.values())
    titles = [t.text for t in ElementTree.fromstring(graph.to_svg()).iter(f"{SVG}text")]
    assert 'a<b>&"\\c' in titles


# --- What is shown --------------------------------------------------------------------------------


@needs_epilogues
def test_the_compiled_graph_shows_what_is_fused_and_the_traced_one_does_not():
    graph = dense.graph(*SPECS)
    fused = next(node for node in graph.nodes if node.programs)
    assert [m.op for m in fused.programs[0].members] == ["matmul", "add", "relu", "multiply"]
    assert [m.args for m in fused.programs[0].members] == [[], [0], [1], [2]]
    assert [m.is_result for m in fused.programs[0].members] == [False, False, False, True]
    kinds = [node.kind for node in dense.graph(*SPECS, compiled=False).nodes]
    assert [k for k in kinds if k != "placeholder"] == ["matmul", "add", "relu", "multiply"]
    assert "test_graph_view.py" in fused.line


@needs_epilogues
def test_svg_says_ops_shapes_and_lines():
    drawing = ElementTree.fromstring(dense.graph(*SPECS).to_svg())
    texts = [t.text for t in drawing.iter(f"{SVG}text")]
    assert {"matmul+fused", "matmul", "relu", "float32 (32, 16)", "input", "result"} <= set(texts)
    tips = [t.text for t in drawing.iter(f"{SVG}title")]
    assert any("matmul+fused(%0, %1, %2)" in tip and "test_graph_view.py" in tip for tip in tips)


@needs_epilogues
def test_sweeps_show_the_program_of_all_their_variables():
    variables = [tf.Variable(tf.zeros([8, 8])) for _ in range(3)]

    @tf.function
    def update(g):
        for v in variables:
            v.assign_sub(tf.tanh(g) * 0.1)

    sweep = update.graph(spec(8, 8)).nodes[-1]
    assert (sweep.kind, sweep.detail) == ("sweep", "over 3 variables")
    assert sum(program.times for program in sweep.programs) == 3


def test_the_same_graph_gives_the_same_picture():
    def make():
        @tf.function
        def f(x):
            return tf.nn.softmax(tf.matmul(x, x)) + tf.reduce_mean(x)

        return f.graph(spec(8, 8))

    first, second = make(), make()
    assert first.to_svg() == second.to_svg() == first._repr_svg_()
    assert first.to_dot() == second.to_dot()


def test_nothing_runs_for_a_graph():
    huge = dense.graph(spec(1 << 20, 1 << 15), spec(1 << 15, 1 << 20), spec(1 << 20))
    assert "1048576" in huge.to_svg()


def test_concrete_functions_are_drawn_too():
    graph = dense.get_concrete_function(*SPECS).graph
    assert {'"relu\\nfloat32 (32, 16)"'} <= set(parse_dot(graph.to_dot())[0].values())
    assert ElementTree.fromstring(graph.to_svg()).tag == f"{SVG}svg"


def test_unknown_sizes_can_be_shown_as_traced_only():
    @tf.function
    def product(x, w):
        return tf.matmul(x, w)

    specs = tf.TensorSpec((None, 64), tf.float32), spec(64, 16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="known sizes only"):
        product.graph(*specs)
    assert "(None, 16)" in product.graph(*specs, compiled=False).to_svg()


def test_looking_at_graphs_leaves_nothing_behind():
    assert_flat(lambda: dense.graph(*SPECS).to_svg(), 400)


# --- The layout -----------------------------------------------------------------------------------


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 30))
    sizes = draw(st.lists(st.sampled_from([(30.0, 16.0), (80.0, 28.0), (200.0, 120.0)]),
                          min_size=count, max_size=count))  # fmt: skip
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = {(i, j) for i, j in draw(st.lists(pairs, max_size=60)) if i < j}
    return sizes, sorted(edges)


@settings(max_examples=150)
@given(graphs())
def test_boxes_do_not_touch_and_edges_lead_down(graph):
    sizes, edges = graph
    placed = layout.place(sizes, edges)
    rectangles = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(placed.at, sizes, strict=True)
    ]
    for at, (left, top, right, bottom) in enumerate(rectangles):
        assert left >= -1e-6 and top >= -1e-6
        assert right <= placed.width + 1e-6 and bottom <= placed.height + 1e-6
        for left2, top2, right2, bottom2 in rectangles[:at]:
            assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    for (i, j), route in zip(edges, placed.routes, strict=True):
        heights = [placed.at[i][1], *(y for _, y in route), placed.at[j][1]]
        assert heights == sorted(heights) and heights[0] < heights[-1]


def test_chains_are_straight_and_nothing_is_placed_for_no_boxes():
    placed = layout.place([(50.0, 20.0), (90.0, 20.0), (50.0, 20.0)], [(0, 1), (1, 2)])
    assert len({round(x, 3) for x, _ in placed.at}) == 1
    assert layout.place([], []) == layout.Placed([], [], 0.0, 0.0)


# --- The command ----------------------------------------------------------------------------------

PROGRAM = """
import tensorflow as tf

@tf.function
def step(x):
    return tf.tanh(x * 2.0)
"""


@needs_epilogues
def test_the_command_draws(tmp_path, capsys):
    script, svg, dot = tmp_path / "p.py", tmp_path / "g.svg", tmp_path / "g.dot"
    script.write_text(PROGRAM)
    ask = ["graph", f"{script}:step", "--shapes", "32x8"]
    assert cli.main([*ask, "--svg", str(svg), "--dot", str(dot)]) == 0
    assert "tanh" in svg.read_text()
    parse_dot(dot.read_text())
    assert cli.main(ask) == 0
    assert "fused" in capsys.readouterr().out
    assert cli.main([*ask, "--traced"]) == 0
    assert "= tanh(%1) : float32 (32, 8)" in capsys.readouterr().out
    assert cli.main(["graph", f"{script}:nothing"]) == 2
    assert "has no function 'nothing'" in capsys.readouterr().err
    assert cli.main([*ask, "--svg", str(tmp_path / "no" / "g.svg")]) == 2
