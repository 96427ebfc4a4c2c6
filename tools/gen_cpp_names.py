#!/usr/bin/env python3
"""Writes docs/cpp-names.md: which of TensorFlow's functions have their names in C++.

    python tools/gen_cpp_names.py [--ops build/include/tidemark/ops.h]           # write
    python tools/gen_cpp_names.py [--ops …] --check                              # fail if not so

Names are those of tests/python/data/tf_names.txt that begin with a small letter; declarations are
read from the public headers, the one that is written at build time among them.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests" / "python" / "data" / "tf_names.txt"
HEADERS = ROOT / "include" / "tidemark"
OPS = ROOT / "build" / "include" / "tidemark" / "ops.h"
PAGE = ROOT / "docs" / "cpp-names.md"

MODULES = (
    "tf", "tf.math", "tf.math.special", "tf.linalg", "tf.nn", "tf.image", "tf.strings",
    "tf.random", "tf.signal", "tf.bitwise", "tf.io", "tf.audio", "tf.quantization", "tf.sparse",
    "tf.sets", "tf.ragged",
)  # fmt: skip

# What is about Python, or a word of C++, or in no language; names with the module that has them.
NOT_OF_CPP = {
    "Python's objects, conversions and modules": "as_dtype check_pinned get_logger is_tensor "
    "load_library make_ndarray make_tensor_proto nondifferentiable_batch_function numpy_function "
    "py_function register_tensor_conversion_function type_spec_from_value newaxis "
    "get_static_value is_symbolic_tensor tuple",
    "building graphs of TensorFlow 1": "io.match_filenames_once control_dependencies "
    "get_current_name_scope group guarantee_const init_scope inside_function name_scope "
    "no_gradient no_op variable_creator_scope device",
    "words of C++, and printing, which streams do": "bool case double string print",
    "dtypes that no op computes in": "qint16 qint32 qint8 quint16 quint8 resource variant",
    "what Tidemark has in no language; Python's functions say why": "conv "
    "conv2d_backprop_filter_v2 conv2d_backprop_input_v2 random_index_shuffle math.sobol_sample "
    "nn.with_space_to_batch nn.learned_unigram_candidate_sampler "
    "random.learned_unigram_candidate_sampler image.decode_jxl image.decode_webp io.decode_jxl "
    "io.decode_webp image.generate_bounding_box_proposals strings.unicode_script io.decode_proto "
    "io.encode_proto quantization.quantize quantization.dequantize quantization.quantized_concat",
    "initialisers, which are td::nn::Initializer": "constant_initializer ones_initializer "
    "random_normal_initializer random_uniform_initializer zeros_initializer",
    "gradients, which are td::GradientTape and td::function": "custom_gradient gradients hessians "
    "grad_pass_through recompute_grad",
}

INTRO = """\
# TensorFlow's names in C++

`tf.math.reduce_mean` is `td::math::reduce_mean`: a name of TensorFlow has the same namespaces in
C++ and the same meaning. Those of ops come from the op definitions. Functions that are more than an
op are declared in `<tidemark/composed.h>`, `control_flow.h`, `math.h`, `linalg.h`,
`nn_functions.h`, `sampling.h`, `image.h`, `boxes.h`, `strings.h`, `random.h`, `signal.h`,
`sparse.h`, `ragged.h`, `io.h`, `audio.h`, `quantization.h` and `debugging.h`; they give what
Python's give (`tests/python/test_cpp_functions.py`, `test_cpp_more_functions.py`). What has a
default is given by name, in TensorFlow's order. This page is written by `tools/gen_cpp_names.py`; a
test fails when it is out of date.

"""

BRACES = re.compile(r"[{};]")
NAMESPACE = re.compile(r"\bnamespace\s+([\w:]+)\s*$")
USING = re.compile(r"\busing\s+([\w:]+)\s*$")
FUNCTION = re.compile(r"\b([a-z_]\w*)\s*\(")
CONSTANT = re.compile(r"\b([a-z]\w*)\s*=")
NOISE = re.compile(r"TIDEMARK_\w+|\[\[.*?\]\]|\brequires\b.*|//[^\n]*|#[^\n]*")


def declared(text):
    """(namespaces, name) of each function and constant that a header declares in a namespace."""
    text = re.sub(r"//[^\n]*", "", text)
    found, scopes, last = set(), [], 0
    for brace in BRACES.finditer(text):
        piece, last = NOISE.sub(" ", text[last : brace.start()]).strip(), brace.end()
        opens = brace[0] == "{"
        namespace = NAMESPACE.search(piece) if opens else None
        if None not in scopes and not namespace:
            space = "::".join(scopes)
            if using := USING.search(piece):
                found.add((space, using[1].rpartition("::")[2]))
            elif piece.startswith("inline constexpr DType"):
                found.update((space, name) for name in CONSTANT.findall(piece))
            elif function := FUNCTION.search(piece):
                found.add((space, function[1]))
        if opens:
            scopes.append(namespace[1] if namespace else None)
        elif brace[0] == "}" and scopes:
            scopes.pop()
    return found


def names_in_cpp(ops):
    """ "math.reduce_mean" and all the others."""
    out = set()
    for header in [*sorted(HEADERS.glob("*.h")), ops]:
        for space, name in declared(header.read_text(encoding="utf-8")):
            parts = [*space.split("::")[1:], name.removesuffix("_")]
            out.add(".".join(parts))
    return out


def recorded():
    """TensorFlow's functions: module → last parts."""
    out = {}
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        module, _, names = line.partition(":")
        out[module] = [name for name in names.split() if name[0].islower()]
    return {module: out[module] for module in MODULES}


def by_module(ops):
    """module → (here, missing), without what is not about C++."""
    here = names_in_cpp(ops)
    not_of_cpp = {f"tf.{name}" for names in NOT_OF_CPP.values() for name in names.split()}
    table = {}
    for module, names in recorded().items():
        full = {name: f"{module}.{name}".removeprefix("tf.") for name in names}
        found = [name for name in names if full[name] in here]
        missing = [
            name
            for name in names
            if full[name] not in here and f"tf.{full[name]}" not in not_of_cpp
        ]
        table[module] = found, missing
    return table


def page(ops=OPS):
    table = by_module(ops)
    lines = ["| module | functions | in C++ |", "| --- | ---: | ---: |"]
    for module, (found, missing) in table.items():
        lines.append(f"| `{module}` | {len(found) + len(missing)} | {len(found)} |")
    found = sum(len(f) for f, _ in table.values())
    total = found + sum(len(m) for _, m in table.values())
    lines += [f"| **all** | {total} | {found} ({found / total:.1%}) |", "", "## Not in C++", ""]
    lacking = [
        f"- `{module}`: " + ", ".join(f"`{name}`" for name in missing)
        for module, (_, missing) in table.items()
        if missing
    ]
    lines += [*(lacking or ["Nothing of what is counted."]), "", "Not counted:", ""]
    for why, names in NOT_OF_CPP.items():
        lines.append(f"- {why}: " + ", ".join(f"`tf.{name}`" for name in names.split()))
    return INTRO + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=Path, default=OPS, help="the header written at build time")
    parser.add_argument("--check", action="store_true", help="fail when the page is out of date")
    arguments = parser.parse_args()
    text = page(arguments.ops)
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/cpp-names.md is out of date; run tools/gen_cpp_names.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
