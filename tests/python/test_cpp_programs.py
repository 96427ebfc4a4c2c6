"""Programs against the public headers: the tour in docs/cpp.md runs, and memory is listed under the
program's own places, never under a line of the library."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import tidemark as tf

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
COMPILER = shutil.which("c++")
pytestmark = pytest.mark.skipif(
    COMPILER is None or not (BUILD / "libtidemark.so").exists(),
    reason="needs a C++ compiler and the build folder",
)


def compile_program(folder, source, *options, compiler=COMPILER):
    path = folder / "program.cpp"
    path.write_text(source)
    subprocess.run(
        [compiler, "-std=c++20", *options, f"-I{ROOT / 'include'}", f"-I{BUILD / 'include'}", path,
         "-o", folder / "program", f"-L{BUILD}", "-ltidemark", f"-Wl,-rpath,{BUILD}"],
        check=True, timeout=300,
    )  # fmt: skip


def run_program(folder, source, *options, compiler=COMPILER):
    compile_program(folder, source, *options, compiler=compiler)
    done = subprocess.run(
        [folder / "program"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tour():
    head, *parts = re.findall(
        r"```cpp\n(.*?)```", (ROOT / "docs" / "cpp.md").read_text(), re.DOTALL
    )
    return head + "int main() {\n" + "".join(parts) + "}\n"


@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang is not installed")
def test_clang_takes_the_headers(tmp_path):
    (tmp_path / "tour.cpp").write_text(tour())
    subprocess.run(
        ["clang++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         f"-I{ROOT / 'include'}", f"-I{BUILD / 'include'}", tmp_path / "tour.cpp",
         ROOT / "examples" / "function.cpp"],
        check=True, timeout=300,
    )  # fmt: skip


def test_the_tour_runs(tmp_path):
    said = run_program(tmp_path, tour())
    assert "w is 3" in said
    assert "hidden.kernel  float32  (4, 32)  512 B" in said
    assert "plan of function: peak" in said
    assert float(re.search(r"accuracy ([0-9.]+)", said)[1]) > 0.9
    assert float(re.search(r"fitted to ([0-9.]+)", said)[1]) > 0.9
    assert "(512, 2)" in said


# As it stands in front of newcomers: nothing but the four headers, then the code.
TASTE = """
#include <tidemark/tidemark.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/data.h>
namespace td = tidemark;
int main() {
  td::Tensor images = td::random::normal({512, 8, 8, 1});
  td::Tensor labels = td::random::uniform_int({512}, 0, 10);
td::nn::Sequential model{td::nn::Conv2D(32, 3, {.activation = "relu"}), td::nn::Flatten(), td::nn::Dense(10)};
td::optimizers::Adam adam({.learning_rate = 1e-3});
for (auto batch : td::data::from_tensors({images, labels}).shuffle(10'000).batch(128).repeat(3)) {
  td::GradientTape tape;
  auto loss = td::reduce_mean(td::nn::sparse_softmax_cross_entropy(batch[1], model(batch[0])));
  adam.apply(tape.gradient(loss, model.parameters()), model.parameters());
}
std::cout << model << "\\n" << td::memory::report();
}
"""  # noqa: E501


def test_the_taste_runs_as_it_stands(tmp_path):
    said = run_program(tmp_path, TASTE, "-Wall", "-Wextra", "-Werror")
    assert "conv2d.kernel  float32  (3, 3, 1, 32)" in said
    assert "resident" in said


def code_lines(path):
    lines = (line.strip() for line in (ROOT / "examples" / path).read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def test_examples_are_short():
    assert code_lines("fashion_mnist/train.cpp") <= 60
    sources = (ROOT / "examples").rglob("*.cpp")
    assert [p.name for p in sources if len(p.read_text().splitlines()) >= 80] == []


PLACES = """
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>
#include <iostream>
namespace td = tidemark;
int main() {
  const td::Tensor x = td::random::normal({64, 32});
  const td::nn::Sequential model{td::nn::Dense(16, {.activation = "relu"}), td::nn::Dense(4)};
  const td::optimizers::Adam adam;
  td::GradientTape tape({.persistent = true});
  const td::Tensor loss = td::reduce_mean(td::square(model(x) - 1.f));
  const auto gradients = tape.gradient(loss, model.parameters());
  const td::Tensor one = tape.gradient(loss, model.parameters()[0]);
  adam.apply(gradients, model.parameters());
  const td::Tensor sum = x + x * 2.f;
  for (const auto& place : td::memory::places()) std::cout << place.place << "\\n";
}
"""


@pytest.mark.parametrize(
    "options", [("-O2",), ("-O0",), ("-O2", "-g"), ("-O0", "-g")], ids=" ".join
)
def test_places_are_the_programs(tmp_path, options):
    places = run_program(tmp_path, PLACES, *options).splitlines()
    assert len(places) >= 6
    pattern = r"program\.cpp:\d+ in main" if "-g" in options else r"program\+0x[0-9a-f]+ in main"
    assert [p for p in places if not re.fullmatch(pattern, p)] == []


# What the library makes in other ways than by an op of the caller's.
OTHER_PLACES = """
#include <tidemark/checkpoint.h>
#include <tidemark/data.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/session.h>
#include <tidemark/tidemark.h>
#include <tidemark/train.h>
namespace td = tidemark;
struct Net : td::nn::Module {
  td::nn::Sequential body = add("body", td::nn::Sequential{td::nn::Conv2D(4, 3),
                                                           td::nn::BatchNorm(),
                                                           td::nn::MaxPooling2D()});
  td::nn::MultiHeadAttention attention = add("attention", td::nn::MultiHeadAttention(2, 4));
  td::nn::GRU gru = add("gru", td::nn::GRU(4));
  td::Tensor operator()(const td::Tensor& x) const {
    const td::Tensor h = td::reshape(body(x), td::constant({-1, 9, 4}));
    return gru(attention(h, h));
  }
};
static void helper(const td::Tensor& x, std::vector<td::Tensor>& kept) {
  kept.push_back(td::einsum("ij,kj->ik", {x, x}));
  kept.push_back(td::cond(td::Tensor(true), [&] { return x + 1.f; }, [&] { return x; }));
  kept.push_back(td::linalg::inv(td::random::normal({20, 20})));
  kept.push_back(td::constant({{1.f, 2.f}, {3.f, 4.f}}));
  kept.push_back(td::image::resize(x.reshaped({20, 30, 1}), {4, 4}));
}
int main() {
  std::vector<td::Tensor> kept;
  const td::Tensor x = td::random::normal({64, 8, 8, 1}), y = td::random::uniform_int({64}, 0, 4);
  const Net model;
  auto batches = td::data::from_tensors({x, y})
                     .map([](const td::Tensor& a, const td::Tensor& b) {
                       return std::pair(a * 2.f, b);
                     })
                     .shuffle(32).batch(16).cache().prefetch(2);
  for (auto batch : batches) kept.push_back(model(batch[0]));
  td::train::fit(model, batches,
                 {.loss = td::losses::SparseCategoricalCrossentropy({.from_logits = true}),
                  .optimizer = td::optimizers::AdamW(), .epochs = 1, .out = nullptr});
  helper(td::random::normal({20, 30}), kept);
  td::Graph graph;
  td::Tensor fed, found;
  {
    td::GraphScope building(graph);
    fed = td::placeholder(td::DType::float32, {-1, 3});
    found = td::matmul(fed, td::ones({3, 50}));
  }
  kept.push_back(td::Session(graph).run({found}, {{fed, td::ones({20, 3})}})[0]);
  td::Checkpoint checkpoint({{"model", model}});
  checkpoint.save("saved");
  checkpoint.restore("saved");
  td::save_model("model", model, {{"x", td::DType::float32, {2, 8, 8, 1}}});
  const td::SavedModel loaded = td::load_model("model");
  kept.push_back(loaded({{"x", td::ones({2, 8, 8, 1})}}).at("output_0"));
  for (const auto& place : td::memory::places()) std::cout << place.place << "\\n";
}
"""


@pytest.mark.parametrize(
    ("compiler", "options"),
    [("c++", ("-O2",)), ("clang++", ("-O0", "-g"))],
    ids=str,
)
def test_places_are_never_the_librarys(tmp_path, compiler, options):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    places = run_program(tmp_path, OTHER_PLACES, *options, compiler=compiler).splitlines()
    pattern = r"program\.cpp:\d+ in .+" if "-g" in options else r"program\+0x[0-9a-f]+ in .+"
    assert [p for p in places if not re.fullmatch(pattern, p)] == []
    if "-O0" in options:  # nothing is inlined
        assert any(" in helper" in p for p in places)
        assert any("Net::operator()" in p for p in places)


@pytest.mark.skipif(not (BUILD / "build.ninja").exists(), reason="needs the build folder's CMake")
def test_a_program_that_trains_can_be_one_small_file(tmp_path):
    subprocess.run(
        ["cmake", "--build", BUILD, "--target", "classifier_static"],
        check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    program = shutil.copy(BUILD / "classifier_static", tmp_path)  # away from the plugins
    assert Path(program).stat().st_size <= 15e6
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "tidemark" not in linked
    assert "stdc++" not in linked
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "conv2d.kernel" in done.stdout


LEAKY = """
#include <tidemark/tidemark.h>
namespace td = tidemark;
std::vector<td::Tensor> kept;
int main() {
  auto step = td::function([](td::Tensor x) { return td::square(x) + 1.f; });
  for (int i = 0; i < 200; ++i) {
    kept.push_back(step(td::ones({64, 256})));
  }
}
"""


def tidemark(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_the_doctor_finds_the_line_of_a_program(tmp_path):
    compile_program(tmp_path, LEAKY, "-O2", "-g")
    done = tidemark("doctor", "--fail-on", "growth", tmp_path / "program", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "growing by 64" in done.stdout
    assert "program.cpp:8 in main" in done.stdout
    healthy = LEAKY.replace("kept.push_back", "kept.assign(1, td::Tensor()); kept[0] = ")
    compile_program(tmp_path, healthy, "-O2", "-g")
    done = tidemark("doctor", "--fail-on", "growth", tmp_path / "program", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_without_debug_information_the_doctor_names_the_place(tmp_path):
    compile_program(tmp_path, LEAKY, "-O2")
    done = tidemark("doctor", "--fail-on", "growth", tmp_path / "program", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "growing by 64" in done.stdout
    assert re.search(r"program\+0x[0-9a-f]+ in main", done.stdout)
    done = tidemark("profile", tmp_path / "program", "-o", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"program\+0x[0-9a-f]+ in main", (tmp_path / "page.html").read_text())


def test_a_program_is_profiled(tmp_path):
    compile_program(tmp_path, LEAKY, "-O2", "-g")
    done = tidemark("profile", tmp_path / "program", "-o", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "program.cpp:8 in main" in (tmp_path / "page.html").read_text()
    (tmp_path / "other").write_bytes(Path("/bin/true").read_bytes())
    (tmp_path / "other").chmod(0o755)
    done = tidemark("profile", tmp_path / "other", cwd=tmp_path)
    assert done.returncode == 2
    assert "does not use libtidemark.so" in done.stderr


@pytest.mark.skipif(not (BUILD / "example_server").exists(), reason="needs the example")
def test_the_embedded_server_answers(tmp_path):
    server = subprocess.Popen(
        [BUILD / "example_server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(re.search(r"port (\d+)", server.stdout.readline())[1])
        address = f"http://localhost:{port}/v1/models/scores:predict"

        def ask(body):
            with urllib.request.urlopen(address, json.dumps(body).encode(), timeout=30) as answer:
                return json.load(answer)

        rows = ask({"instances": [[1, 2, 3, 4], [4, 3, 2, 1]]})["predictions"]
        assert [round(sum(row), 5) for row in rows] == [1.0, 1.0]
        for count in (1, 2):
            said = ask({"signature_name": "counted", "inputs": {"x": [[1, 2, 3, 4]]}})["outputs"]
            assert said["calls"] == count
            assert said["scores"][0] == pytest.approx(rows[0], abs=1e-6)
        assert "2 counted calls" in server.communicate("\n", timeout=30)[0]
        assert server.returncode == 0
    finally:
        server.kill()


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")
def test_a_model_of_keras_is_fine_tuned(tmp_path):
    keras = tf.keras
    model = keras.Sequential([
        keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.Flatten(name="flat"), keras.layers.Dense(10),
    ])  # fmt: skip
    model.save(tmp_path / "base.keras")
    done = subprocess.run(
        [BUILD / "example_fine_tune", "base.keras", "flat"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = tf.saved_model.load(str(tmp_path / "fine_tuned/1")).signatures["serving_default"]
    assert run(pictures=tf.zeros((3, 8, 8, 1)))["output_0"].shape == (3, 2)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_build_without_tests_is_configured_where_clang_is_there(tmp_path):
    # As pip builds it. Any file stands for the library that clang names.
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\necho /bin/sh\n")
    clang.chmod(0o755)
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True
    ).stdout.strip()
    done = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path / "build", "-D", "TIDEMARK_TESTS=OFF",
         "-D", f"TIDEMARK_CLANG={clang}", "-D", f"Python_EXECUTABLE={sys.executable}",
         "-D", f"nanobind_DIR={nanobind}"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "without fuzz_guided" in done.stdout


CMAKE_AND_NINJA = shutil.which("cmake") and shutil.which("ninja")


@pytest.mark.skipif(not CMAKE_AND_NINJA, reason="needs cmake and ninja")
def test_the_project_can_be_a_part_of_another(tmp_path):
    page = (ROOT / "docs" / "cpp.md").read_text()
    snippet = re.search(r"```cmake\n(include\(FetchContent\)\n.*?)```", page, re.DOTALL)[1]
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(Mine LANGUAGES CXX)\n"
        "add_executable(my_program my_program.cpp)\nadd_executable(one_file my_program.cpp)\n"
        + snippet.replace("/where/tidemark/is", str(ROOT))
        + "target_link_libraries(one_file PRIVATE Tidemark::static)\n"
    )
    (tmp_path / "my_program.cpp").write_text((ROOT / "examples" / "first.cpp").read_text())
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja"]
    done = subprocess.run(configure, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # What would run, without running it: all that these need, and no test of the library's.
    steps = subprocess.run(
        ["ninja", "-C", tmp_path / "build", "-t", "commands", "my_program", "one_file"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert steps.returncode == 0, steps.stderr
    links = [line for line in steps.stdout.splitlines() if re.search(" -o (my_|one_)", line)]
    assert "libtidemark.so" in links[0] and "libtidemark_registering.a" in links[1]
    assert "_test.cpp" not in steps.stdout
