"""Fails on an include against the order of the layers.

A file of src/tidemark/<layer>/ may include its own layer and those before it. A public header
belongs to a layer too, and may include public headers only, for nothing else is installed.
"""

import re
from pathlib import Path

from sources import ROOT, cpp_files, problems_in, report

LAYER_ORDER = (
    "base < memory < tensor < tables < graph < ops < kernels < plan < compile < exec < explain "
    "< autodiff < comm < trace < nn < session < data < profile < io < train < serve"
)
LAYERS = re.findall(r"\w+", LAYER_ORDER)

PUBLIC_HEADERS = {
    "base": "export.h device.h dtype.h shape.h error.h bytes.h half.h settings.h version.h",
    "memory": "memory.h",
    "tensor": "tensor.h call_with.h handler.h variable.h",
    "graph": "attr.h",
    "ops": "op.h op_facts.h rows.h call.h einsum.h random.h",
    "kernels": "elementwise.h kernel.h",
    "exec": "create.h custom_op.h ops.h",
    "explain": "plan.h",
    "autodiff": "gradient.h",
    "trace": "control_flow.h function.h",
    "nn": "activations.h module.h layers.h convolution_layers.h sequence_layers.h sequential.h "
    "nn_functions.h composed.h linalg.h math.h signal.h sparse.h strings.h image.h losses.h "
    "metrics.h optimizers.h nn.h audio.h boxes.h debugging.h io.h quantization.h ragged.h "
    "sampling.h",
    "data": "data.h",
    "io": "saved_model.h checkpoint.h keras.h session.h tidemark.h",
    "train": "train.h",
    "serve": "serve.h",
}
LAYER_OF_HEADER = {name: layer for layer, names in PUBLIC_HEADERS.items() for name in names.split()}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


def layer_of_file(path: Path) -> str | None:
    """The layer a file belongs to, given its path in the project; None where no layer applies."""
    parts = path.parts
    if parts[:2] == ("src", "tidemark") and len(parts) > 3:
        return parts[2]
    if parts[:2] == ("include", "tidemark") and len(parts) == 3:
        return LAYER_OF_HEADER.get(parts[2], f"public header {parts[2]}")
    return None


def layer_of_include(target: str) -> str | None:
    """The layer of an included name such as tidemark/base/x.h; None for other projects' headers."""
    parts = target.split("/")
    if parts[0] != "tidemark" or len(parts) < 2:
        return None
    if len(parts) == 2:
        return LAYER_OF_HEADER.get(parts[1], f"public header {parts[1]}")
    return parts[1]


def include_problem(path: Path, layer: str, quote: str, target: str) -> str | None:
    """What is wrong with this include in this file, or None."""
    included = layer_of_include(target)
    if included is None:
        if quote == '"':
            return f'"{target}": write the whole name, as in "tidemark/{layer}/{target}"'
        return None
    if included not in LAYERS:
        return f"{target}: {included} has no layer in tools/checks/layers.py"
    if path.parts[0] == "include" and target.count("/") > 1:
        return f"{target}: a public header may include public headers only"
    if LAYERS.index(included) > LAYERS.index(layer):
        return f"{target}: layer {layer} comes before {included} and may not include it"
    return None


def check_file(path: Path, text: str) -> list[str]:
    """Problems of one file, given its path in the project."""
    layer = layer_of_file(path)
    if layer is None:
        return []
    if layer not in LAYERS:
        return [f"{path}: {layer} has no layer in tools/checks/layers.py"]
    problems = []
    for match in INCLUDE.finditer(text):
        problem = include_problem(path, layer, match[1], match[2])
        if problem:
            line = text.count("\n", 0, match.start(1)) + 1
            problems.append(f"{path}:{line}: {problem}")
    return problems


def check(root: Path) -> list[str]:
    return problems_in(cpp_files(root), root, check_file)


if __name__ == "__main__":
    report(check(ROOT))
