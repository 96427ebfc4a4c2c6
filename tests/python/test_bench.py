"""The benchmark harness: what it calls a reached bar, and how it picks the figures."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import peers  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
from case import Case, Row, Script  # noqa: E402

RATIO_ROW = Row("add", "tidemark.add", ("torch.add", "torch.add_out"), at_most_ratio=0.5, unit="ns")


def judged(row, **values):
    measured = runner.Measured({name.replace("__", "."): v for name, v in values.items()})
    return report.judge_row("case", row, measured)


def test_a_ratio_counts_against_the_best_peer():
    verdict = judged(RATIO_ROW, tidemark__add=10.0, torch__add=40.0, torch__add_out=16.0)
    assert verdict.ratio == 10.0 / 16.0
    assert verdict.state == report.MISSED
    assert judged(RATIO_ROW, tidemark__add=8.0, torch__add_out=16.0).state == report.OK


def test_a_missing_side_is_no_figure_and_says_why():
    measured = runner.Measured({"torch.add": 1.0}, {"tidemark": "No module named 'tidemark'"})
    verdict = report.judge_row("case", RATIO_ROW, measured)
    assert verdict.state == report.NO_FIGURE
    assert verdict.why == "tidemark: No module named 'tidemark'"


def test_an_absolute_bar_and_a_row_without_bar():
    assert judged(Row("t", "a.t", at_most=100, unit="ns"), a__t=100.0).state == report.OK
    assert judged(Row("t", "a.t", at_most=100, unit="ns"), a__t=100.1).state == report.MISSED
    assert judged(Row("t", "a.t", unit="ns"), a__t=1.0).state == report.INFO


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.34, "ns", "12.3 ns"),
        (1234567, "ns", "1.23 ms"),
        (480.4, "MiB", "480 MiB"),
        (0.5, "", "0.5"),
    ],
)
def test_figures_are_short(value, unit, text):
    assert report.figure(value, unit) == text


def test_the_table_of_all_cases_fits_a_terminal():
    verdicts = []
    for name, case in runner.find_cases([]).items():
        figures = {}
        for row in case.rows:
            figures |= dict.fromkeys(
                (row.value, *row.peers), 987654321.0 if row.unit == "ns" else 123.4
            )
        verdicts += report.judge(name, case, runner.Measured(figures))
    assert verdicts
    assert max(map(len, report.table(verdicts).splitlines())) <= 90


def test_every_row_names_a_subject_of_its_case():
    for case in runner.find_cases([]).values():
        subjects = {subject.name for subject in case.subjects}
        for row in case.rows:
            assert {name.split(".")[0] for name in (row.value, *row.peers)} <= subjects


def measure(case, missed=lambda measured: False):
    notes = []
    run = runner.Runner(quick=False, rounds=None, cpp=None, note=notes.append)
    return run.measure("case", case, missed), notes


def counting_script(path):
    """Prints 3, 2, 1, … one a run."""
    return f"""
from pathlib import Path
runs = Path({str(path)!r})
n = int(runs.read_text()) if runs.exists() else 3
runs.write_text(str(n - 1))
print('{{"best": %d, "worst": %d}}' % (n, n))
"""


def test_rounds_keep_the_best_or_the_worst(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_BENCH_PYTHON", sys.executable)
    case = Case(
        about="",
        subjects=[Script("tidemark", counting_script(tmp_path / "runs"))],
        rows=[],
        rounds=2,
        worst_of=frozenset({"tidemark.worst"}),
    )
    measured, notes = measure(case)
    assert measured.values == {"tidemark.best": 2.0, "tidemark.worst": 3.0}
    assert len(notes) == 2


def test_a_missed_case_gets_more_rounds(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_BENCH_PYTHON", sys.executable)
    subjects = [Script("tidemark", counting_script(tmp_path / "runs"))]
    measured, notes = measure(Case("", subjects, [], rounds=1), missed=lambda measured: True)
    assert len(notes) == 1 + runner.EXTRA_ROUNDS
    assert measured.values["tidemark.best"] == 0.0


def test_a_failing_subject_is_run_once_and_told(monkeypatch):
    monkeypatch.setenv("TIDEMARK_BENCH_PYTHON", sys.executable)
    case = Case("", [Script("tidemark", "import a_module_nobody_has")], [], rounds=3)
    measured, notes = measure(case)
    assert measured.failures == {"tidemark": "No module named 'a_module_nobody_has'"}
    assert len(notes) == 1


def test_a_named_peer_that_is_no_program_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("TIDEMARK_PEER_TORCH", str(tmp_path / "nothing"))
    with pytest.raises(peers.Unavailable, match="TIDEMARK_PEER_TORCH"):
        peers.existing("torch")
