"""``tidemark inspect``: what stands in a file of a model or of weights."""

from __future__ import annotations

import html
import json

from tidemark import _tidemark, errors
from tidemark.cli import FAILED, OK, InputError
from tidemark.cli.files import write

ABOUT = "show a model's or a weights file's signature, ops, parameters and what is not supported"
_MOST_STEPS = 2000  # of a graph that is drawn


def add_arguments(parser) -> None:
    parser.add_argument(
        "path",
        help="of ONNX, TFLite, safetensors, npz, pt, h5, keras, a checkpoint or a SavedModel",
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=SIZES",
        help="sizes of an input, as in images=8,28,28: the peak of a call with them is planned",
    )
    parser.add_argument("--signature", default="serving_default", help="the one that is planned")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page that draws the graph")


def run(arguments) -> int:
    try:
        seen = _tidemark.inspect_file(arguments.path)
    except errors.OpError as error:
        raise InputError(f"{arguments.path}: {error.message}") from None
    seen["plan"] = _planned(arguments, seen)
    if arguments.html:
        write(arguments.html, _page(arguments.path, seen))
    if arguments.json:
        print(json.dumps(_as_json(seen), indent=2))
    else:
        print(_text(seen), end="")
    return FAILED if seen["not_read"] else OK


def sizes_of(words) -> dict:
    """What ``--shape`` was given: sizes by name."""
    found = {}
    for word in words:
        name, has_sizes, sizes = word.rpartition("=")
        try:
            found[name] = [int(size) for size in sizes.split(",") if size]
        except ValueError:
            has_sizes = ""
        if not has_sizes:
            raise InputError(f"--shape is NAME=SIZES, as in images=8,28,28; given was {word!r}")
    return found


def _planned(arguments, seen):
    """What a call takes, in bytes; None where nothing was asked, or no plan can be made."""
    if not seen["signatures"] or seen["not_read"]:
        return None
    sizes = sizes_of(arguments.shape)
    signature = seen["signatures"].get(arguments.signature)
    if signature is None:
        known = ", ".join(seen["signatures"])
        raise InputError(f"there is no signature {arguments.signature!r}; there are: {known}")
    is_open = any(
        shape is None or (None in shape and name not in sizes)
        for name, (_, shape) in signature["inputs"].items()
    )
    if is_open:
        return None
    planned_bytes = _tidemark.planned_bytes
    if seen["format"] == "Keras":
        from tidemark._formats.converting import planned_bytes  # has Keras make the model
    try:
        weights, peak = planned_bytes(arguments.path, arguments.signature, sizes)
    except errors.OpError as error:
        return {"error": error.message}
    return {"weights": weights, "peak": peak, "shapes": sizes}


def _by_layer(parameters) -> list:
    """(layer, tensors, elements, bytes), in the order of the file."""
    layers = {}
    for name, _, shape, count in parameters:
        layer = name.replace("/.ATTRIBUTES/VARIABLE_VALUE", "")
        for mark in ("/", "."):
            if mark in layer.strip(mark):
                layer = layer.rpartition(mark)[0]
                break
        elements = 1
        for size in shape or ():
            elements *= size or 0
        have = layers.setdefault(layer, [0, 0, 0])
        for at, more in enumerate((1, elements, count)):
            have[at] += more
    return [(layer, *numbers) for layer, numbers in layers.items()]


def _bytes(count) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024
    return f"{count:.2f} GiB"


def _port(name, port) -> str:
    dtype, shape = port
    sizes = (
        "of any shape"
        if shape is None
        else "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
    )
    return f"{name}: {dtype} {sizes}"


def _text(seen) -> str:
    lines = [f"{seen['format']}"]
    for name, signature in seen["signatures"].items():
        lines.append(f"signature {name}")
        for side in ("inputs", "outputs"):
            for port_name, port in signature[side].items():
                lines.append(f"  {side[:-1]:<6}  {_port(port_name, port)}")
    if seen["ops"]:
        lines.append(f"ops: {sum(seen['ops'].values())} of {len(seen['ops'])} kinds")
        most = sorted(seen["ops"].items(), key=lambda one: (-one[1], one[0]))
        lines += [f"  {count:>6}  {op}" for op, count in most]
    layers = _by_layer(seen["parameters"])
    total = [sum(layer[at] for layer in layers) for at in (1, 2, 3)]
    lines.append(f"parameters: {total[1]:,} in {total[0]} tensors, {_bytes(total[2])}")
    for layer, tensors, elements, count in layers:
        lines.append(f"  {elements:>12,}  {_bytes(count):>10}  {tensors:>3}  {layer}")
    plan = seen["plan"]
    if plan and "error" in plan:
        lines.append(f"no plan: {plan['error']}")
    elif plan:
        lines.append(f"weights in memory: {_bytes(plan['weights'])}")
        peak = "it cannot be planned" if plan["peak"] == 0 else _bytes(plan["peak"])
        lines.append(f"planned beside weights, inputs and outputs: {peak}")
    if seen["not_read"]:
        lines.append(f"not supported: {len(seen['not_read'])}")
        lines += [f"  {line}" for line in seen["not_read"]]
    return "\n".join(lines) + "\n"


def _as_json(seen) -> dict:
    out = {key: seen[key] for key in ("format", "signatures", "ops", "not_read", "plan")}
    out["signatures"] = {
        name: {
            side: {port: {"dtype": dtype, "shape": shape} for port, (dtype, shape) in ports.items()}
            for side, ports in signature.items()
        }
        for name, signature in seen["signatures"].items()
    }
    out["parameters"] = [
        {"name": name, "dtype": kind, "shape": shape, "bytes": count}
        for name, kind, shape, count in seen["parameters"]
    ]
    out["layers"] = [
        {"name": name, "tensors": tensors, "elements": elements, "bytes": count}
        for name, tensors, elements, count in _by_layer(seen["parameters"])
    ]
    return out


def _picture(path, seen) -> str:
    """The graph as SVG, or why there is none."""
    from tidemark._functions.graph_view import GraphView  # few ask for pictures

    steps = seen["steps"]
    if not steps:
        return "<p>The file has no graph.</p>"
    left_out = ""
    if len(steps) > _MOST_STEPS:
        left_out = f"<p>The first {_MOST_STEPS} of {len(steps)} nodes.</p>"
        steps = steps[:_MOST_STEPS]
    maker, nodes = {}, []
    weights = {name for name, *_ in seen["parameters"]}
    for at, (_, _, _, outputs) in enumerate(steps):
        for number, name in enumerate(outputs):
            maker.setdefault(name, (at, number))
    for op, name, inputs, _ in steps:
        # TensorFlow's graphs name "node:output" and "^node".
        known = [
            maker.get(given) or maker.get(given.lstrip("^").partition(":")[0]) for given in inputs
        ]
        nodes.append(
            {
                "kind": op,
                "detail": name,
                "outputs": [],
                "inputs": [
                    (*place, "") if place else (-1, 0, given)
                    for given, place in zip(inputs, known, strict=True)
                ],
                "before": [],
                "attributes": ", ".join(given for given in inputs if given in weights),
                "line": "",
                "has_effect": False,
                "programs": [],
                "bodies": [],
            }
        )
    return left_out + GraphView(path, (nodes, [])).to_svg()


def _page(path, seen) -> str:
    title = html.escape(str(path))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        "<style>body { font: 14px Helvetica, Arial, sans-serif; margin: 24px; } "
        "svg { max-width: none; }</style></head>\n"
        f"<body><h1>{title}</h1>\n<pre>{html.escape(_text(seen))}</pre>\n"
        f"{_picture(path, seen)}\n</body></html>\n"
    )
