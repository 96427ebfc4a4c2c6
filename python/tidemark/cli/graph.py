"""``tidemark graph``: what a function computes, as text or as a picture."""

from __future__ import annotations

from tidemark import errors
from tidemark.cli import OK, InputError
from tidemark.cli.targets import find_function, spec_of, write

ABOUT = "show the graph of a function: as text, as SVG, in Graphviz's language"


def add_arguments(parser) -> None:
    parser.add_argument(
        "target",
        metavar="SCRIPT.py:FUNCTION",
        help="a tf.function, or a plain function of tensors, of a program, which is run up to its "
        'end for that (not as "__main__")',
    )
    parser.add_argument(
        "--shapes",
        nargs="*",
        default=[],
        metavar="SHAPE",
        help="one an argument: 32x784, 128:int32, scalar (float32 unless said)",
    )
    parser.add_argument(
        "--traced", action="store_true", help="as it was traced, before anything is fused"
    )
    parser.add_argument("--svg", metavar="FILE", help="draw it")
    parser.add_argument("--dot", metavar="FILE", help="write it in Graphviz's language")


def run(arguments) -> int:
    import tidemark as tf

    function = find_function(arguments.target)
    if not hasattr(function, "plan"):
        function = tf.function(function)
    specs = [spec_of(text) for text in arguments.shapes]
    try:
        graph = function.graph(*specs, compiled=not arguments.traced)
    except (errors.OpError, ValueError, TypeError) as error:
        raise InputError(f"{arguments.target}: {error}") from None
    if arguments.svg:
        write(arguments.svg, graph.to_svg())
    if arguments.dot:
        write(arguments.dot, graph.to_dot())
    if not (arguments.svg or arguments.dot):
        print(graph, flush=True)
    return OK
