"""The programs of the articles run to their end, unchanged; flat and fast.

They are read from the folder ARTICLE_PROGRAMS or from ../shared/seeds/examples beside the project.
Where neither is there, the programs of the same shape in examples/gallery stand for them. They
compute on the device that TIDEMARK_DEVICE names.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from this_device import IS_CPU

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
MIB = 1 << 20

# program → (seconds, peak in MiB over the import) it may take on an idle CPU; None: no bar.
BARS = {
    "000_1.py": (5, None),
    "001_1.py": (10, 20),
    "004_1.py": (60, 400),
    "004_2.py": (60, 400),
    "004_3.py": (60, 300),
}
LARGE = {"002_1.py"}  # two tensors of 4 GB
SLOW = {"004_1.py", "004_2.py", "004_3.py"}
# Programs of many rounds that keep nothing from one to the next.
ROUNDS = {
    "000_1.py", "000_3.py", "001_1.py", "001_2.py", "001_3.py", "003_1.py", "003_2.py", "003_3.py",
    "004_1.py", "004_2.py", "list_in_a_loop.py", "short_loop.py", "session_a_round.py",
    "eager_rounds.py", "variable_a_round.py", "noisy_layer.py", "returned_tensor.py",
    "shared_session.py",
}  # fmt: skip


def _seeds():
    folders = [os.environ.get("ARTICLE_PROGRAMS"), ROOT.parent / "shared/seeds/examples"]
    found = next((Path(f) for f in folders if f and Path(f).is_dir()), GALLERY)
    return [p for p in sorted(found.glob("*.py")) if p.name != "run.py"]


def _marked(program):
    slow = [pytest.mark.slow] if program.name in SLOW or program.name in LARGE else []
    return pytest.param(program, id=program.name, marks=slow)


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery_run", GALLERY / "run.py")
    module = sys.modules["gallery_run"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _free_bytes():
    with open("/proc/meminfo") as lines:
        found = next(line for line in lines if line.startswith("MemAvailable"))
    return int(found.split()[1]) * 1024


@pytest.mark.parametrize("program", [_marked(p) for p in _seeds()])
def test_runs_to_its_end(program, gallery):
    if "keras" in program.read_text() and not importlib.util.find_spec("keras"):
        pytest.skip("Keras is not installed")
    if program.name in LARGE and _free_bytes() < 12 << 30:
        pytest.skip("needs 12 GB of free memory")
    if os.environ.get("TIDEMARK_MEMORY_LIMIT") or os.environ.get("TIDEMARK_POISON"):
        pytest.skip("measures an ordinary process")
    seen = gallery.measure(program)
    assert seen.status == 0, seen.output[-2000:]
    seconds, peak = BARS.get(program.name, (None, None)) if IS_CPU else (None, None)
    if seconds is not None:
        assert seen.seconds < 3 * seconds  # the machine may be busy with other tests
    if peak is not None:
        assert seen.peak < peak * MIB
    if program.name in ROUNDS:
        assert seen.growth <= 1 * MIB, f"grew by {seen.growth} bytes"
        assert seen.device_growth <= 1 * MIB, f"grew by {seen.device_growth} bytes on the device"


def test_what_is_measured(gallery, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import time\nkept = []\nfor i in range(40):\n"
        "    kept.append(b'x' * (1 << 20))\n    time.sleep(0.02)\n"
    )
    seen = gallery.measure(program)
    assert seen.verdict == "grows" and 30 * MIB < seen.peak < 60 * MIB
    program.write_text("import sys\nsys.exit(3)\n")
    assert gallery.measure(program).verdict == "exit 3"
    assert "exit 3" in gallery.table([gallery.measure(program)])
    program.write_text("for i in range(3):\n    pass\nfor j in range(700):\n    k = j\n")
    seen = gallery.measure(program)
    assert seen.rounds == 700 and seen.status == 0, seen.output
    shown = gallery.table([seen])
    assert shown.splitlines()[0].split() == ["program", "rounds", "time", "peak", "growth",
                                             "verdict"]  # fmt: skip
