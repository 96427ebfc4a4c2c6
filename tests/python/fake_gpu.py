"""Programs on a GPU that is none: tests/support/fake_gpu.cpp stands in for libtidemark_cuda.so."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark import _tidemark  # noqa: F401  (libtidemark.so is then mapped)

BUILD = Path(__file__).resolve().parents[2] / "build"


def library_folder():
    with open("/proc/self/maps") as maps:
        return Path(re.search(r"(/\S*)/libtidemark\.so", maps.read()).group(1)).resolve()


def make_libraries(folder):
    """The libraries of this build, but for CUDA's, of which there is a fake."""
    built = library_folder()
    # An installed package has none of its own: it was made of what build/ holds.
    fakes = [folder / "fake_gpu" / "libtidemark_cuda.so" for folder in (built, BUILD)]
    fake = next((path for path in fakes if path.exists()), None)
    if fake is None:
        pytest.skip("this build has no fake GPU")
    folder.mkdir()
    for library in built.glob("libtidemark*.so*"):
        if library.name != fake.name:
            (folder / library.name).symlink_to(library)
    (folder / fake.name).symlink_to(fake)
    return folder


def run(program, folder, **environment):
    """What a program printed that ran on the fake GPU; `folder` is kept between programs."""
    libraries = folder / "libraries"
    if not libraries.exists():
        make_libraries(libraries)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(libraries),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "OPENBLAS_NUM_THREADS": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
