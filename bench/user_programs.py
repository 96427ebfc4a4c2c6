"""Programs of C++ users: compiled as they would compile them, and watched from outside."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path

from peers import PROJECT

BUILD = PROJECT / "build"
FASHION = Path(os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist"))
INCLUDES = [f"-I{PROJECT / 'include'}", f"-I{BUILD / 'include'}"]
COMPILER = os.environ.get("CXX", "c++")
RELEASE = ["-std=c++20", "-O2"]


def watched(command, **options):
    """(standard output, seconds, peak resident MiB) of a program that must end well."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=errors, **options)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {errors.read()}")
        return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def built(source, *options):
    """The program of a source, compiled where it was not yet, with these options."""
    text = Path(source).read_bytes() + " ".join(map(str, options)).encode()
    program = (
        BUILD / "bench_programs" / f"{Path(source).stem}-{hashlib.sha256(text).hexdigest()[:12]}"
    )
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        half = program.with_suffix(f".{os.getpid()}")
        done = subprocess.run(
            [COMPILER, *RELEASE, str(source), *options, "-o", str(half)],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"compiling {source} failed: {done.stderr[-2000:]}")
        half.replace(program)
    return program


def with_libtorch(source):
    """A program over the libtorch of torch's wheel in this Python, for CPUs."""
    torch = Path(importlib.util.find_spec("torch").submodule_search_locations[0])
    # Wheels for GPUs have their libraries beside them; a program of the CPU's needs them to start.
    folders = [torch / "lib", *sorted(torch.parent.glob("nvidia/*/lib"))]
    return built(
        source,
        *[f"-isystem{torch / 'include' / part}" for part in ("", "torch/csrc/api/include")],
        *[f"-L{folder}" for folder in folders],
        *[f"-Wl,-rpath,{folder}" for folder in folders],
        "-lc10", "-Wl,--no-as-needed", "-ltorch_cpu",
    )  # fmt: skip


def unpacked_fashion_mnist(folder):
    """The four files of Fashion-MNIST as they are inside of their .gz."""
    for path in FASHION.glob("*.gz"):
        (Path(folder) / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
