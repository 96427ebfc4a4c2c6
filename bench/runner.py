"""Runs cases: each subject in its own process, taking turns, the best of several rounds."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import peers
from case import Case, InCpp, Script, Subject
from worker import load_case

BENCH = Path(__file__).resolve().parent
# Extra rounds for a case with a missed bar: a busy machine is the commonest reason of a miss,
# and a real one stays.
EXTRA_ROUNDS = 3
PROCESS_TIMEOUT_S = 600
# Meant for the harness; Tidemark would report them as settings it does not know.
OWN_VARIABLES = ("TIDEMARK_PEER_", "TIDEMARK_BENCH_")


@dataclass
class Measured:
    """The figures of a case so far, and why a subject has none."""

    values: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class SubjectFailed(Exception):
    pass


def find_cases(wanted: list[str]) -> dict[str, Case]:
    """All cases, or the named ones; a name may be the beginning of several."""
    paths = {path.stem: path for path in sorted((BENCH / "cases").glob("*.py"))}
    names = [name for name in paths if not wanted or any(name.startswith(w) for w in wanted)]
    unknown = [w for w in wanted if not any(name.startswith(w) for name in paths)]
    if unknown:
        raise SystemExit(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(paths)}")
    return {name: load_case(paths[name]) for name in names}


def cpp_program(given: str | None) -> Path:
    """The newest bench_cpp under build directories, unless one is named."""
    if given:
        return Path(given)
    found = [
        p
        for p in peers.PROJECT.glob("build*/**/bench_cpp")
        if os.access(p, os.X_OK) and p.is_file()
    ]
    if not found:
        raise SubjectFailed(
            "bench_cpp is not built (cmake --build <release build> --target bench_cpp)"
        )
    return max(found, key=lambda p: p.stat().st_mtime)


class Runner:
    def __init__(
        self, quick: bool, rounds: int | None, cpp: str | None, note: Callable[[str], None]
    ):
        self.quick = quick
        self.rounds = rounds
        self.cpp = cpp
        self.note = note

    def measure(self, name: str, case: Case, missed: Callable[[Measured], bool]) -> Measured:
        measured = Measured()
        rounds = self.rounds or (1 if self.quick else case.rounds)
        done = 0
        while done < rounds:
            done += 1
            for subject in case.subjects:
                if subject.name in measured.failures or done > self._rounds_of(subject, rounds):
                    continue
                self.note(f"{name}: {subject.name}, round {done} of {rounds}")
                self._measure_once(name, case, subject, measured)
            if done == rounds and self._may_repeat(case, rounds) and missed(measured):
                rounds += EXTRA_ROUNDS
        return measured

    def _rounds_of(self, subject: Subject, rounds: int) -> int:
        return min(rounds, subject.rounds) if subject.rounds else rounds

    def _may_repeat(self, case: Case, rounds: int) -> bool:
        # Where the largest value counts, more rounds cannot help.
        return not (self.quick or self.rounds or case.worst_of) and rounds == case.rounds

    def _measure_once(self, name: str, case: Case, subject: Subject, measured: Measured) -> None:
        try:
            values = self._run(self._command(name, subject), dict(subject.variables))
        except (SubjectFailed, peers.Unavailable) as failure:
            measured.failures[subject.name] = str(failure)
            return
        for key, value in values.items():
            full = f"{subject.name}.{key}"
            choose = max if full in case.worst_of else min
            measured.values[full] = choose(value, measured.values.get(full, value))

    def _command(self, case_name: str, subject: Subject) -> list[str]:
        flags = ["--quick"] if self.quick else []
        if isinstance(subject, InCpp):
            return [str(cpp_program(self.cpp)), subject.benchmark, *flags]
        python = str(peers.ensure(subject.where, self.note))
        if isinstance(subject, Script):
            return [python, "-c", subject.source]
        return [python, str(BENCH / "worker.py"), case_name, subject.name, *flags]

    def _run(self, command: list[str], variables: dict[str, str]) -> dict[str, float]:
        # TensorFlow says much at its start; from "/" no script finds modules of ours by accident.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
        environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", **variables}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env=environment,
                timeout=PROCESS_TIMEOUT_S,
                cwd="/",
            )
        except subprocess.TimeoutExpired:
            raise SubjectFailed(f"took over {PROCESS_TIMEOUT_S} s") from None
        except OSError as error:
            raise SubjectFailed(str(error)) from None
        if done.returncode:
            raise SubjectFailed(failure_text(done))
        return json.loads(done.stdout.strip().splitlines()[-1])


def failure_text(done: subprocess.CompletedProcess) -> str:
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    line = peers.last_line(done.stderr)
    if "ModuleNotFoundError" in line:
        return line.split(":", 1)[-1].strip()
    return line
