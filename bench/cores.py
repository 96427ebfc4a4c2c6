#!/usr/bin/env python3
"""Compiled steps and one picture by ResNet-50 on some of this machine's cores, beside the peers.

    python bench/cores.py                          # on 2 cores and on all
    python bench/cores.py --cores 2 16 --models mlp cnn --libraries tidemark torch jax

Each library takes its own number of threads from the cores that its process may run on. A row is
a model on so many cores: milliseconds (the best of some series) of each library, then ours over
the best of theirs; below, how much faster each library is on the most cores than on the fewest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import peers

MODELS = ("mlp", "cnn", "gpt", "resnet", "picture")
LIBRARIES = ("tidemark", "torch", "torch compile", "jax", "tf")
HERE = Path(__file__).resolve().parent


def maker(library, model):
    """A function that takes one step of the model, or looks at one picture."""
    if library in ("tidemark", "tf"):
        import models

        tf = __import__("tidemark" if library == "tidemark" else "tensorflow")
        step = (
            models.compiled_picture(tf) if model == "picture" else models.compiled_step(tf, model)
        )
        return lambda: step().numpy()
    if library == "jax":
        import jax
        import jax_models

        is_picture = model == "picture"
        return jax_models.picture(jax) if is_picture else jax_models.training_step(jax, model)
    import torch
    import torch_models

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    compiled = library == "torch compile"
    if model == "picture":
        return torch_models.picture(torch, compiled)
    return torch_models.training_step(torch, model, compiled)


def measure(library, model):
    from timing import best_ns

    step = maker(library, model)
    step()
    slow = model == "resnet"
    return best_ns(step, calls=1 if slow else 5, repeats=4 if slow else 8) / 1e6


def measured(library, model, cores, seconds):
    """Milliseconds of one step in a process of its own on the first cores; None: not to be had."""
    try:
        python = peers.existing("torch" if library.startswith("torch") else library)
    except peers.Unavailable:
        python = None
    if python is None:
        return None
    command = ["taskset", "-c", f"0-{cores - 1}", python, __file__, "--one", library, model]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    try:
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=seconds,
            env=environment, cwd=HERE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        print(f"{library}, {model}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def row(name, cores, found):
    theirs = [ms for library, ms in found.items() if library != "tidemark" and ms]
    ours = found.get("tidemark")
    ratio = f"{ours / min(theirs):9.2f}" if ours and theirs else f"{'-':>9}"
    cells = "".join(f"{ms:15.2f}" if ms else f"{'-':>15}" for ms in found.values())
    return f"{name:<8} {cores:>5}{cells}{ratio}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, nargs="*", default=[2, os.cpu_count()])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--libraries", nargs="*", default=list(LIBRARIES), choices=LIBRARIES)
    parser.add_argument("--seconds", type=float, default=240, help="for one figure at most")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(*args.one)))
        return
    head = "".join(f"{library:>15}" for library in args.libraries)
    print(f"{'model':<8} {'cores':>5}{head}{'ratio':>9}")
    everything = {}
    for model in args.models:
        for cores in sorted(set(args.cores)):
            found = {one: measured(one, model, cores, args.seconds) for one in args.libraries}
            everything[model, cores] = found
            print(row(model, cores, found), flush=True)
    few, many = min(args.cores), max(args.cores)
    for model in args.models if few != many else ():
        pairs = [(everything[model, few][x], everything[model, many][x]) for x in args.libraries]
        cells = "".join(f"{a / b:15.2f}" if a and b else f"{'-':>15}" for a, b in pairs)
        print(f"{model:<8} {'speed':>5}{cells}")


if __name__ == "__main__":
    main()
