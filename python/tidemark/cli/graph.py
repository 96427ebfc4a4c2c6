"""``tidemark graph``: what a function computes, as text or as a picture."""

from __future__ import annotations

from tidemark import errors
from tidemark.cli import OK, InputError
from tidemark.cli.files import write
from tidemark.cli.targets import add_target, find_target

ABOUT = "show the graph of a function: as text, as SVG, in Graphviz's language"


def add_arguments(parser) -> None:
    add_target(parser)
    parser.add_argument(
        "--traced", action="store_true", help="as it was traced, before anything is fused"
    )
    parser.add_argument("--svg", metavar="FILE", help="draw it")
    parser.add_argument("--dot", metavar="FILE", help="write it in Graphviz's language")


def run(arguments) -> int:
    function, specs = find_target(arguments)
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
