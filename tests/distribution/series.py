"""Faults at random moments: series.py KIND COUNT [FIRST_SEED], for kill, stop, cut or slow.

Workers train; at a random moment something happens to one of them. The others have to end in time
by an error that names it, or to finish; started again, all have to get where a training without a
fault gets, to the bit. `cut` needs root: its workers are hosts in network namespaces.
"""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import network

TRAINING = Path(__file__).with_name("training.py")
STEPS, WORKERS, SILENCE, JOIN = 60, 3, 3, 6
# From the fault to the end of all others: until the silence is noticed, until joining is given up,
# and what a busy machine takes.
PATIENCE = SILENCE + JOIN + 30
KINDS = ("kill", "stop", "cut", "slow")


class Fault(Exception):
    """What must not happen, did."""


class Local:
    """Workers on this host."""

    def addresses(self, count):
        with contextlib.ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(count)]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]

    def start(self, host, command, **options):
        return subprocess.Popen(command, **options)


class Hosts:
    """Workers on hosts of a network."""

    def __init__(self, net):
        self.net = net

    def addresses(self, count):
        return [f"{self.net.address(host)}:2222" for host in range(count)]

    def start(self, host, command, **options):
        return self.net.start(host, command, **options)


def environment(workers, rank, **more):
    config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TIDEMARK_PLAN")}
    return {
        **kept,
        "TF_CONFIG": json.dumps(config),
        "TIDEMARK_SECRET": "of this series of faults alone",
        "TIDEMARK_NUM_THREADS": "1",
        "TIDEMARK_SILENCE_SECONDS": str(SILENCE),
        "TIDEMARK_JOIN_SECONDS": str(JOIN),
        "PYTHONPATH": os.pathsep.join(sys.path),
        **more,
    }


def start(place, folder, count=WORKERS, steps=STEPS, **more):
    workers = place.addresses(count)
    pipe = subprocess.PIPE
    return [
        place.start(
            rank,
            [sys.executable, str(TRAINING), str(folder), str(steps)],
            env=environment(workers, rank, **more),
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        for rank in range(count)
    ]


def end(processes, patience=PATIENCE):
    """(exit status, what it found or None, standard error) of each; Fault where one hangs."""
    until, found = time.monotonic() + patience, []
    try:
        for rank, process in enumerate(processes):
            try:
                left = max(0.1, until - time.monotonic())
                out, errors = process.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                raise Fault(f"worker {rank} hangs {patience} s after the fault") from None
            lines = out.strip().splitlines()
            is_answer = process.returncode == 0 and lines
            found.append((process.returncode, json.loads(lines[-1]) if is_answer else None, errors))
        return found
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def undisturbed(folder, count=WORKERS, steps=STEPS):
    found = end(start(Local(), folder, count, steps), patience=300)
    for status, _, errors in found:
        if status:
            raise Fault(f"without any fault: {errors[-2000:]}")
    digests = {answer["digest"] for _, answer, _ in found}
    if len(digests) != 1:
        raise Fault(f"without any fault the workers differ: {digests}")
    return digests.pop()


def strike(kind, process, random_, net, victim):
    """Does it. The victim goes on only where it was slow."""
    if kind == "kill":
        process.kill()
    elif kind == "stop":
        process.send_signal(signal.SIGSTOP)
    elif kind == "cut":
        net.cut_off.add(victim)
    else:
        for _ in range(random_.randint(1, 20)):
            process.send_signal(signal.SIGSTOP)
            time.sleep(random_.uniform(0.01, 0.1))
            process.send_signal(signal.SIGCONT)
            time.sleep(random_.uniform(0.0, 0.05))


def check_told(kind, rank, victim, status, errors):
    """A worker that did not finish was told why, and of whom."""
    if "UnavailableError" not in errors:
        raise Fault(f"worker {rank} ended with {status}: {errors[-1500:]}")
    if kind != "slow" and f"worker {victim}" not in errors and rank != victim:
        raise Fault(f"worker {rank} was not told of worker {victim}: {errors[-1500:]}")


def one(kind, seed, expected, usual_seconds):
    """One fault; the seconds until all others had ended."""
    random_ = random.Random(f"{kind} {seed}")
    victim = random_.randrange(WORKERS)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        net = stack.enter_context(network.Network(WORKERS)) if kind == "cut" else None
        place = Hosts(net) if net else Local()
        processes = start(place, folder)
        time.sleep(random_.uniform(0.0, usual_seconds))
        began = time.monotonic()
        strike(kind, processes[victim], random_, net, victim)
        others = [
            p for rank, p in enumerate(processes) if rank != victim or kind in ("cut", "slow")
        ]
        try:
            answers = end(others)
        finally:
            processes[victim].kill()
            processes[victim].communicate()
        seconds = time.monotonic() - began
        ranks = [r for r in range(WORKERS) if r != victim or kind in ("cut", "slow")]
        for rank, (status, answer, errors) in zip(ranks, answers, strict=True):
            if status:
                check_told(kind, rank, victim, status, errors)
            elif answer["digest"] != expected:
                raise Fault(f"worker {rank} finished with another result")
        if net:
            net.cut_off.clear()
        resume(place, folder, expected)
        return seconds


def resume(place, folder, expected):
    # With more time: on a busy machine a worker may be silent for a while without a fault.
    more = {"TIDEMARK_SILENCE_SECONDS": "60", "TIDEMARK_JOIN_SECONDS": "60"}
    for rank, (status, answer, errors) in enumerate(end(start(place, folder, **more), 120)):
        if status:
            raise Fault(f"started again, worker {rank} ended with {status}: {errors[-1500:]}")
        if answer["digest"] != expected:
            raise Fault(f"started again, worker {rank} got another result")


def run(kind, seeds):
    """Seconds until the others had ended, by seed; raises Fault with the seed in it."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        expected = undisturbed(folder)
        usual = time.monotonic() - began
    found = []
    for seed in seeds:
        try:
            found.append(one(kind, seed, expected, usual))
        except Fault as fault:
            raise Fault(f"{kind}, seed {seed}: {fault}") from None
    return found


def main(kind, count, first=1):
    for seed in range(int(first), int(first) + int(count), 10):
        seeds = range(seed, min(seed + 10, int(first) + int(count)))
        found = run(kind, seeds)
        mean = sum(found) / len(found)
        print(f"{kind}, seeds {seeds[0]} to {seeds[-1]}: all resumed; the others had ended after "
              f"{mean:.1f} s, {max(found):.1f} at most", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
