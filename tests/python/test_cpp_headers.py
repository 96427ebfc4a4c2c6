"""Every public header opens with a worked example; all of them are compiled and run here, each
with no more than the names that it speaks of declared before it."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tidemark as tf

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
HEADERS = ROOT / "include" / "tidemark"
COMPILER = shutil.which("c++")
pytestmark = pytest.mark.skipif(
    COMPILER is None or not (BUILD / "libtidemark_serve.so").exists(),
    reason="needs a C++ compiler and the build folder",
)

PICTURES = "td::Tensor images = td::random::normal({8, 8, 8, 1}); "
LABELS = "td::Tensor labels = td::random::uniform_int({8}, 0, 10); "
MODEL = "td::nn::Sequential model{td::nn::Dense(10)}; model(td::zeros({1, 3})); "
BATCH = "td::Tensor x = td::random::normal({8, 3}); "
BATCHES = f"{BATCH}{LABELS}const auto batches = td::data::from_tensors({{x, labels}}).batch(4); "
LINE = "td::Tensor x = td::Tensor::of({1.f, 2.f, 3.f}); "

# The message of an Example, as a string of C++.
EXAMPLE = "".join(f"\\{byte:03o}" for byte in tf.train.Example(features=tf.train.Features(feature={
    "place": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0])),
    "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"bc"])),
})).SerializeToString())  # fmt: skip

# What the example takes for given.
BEFORE = {
    "call.h": LINE,
    "checkpoint.h": MODEL + "td::optimizers::Adam adam; td::Variable epoch(td::Tensor(0));",
    "control_flow.h": "using namespace tidemark; Tensor x = Tensor(2.f);",
    "convolution_layers.h": PICTURES,
    "custom_op.h": LINE,
    "data.h": PICTURES + LABELS + "auto step = [](const td::Tensor&, const td::Tensor&) {};",
    "einsum.h": "td::Tensor q = td::ones({1, 2, 3, 4}), k = q, m = td::ones({2, 2});",
    "error.h": "td::Tensor a = td::ones({2, 3}), b = a;",
    "function.h": LINE + "td::Tensor state = x; "
    "auto next = td::function([](td::Tensor s) { return s * 0.5f; });",
    "handler.h": "using namespace tidemark; static int count = 0;",
    "image.h": 'std::ofstream("cat.png", std::ios::binary) << '
    "td::encode_png(td::zeros({4, 6, 3}, td::DType::uint8)).string_at(0);",
    "io.h": f'static const char example[] = "{EXAMPLE}"; const std::string_view all[] = '
    "{{example, sizeof(example) - 1}}; td::Tensor examples = td::Tensor::of_strings(all, {1});",
    "keras.h": "td::Tensor x = td::ones({2, 3}); td::nn::Sequential mine{td::nn::Dense(2)}; "
    "mine(x);",
    "layers.h": BATCH + "td::Tensor ids = td::random::uniform_int({2, 5}, 0, 100);",
    "losses.h": MODEL + BATCH + LABELS + "td::Tensor wanted = x, y = x * 2.f;",
    "metrics.h": MODEL + BATCHES + "const auto tests = batches;",
    "nn.h": PICTURES,
    "nn_functions.h": "td::Tensor x = td::ones({1, 8, 8, 3}), w = td::ones({3, 3, 3, 4}); "
    "td::Tensor logits = td::zeros({8, 10}); " + LABELS,
    "optimizers.h": MODEL,
    "plan.h": LINE,
    "saved_model.h": "auto line = [](const td::Tensor& x) { return x * 3.f + 0.5f; }; "
    "td::Tensor images = td::ones({2, 4}); "
    'td::save_model("models/digits/1", line, {{"images", td::DType::float32, {-1, 4}}});',
    "sequence_layers.h": "td::Tensor x = td::ones({2, 5, 8}), step = td::ones({2, 1, 64});",
    "sequential.h": "td::Tensor x = td::ones({2, 8, 8, 1});",
    "session.h": 'std::ifstream file("graph.pb", std::ios::binary); '
    "const std::string bytes(std::istreambuf_iterator<char>(file), {});",
    "train.h": MODEL + BATCHES + "const auto tests = batches;",
}
AFTER = {
    "composed.h": "return z.data<float>()[0] == 6.f;",
    "custom_op.h": "return y.data<float>()[2] == 9.f;",
    "handler.h": "td::square(td::Tensor(2.f)); return count == 1;",
    "function.h": "return step.traces().size() == 1 && y.data<float>()[1] == 1.f;",
    "gradient.h": "return dx.data<float>()[1] == 4.f;",
    "half.h": "return twice == 3.f;",
    "image.h": "return other.shape() == td::Shape{32, 32, 3};",
    "audio.h": "return heard.audio.shape() == td::Shape{8000, 1};",
    "boxes.h": "return middle.shape() == td::Shape{1, 4, 4, 3} && best.num_elements() == 1;",
    "io.h": 'return columns.size() == 3 && names.string_at(0) == "out/first.txt" && '
    'place.data<float>()[1] == 2.f && words.values.string_at(1) == "bc";',
    "ragged.h": "return twice.values.data<float>()[2] == 6.f && row_of_each.to_ints()[2] == 2;",
    "sampling.h": "return loss.shape() == td::Shape{8};",
    "saved_model.h": 'return outputs.at("output_0").data<float>()[0] == 3.5f;',
    "session.h": "return value.data<float>()[1] == 3.f && found[0].data<float>()[0] == 1.f;",
    "train.h": "return accuracy >= 0;",
}

# Definitions of ops and kernels go into a library. Built-in ones have their names already.
DEFINED = {"custom_op.h", "elementwise.h", "kernel.h", "op.h", "op_facts.h", "rows.h"}
INPUTS = '.doc("As it is.").input("x", kFloats).output("y", like("x")).elementwise()'
AXIS = '.optional_attr("axis", AttrKind::ints).attr("keepdims", AttrKind::boolean, false)'
CHANGED = {
    "elementwise.h": [("scaled", "header_scaled")],
    "kernel.h": [("KERNEL(square", "KERNEL(header_squared")],
    "op.h": [("OP(square)", "OP(header_square)"), ('"tf.square", "tf.math.square"', '"tf.header"')],
    "op_facts.h": [
        ("OP(sum)", "OP(header_sum)"),
        ("Sum", "HeaderSum"),
        ("input_tensor axis", "x axis"),
        ("…", INPUTS + AXIS),
    ],
    "rows.h": [("OP(row_lengths)", "OP(header_rows)"), ("…", INPUTS)],
    "saved_model.h": [("/models/", "models/")],
}
NEEDED = {
    "custom_op.h": "void my_square_kernel(KernelContext& k) { k.out<float>(0)[2] = 9; }",
    "elementwise.h": 'TIDEMARK_OP(header_scaled).doc("Scaled.").input("x", kFloats)'
    '.attr("by", AttrKind::real, 2.0).output("y", like("x")).elementwise();',
    "kernel.h": f"namespace td = tidemark; TIDEMARK_OP(header_squared){INPUTS};",
}


def example_of(header):
    """The indented lines of the comment that a header begins with."""
    head = header.read_text(encoding="utf-8").partition("#pragma once")[0]
    lines = [line[5:] for line in head.splitlines() if line.startswith("//   ")]
    text = "\n".join(lines)
    for old, new in CHANGED.get(header.name, []):
        assert old in text, (header.name, old)
        text = text.replace(old, new)
    return text


def compile_source(folder, name, text, *options):
    source = folder / f"{name}.cpp"
    source.write_text(text, encoding="utf-8")
    subprocess.run(
        [COMPILER, "-std=c++20", f"-I{ROOT / 'include'}", f"-I{BUILD / 'include'}", source,
         *options, f"-L{BUILD}", "-ltidemark_serve", "-ltidemark", f"-Wl,-rpath,{BUILD}"],
        check=True, timeout=300,
    )  # fmt: skip


def test_every_header_opens_with_an_example():
    assert [h.name for h in HEADERS.glob("*.h") if not example_of(h)] == []


def definitions():
    parts = ["#include <tidemark/custom_op.h>"]
    for name in sorted(DEFINED):
        text = example_of(HEADERS / name).partition("// a program")[0]
        text = text.replace("#include <tidemark/custom_op.h>\n", "")
        text = text.replace("using namespace tidemark;\n", "")
        scope = "example_" + name.removesuffix(".h")
        parts.append(
            f"namespace {scope} {{ using namespace tidemark; {NEEDED.get(name, '')}\n{text}\n}}"
        )
    return "\n".join(parts)


def uses(with_keras):
    public = " ".join(f"#include <tidemark/{h.name}>\n" for h in sorted(HEADERS.glob("*.h")))
    parts = ["#include <fstream>\n#include <iostream>\n", public, "namespace td = tidemark;\n"]
    calls = []
    for header in sorted(HEADERS.glob("*.h")):
        name = header.name
        text = example_of(header)
        if name == "custom_op.h":
            text = text.partition("// a program")[2]
        elif name in DEFINED | {"tidemark.h", "export.h"} or (name == "keras.h" and not with_keras):
            continue
        function = "example_" + name.removesuffix(".h")
        after = AFTER.get(name, "return true;")
        body = f"{BEFORE.get(name, '')} {{\n{text}\n{after} }}"
        parts.append(f"bool {function}() {{ {body} }}\n")
        calls.append(f'  run("{name}", {function});\n')
    parts.append("""
