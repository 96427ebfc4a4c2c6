"""Changes that the doctor advises, tried on a copy of the program: does the growth go, and is the
output the same? The program's own files are read, never written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

_MOST_RUNS = 12


@dataclass
class Outcome:
    """A run of a program: its findings, its output, its exit status."""

    answer: dict
    output: str
    status: int

    def rate(self, rule):
        """Bytes a step that the findings of a rule cost; 0 when there is none."""
        same = [f for f in self.answer["findings"] if f["rule"] == rule]
        return sum(f["bytes_per_step"] + f["overhead_per_step"] for f in same), len(same)


@dataclass
class Trial:
    """A finding, the change that was tried for it, and what came of it."""

    rule: str
    place: str
    diff: str = ""
    before: float = 0.0
    after: float = 0.0
    is_gone: bool = False
    output: str = ""  # "same", "differs", "varies anyway", "failed"
    file: str = ""

    @property
    def helped(self):
        return self.is_gone and self.output in ("same", "varies anyway")


@dataclass
class Trials:
    """All of them, and the texts of the files with the changes that helped."""

    program: list
    tried: list = field(default_factory=list)  # of Trial
    texts: dict = field(default_factory=dict)  # file → text
    runs: int = 0


def run(program, texts=None):
    """Runs a program under the doctor, with other texts for some of its files; an Outcome."""
    script = os.path.abspath(program[0])
    with tempfile.TemporaryDirectory(prefix="tidemark-fix-") as folder:
        answer = Path(folder) / "answer.json"
        environment = dict(os.environ)
        if texts:
            copies = Path(folder) / "copy"
            copies.mkdir()
            for file, text in {script: Path(script).read_text(), **texts}.items():
                (copies / os.path.basename(file)).write_text(text, encoding="utf-8")
            # What is not changed is found where it was.
            paths = [os.path.dirname(script), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
            script = str(copies / os.path.basename(script))
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", "doctor", "--output", str(answer), script,
             *program[1:]],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        if not answer.exists():
            return Outcome({"findings": []}, done.stderr, done.returncode or 1)
        return Outcome(json.loads(answer.read_text()), done.stdout, done.returncode)


def can_be_copied(file, program):
    """A file that stands in for its original when its copy comes first on the path: the script, or
    a module beside it."""
    return os.path.dirname(os.path.abspath(file)) == os.path.dirname(os.path.abspath(program[0]))


def try_all(program, findings, before):
    """Tries the changes of findings one after the other, each with those that helped before."""
    trials = Trials(program)
    for finding in findings:
        trial = Trial(finding.rule, f"{os.path.basename(finding.file)}:{finding.line}")
        trial.before, count = before.rate(finding.rule)
        for file, old, new in finding.changes:
            if trials.runs >= _MOST_RUNS or not can_be_copied(file, program):
                break
            if trials.texts.get(file, old) != old:
                break  # another change has moved its lines: the next call of the doctor finds it
            tried = _try(trials, before, trial, file, new, count)
            trial.diff, trial.file = _diff(file, old, new), file
            if tried:
                trials.texts[file] = new
                break
        trials.tried.append(trial)
    return trials


def _diff(file, old, new):
    from tidemark._explain import edits  # only a change needs it

    return edits.unified(file, old, new)


def _try(trials, before, trial, file, new, count):
    trials.runs += 1
    after = run(trials.program, {**trials.texts, file: new})
    trial.after, left = after.rate(trial.rule)
    trial.is_gone = left < count and trial.after < 0.05 * trial.before + 1
    if after.status != before.status:
        trial.output = "failed"
    elif after.output == before.output:
        trial.output = "same"
    else:
        trials.runs += 1
        again = run(trials.program)
        trial.output = "differs" if again.output == before.output else "varies anyway"
    return trial.helped
