"""The main job: trains on Fashion-MNIST, runs the gallery, and writes a report of both.

    python examples/fashion_mnist/run.py [--report FILE] [--images N] [--epochs N] [PROGRAM...]

It is what `./dev run` does. The exit status is 1 when a program of the gallery fails or grows.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

import page
import train

GALLERY = Path(__file__).resolve().parents[1] / "gallery" / "run.py"


def gallery():
    """The gallery's runner, a script next door, as a module."""
    spec = importlib.util.spec_from_file_location("gallery", GALLERY)
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--report", type=Path, default=Path("tidemark-report.html"))
    parser.add_argument("--images", type=int, help="train on so many pictures instead of 60,000")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("programs", nargs="*", type=Path, help="instead of the whole gallery")
    arguments = parser.parse_args()
    print("A convolutional classifier learns Fashion-MNIST\n", flush=True)
    trained = train.train(arguments.images, arguments.epochs)
    print(f"test accuracy {trained.accuracy:.2%}, {trained.images_a_second:.0f} pictures a second")
    print("\nPrograms written for TensorFlow, on Tidemark\n", flush=True)
    runner = gallery()
    results = runner.measure_all(arguments.programs)
    print(runner.table(results))
    for failed in (r for r in results if r.status != 0):
        print(f"\n{failed.name}:\n{failed.output[-2000:]}")
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_text(page.page(trained, results), encoding="utf-8")
    print(f"\nReport: {arguments.report.resolve()}")
    return 0 if all(r.status == 0 and r.verdict != "grows" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