void run(const char* name, bool (*example)()) {
  const int64_t limit = td::memory::limit();
  try {
    const bool is_right = example();
    std::cout << "\\n" << name << (is_right ? " is right" : " is wrong") << std::endl;
  } catch (const std::exception& error) {
    std::cout << "\\n" << name << " fails: " << error.what() << std::endl;
  }
  td::memory::set_limit(limit);
}
""")
    parts.append("int main() {\n" + "".join(calls) + "}\n")
    return "".join(parts), len(calls)


def test_the_examples_run(tmp_path):
    compile_source(tmp_path, "defined", definitions(), "-shared", "-fPIC", "-o",
                   tmp_path / "libmyop.so")  # fmt: skip
    graph = tf.Graph()
    with graph.as_default():
        tf.square(tf.compat.v1.placeholder(tf.float32, (None, 3), name="x"), name="y")
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    with_keras = importlib.util.find_spec("keras") is not None
    if with_keras:
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
        model.save(tmp_path / "model.keras")
        model.save_weights(tmp_path / "model.weights.h5")
    source, count = uses(with_keras)
    compile_source(tmp_path, "examples", source, "-o", tmp_path / "examples")
    done = subprocess.run(
        [tmp_path / "examples"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = re.findall(r"^(\S+\.h) (is right|is wrong|fails: .*)$", done.stdout, re.MULTILINE)
    assert [t for t in told if t[1] != "is right"] == []
    assert len(told) == count


def test_the_whole_programs_run(tmp_path):
    text = example_of(HEADERS / "tidemark.h")
    compile_source(tmp_path, "whole", "#include <iostream>\n" + text, "-o", tmp_path / "whole")
    done = subprocess.run([tmp_path / "whole"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "resident" in done.stdout
