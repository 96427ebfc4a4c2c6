"""``tidemark doctor --fix``: the changes that the findings ask for, and what they brought on a
copy."""

from __future__ import annotations

import textwrap

from tidemark.cli import files


def fix(program, found, is_to_write):
    """Shows, tries and, if it is to, writes them."""
    from tidemark._explain import trying  # only --fix needs it

    print(f"\n--- changes, tried on a copy {'-' * 51}")
    if not any(finding.changes for finding in found):
        print("There is no change that could be made by itself; the advice stands above."
              if found else "There is nothing to change.")  # fmt: skip
        return
    trials = trying.try_all(program, found, trying.run(program))
    for number, trial in enumerate(trials.tried, 1):
        told = f"{number}. [{trial.rule}] {trial.place}: {_verdict(trial)}"
        print("", *textwrap.wrap(told, 80, subsequent_indent="   "), sep="\n")
        if trial.diff:
            print(trial.diff.rstrip())
    if not trials.texts:
        return
    if not is_to_write:
        print("\nNothing was written. --write writes what helped.")
        return
    for file, text in trials.texts.items():
        files.write(file, text)
        print(f"\nwritten: {file}")


def _verdict(trial):
    from tidemark._explain.source import bytes_text  # only --fix needs it

    if not trial.diff:
        return "no change was tried"
    if trial.output == "failed":
        return "did not help: the changed copy failed"
    if not trial.is_gone:
        return "did not help" + (
            f": {bytes_text(trial.after)} a step, {bytes_text(trial.before)} before"
            if trial.before >= 1
            else ""
        )
    cost = f"{bytes_text(trial.before)} a step before, none now" if trial.before >= 1 else "gone"
    growth = f"growth gone ({cost})" if trial.before >= 1 else "gone"
    output = {"same": "same output", "differs": "but the output differs: not to be written",
              "varies anyway": "the output varies from run to run anyway"}  # fmt: skip
    return f"{growth}, {output[trial.output]}"
