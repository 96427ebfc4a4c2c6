"""Programs against the public headers: the tour in docs/cpp.md runs, and memory is listed under the
program's own places, never under a line of the library."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
COMPILER = shutil.which("c++")
pytestmark = pytest.mark.skipif(
    COMPILER is None or not (BUILD / "libtidemark.so").exists(),
    reason="needs a C++ compiler and the build folder",
)


def run_program(folder, source, *options):
    path = folder / "program.cpp"
    path.write_text(source)
    subprocess.run(
        [COMPILER, "-std=c++20", *options, f"-I{ROOT / 'include'}", f"-I{BUILD / 'include'}", path,
         "-o", folder / "program", f"-L{BUILD}", "-ltidemark", f"-Wl,-rpath,{BUILD}"],
        check=True, timeout=300,
    )  # fmt: skip
    done = subprocess.run([folder / "program"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_tour_runs(tmp_path):
    head, *parts = re.findall(
        r"```cpp\n(.*?)```", (ROOT / "docs" / "cpp.md").read_text(), re.DOTALL
    )
    said = run_program(tmp_path, head + "int main() {\n" + "".join(parts) + "}\n")
    assert "w is 3" in said
    assert "hidden.kernel  float32  (4, 32)  512 B" in said
    assert "plan of function: peak" in said
    assert float(re.search(r"accuracy ([0-9.]+)", said)[1]) > 0.9


def code_lines(path):
    lines = (line.strip() for line in (ROOT / "examples" / path).read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def test_examples_are_short():
    assert code_lines("fashion_mnist/train.cpp") <= 60
    assert code_lines("characters.cpp") < 80
    assert code_lines("classifier.cpp") < 80


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
    pattern = r"program\.cpp:\d+ in main" if "-g" in options else r"program(\+0x[0-9a-f]+| in main)"
    assert [p for p in places if not re.fullmatch(pattern, p)] == []
