"""`tidemark plan --csv`: packs, draws, and refuses bad files with the line and status 2."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tidemark.cli import plan_page

from tidemark import _tidemark, cli, errors

DATA = Path(__file__).resolve().parents[2] / "bench" / "data" / "planner"
HEADER = "id,lower,upper,size\n"


def run(*arguments, stdin=""):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", *arguments], input=stdin, capture_output=True, text=True
    )


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text(HEADER + "a,0,2,400\nb<i>,1,3,200\nc,2,4,400\n")
    return path


@pytest.mark.parametrize("name, peak", [("B", 1048576), ("C", 1039360), ("K", 1048576)])
def test_hard_instances_are_packed_to_their_lower_bound(name, peak, capsys):
    assert cli.main(["plan", "--csv", str(DATA / f"{name}.csv"), "--seconds", "60"]) == 0
    line = capsys.readouterr().out
    assert re.fullmatch(rf"peak={peak} lower_bound={peak} seconds=[0-9.]+\n", line)


def test_the_program_prints_one_line(small):
    done = run("plan", "--csv", str(small))
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"peak=600 lower_bound=600 seconds=\d+\.\d+\n", done.stdout)
    assert run("plan", "--csv", "-", stdin=small.read_text()).stdout.startswith("peak=600 ")


def test_offsets_are_written(small, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert cli.main(["plan", "--csv", str(small), "--out", str(out)]) == 0
    rows = [line.split(",") for line in out.read_text().splitlines()]
    assert rows[0] == ["id", "lower", "upper", "size", "offset"]
    assert {row[0]: int(row[4]) for row in rows[1:]} in (
        {"a": 0, "b<i>": 400, "c": 0},
        {"a": 200, "b<i>": 0, "c": 200},
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "line 0: the file has no header"),
        ("id,lower,upper\n", 'line 1: the header lacks the column "size"'),
        (HEADER + "a,0,1,5\nb,0,x,5\n", 'line 3: upper is "x"; it must be a whole number'),
        (HEADER + "\n\na,5,5,5\n", "line 4: lower is 5 and upper 5"),
        (HEADER + "a,0,1,99999999999999999999\n", "line 2: size is"),
        (HEADER + "a,0,1,9223372036854775807\n", "add up to more than"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(text, message, tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert cli.main(["plan", "--csv", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"tidemark plan: {path}: ")
    assert message in captured.err


def test_other_mistakes_have_status_2(tmp_path, capsys, small):
    assert cli.main([]) == 2
    assert cli.main(["paln"]) == 2
    assert "there is no command 'paln'" in capsys.readouterr().err
    assert cli.main(["plan", "--csv", str(tmp_path / "nowhere.csv")]) == 2
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "latin.csv").write_bytes(HEADER.encode() + b"a,0,1,5\n\xff,0,1,5\n")
    assert cli.main(["plan", "--csv", str(tmp_path / "latin.csv")]) == 2
    assert "line 3: this is no UTF-8 text" in capsys.readouterr().err
    assert cli.main(["plan", "--csv", str(small), "--html", str(tmp_path / "no" / "x.html")]) == 2
    for seconds in ("-1", "nan", "soon"):
        with pytest.raises(SystemExit, match="2"):
            cli.main(["plan", "--csv", str(small), "--seconds", seconds])


def test_help_lists_the_commands(capsys):
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in cli.COMMANDS)


def test_the_page_stands_alone_and_shows_every_buffer(small, tmp_path, capsys):
    path = tmp_path / "plan.html"
    assert cli.main(["plan", "--csv", str(small), "--html", str(path)]) == 0
    page = path.read_text()
    assert page.count("<rect ") == 3
    assert "b&lt;i&gt;" in page and "b<i>" not in page
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(src|href)=|https?://|url\(|@import", page)


def test_the_page_holds_thousands_of_buffers():
    rows = "".join(f"{i},{i},{i + 10},{64 + i % 7}\n" for i in range(5000))
    plan = _tidemark.pack_buffers(HEADER + rows, seconds=0.0)
    page = plan_page.page("many", plan)
    assert page.count("<rect ") == 5000
    assert len(page) < 2_000_000


def test_the_page_of_nothing():
    assert "<svg" in plan_page.page("nothing", _tidemark.pack_buffers(HEADER, seconds=0.0))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="id,lowerupsze\n\r -0123456789\"'\x00é", max_size=80), st.booleans())
def test_any_text_gives_a_plan_or_a_typed_error(text, with_header):
    try:
        plan = _tidemark.pack_buffers(HEADER * with_header + text, seconds=0.0)
    except errors.InvalidArgumentError:
        return
    assert plan["peak"] >= plan["lower_bound"] >= 0
